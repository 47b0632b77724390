//! The modern era through the gateway to a server that needs nothing: what passes, and what is checked on the way.

mod listen;
mod messages;
mod metadata;
mod rounds;
mod streams;

/// JSON that careless handling changes: number text, key order, escapes, blanks, unknown members, long strings.
pub fn odd(more: &str) -> String {
    let long = "长".repeat(20_000);
    format!(
        r#"{{"z":9007199254740993 , "a":[1e999,-0.0,1E+2,0.10,18446744073709551616],"é":"😀\u00e9\ud83d\ude00\/\u2028","A\u0041":null,"":{{"z":1,"y":2}},"long":"{long}"{more}}}"#
    )
}
