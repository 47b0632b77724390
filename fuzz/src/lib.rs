//! What the fuzz targets run; each has a binary in `fuzz_targets`.

pub mod elicit;
pub mod mcp;
pub mod service;
