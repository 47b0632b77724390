//! JSON-RPC error codes of JSON-RPC 2.0 and of MCP.

/// The message is not JSON (JSON-RPC 2.0).
pub const PARSE_ERROR: i64 = -32700;
/// The message is no request (JSON-RPC 2.0).
pub const INVALID_REQUEST: i64 = -32600;
/// The method does not exist (JSON-RPC 2.0).
pub const METHOD_NOT_FOUND: i64 = -32601;
/// The parameters do not fit the method (JSON-RPC 2.0).
pub const INVALID_PARAMS: i64 = -32602;
/// Something failed on the answering side (JSON-RPC 2.0).
pub const INTERNAL_ERROR: i64 = -32603;
/// A url elicitation has to complete first: 2025-11-25 only (R-ERR-01).
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
/// An HTTP header contradicts the body: 2026-07-28.
pub const HEADER_MISMATCH: i64 = -32020;
/// The client did not declare a capability that the request needs: 2026-07-28 (R-CAP-05).
pub const MISSING_REQUIRED_CLIENT_CAPABILITY: i64 = -32021;
/// The protocol revision is not one of ours: 2026-07-28.
pub const UNSUPPORTED_PROTOCOL_VERSION: i64 = -32022;
