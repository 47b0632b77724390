//! Look-up keys: one short column in place of several long ones.

use aws_lc_rs::digest::{Context, SHA256};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use elicit::{Principal, UserId};

/// SHA-256 over the parts, each with its length in front, as base64url. The
/// lengths keep `("ab", "c")` apart from `("a", "bc")`.
pub(crate) fn key_of(parts: &[&str]) -> String {
    let mut context = Context::new(&SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part.as_bytes());
    }
    URL_SAFE_NO_PAD.encode(context.finish())
}

/// What the `user_key` columns hold.
pub(crate) fn user_key(user: &UserId) -> String {
    key_of(&[user.issuer(), user.subject()])
}

/// What the `client_key` columns hold: one client of one user.
pub(crate) fn client_key(principal: &Principal) -> String {
    let user = &principal.user;
    key_of(&[user.issuer(), user.subject(), principal.client.as_str()])
}

#[cfg(test)]
mod tests {
    use super::key_of;

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(key_of(&["ab", "c"]), key_of(&["a", "bc"]));
        assert_ne!(key_of(&["a", ""]), key_of(&["a"]));
    }
}
