//! relay_legacy.
