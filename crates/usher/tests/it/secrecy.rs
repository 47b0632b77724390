//! secrecy.
