//! stopping.
