//! relay_modern.
