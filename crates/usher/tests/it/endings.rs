//! endings.
