//! The top of the file, and `[listen]`.

use serde_json::{Value, json};

use super::{egress, identity, keys, limits, processes, provider, shapes, store, table, upstream};

pub(super) fn section() -> Value {
    let properties = json!({
        "public_url": {
            "type": "string",
            "description": "Where browsers and clients reach Usher: scheme, host and port, nothing else. Follows \
                            listen.address where only that is given.",
            "format": "uri",
            "pattern": "^[Hh][Tt][Tt][Pp][Ss]?://[^/?#]+/?$",
            "default": "http://127.0.0.1:8420",
        },
        "listen": listen(),
        "store": store::section(),
        "keys": keys::section(),
        "identity": identity::section(),
        "limits": limits::section(),
        "processes": processes::section(),
        "egress": egress::section(),
        "provider": shapes::tables(&provider::section(), 0),
        "upstream": shapes::tables(&upstream::section(), 1),
    });
    table("The configuration of the gateway.", &["upstream"], properties)
}

fn listen() -> Value {
    let properties = json!({
        "address": {
            "type": "string",
            "description": "IP address and port to listen on; loopback in identity mode local. Follows public_url where \
                            only that is given.",
            "pattern": "^(\\[[0-9A-Fa-f:.]+\\]|[0-9.]+):[0-9]{1,5}$",
            "default": "127.0.0.1:8420",
        },
    });
    table("The address the service listens on.", &[], properties)
}
