//! store_trouble.
