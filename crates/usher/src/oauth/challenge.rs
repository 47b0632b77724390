//! What a server says in `WWW-Authenticate` when it turns a request away (RFC 9110, section 11.6.1; RFC 6750, section 3;
//! RFC 9728, section 5.1).

use std::collections::BTreeSet;

use http::{HeaderMap, header};

use super::scope;

/// The most bytes of such headers that are read; what follows is not there.
const AT_MOST: usize = 8 * 1024;

/// The most parameters that are read, of all challenges together.
const PARAMETERS_AT_MOST: usize = 64;

/// What a server demands of a bearer token, as far as it is of use here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Challenge {
    /// Where the metadata of the resource are, as the server wrote it.
    pub resource_metadata: Option<String>,
    /// The scopes that the request needs; empty where none are named.
    pub scopes: BTreeSet<String>,
    /// The error code, such as `insufficient_scope`.
    pub error: Option<String>,
}

impl Challenge {
    /// The challenge of scheme Bearer in the headers of an answer: the one that names metadata, else the first. What is no
    /// challenge is skipped.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let mut first = None;
        let mut left = AT_MOST;
        for value in headers.get_all(header::WWW_AUTHENTICATE) {
            let bytes = value.as_bytes();
            let bytes = &bytes[..bytes.len().min(left)];
            left -= bytes.len();
            for challenge in read(bytes) {
                if challenge.resource_metadata.is_some() {
                    return Some(challenge);
                }
                first.get_or_insert(challenge);
            }
        }
        first
    }

    /// Whether the token is good, and only too narrow (RFC 6750, section 3.1).
    pub fn is_insufficient_scope(&self) -> bool {
        self.error.as_deref() == Some("insufficient_scope")
    }

    /// Takes in a parameter. One that stands twice counts as it stood first.
    fn add(&mut self, name: &[u8], value: Vec<u8>) {
        let Ok(value) = String::from_utf8(value) else { return };
        if name.eq_ignore_ascii_case(b"resource_metadata") {
            self.resource_metadata.get_or_insert(value);
        } else if name.eq_ignore_ascii_case(b"scope") && self.scopes.is_empty() {
            self.scopes = scope::read(&value);
        } else if name.eq_ignore_ascii_case(b"error") {
            self.error.get_or_insert(value);
        }
    }
}

/// The challenges of scheme Bearer in one header, which may hold several of any scheme.
fn read(bytes: &[u8]) -> Vec<Challenge> {
    let mut reader = Reader { rest: bytes };
    let mut found: Vec<Challenge> = Vec::new();
    // Whether the parameters that come next are of a challenge that counts.
    let mut counts = false;
    for _ in 0..PARAMETERS_AT_MOST {
        reader.skip(|byte| matches!(byte, b' ' | b'\t' | b','));
        let Some(word) = reader.word() else { break };
        if let Some(value) = reader.value() {
            if let Some(challenge) = found.last_mut().filter(|_| counts) {
                challenge.add(word, value);
            }
            continue;
        }
        // A word without a value begins a challenge.
        counts = word.eq_ignore_ascii_case(b"bearer");
        if counts {
            found.push(Challenge::default());
        } else {
            reader.token68();
        }
    }
    found
}

/// Walks through a header. Whatever stands there, each step goes forward or is the last.
struct Reader<'h> {
    rest: &'h [u8],
}

impl<'h> Reader<'h> {
    fn skip(&mut self, while_it_is: impl Fn(u8) -> bool) -> &'h [u8] {
        let end = self.rest.iter().position(|byte| !while_it_is(*byte)).unwrap_or(self.rest.len());
        let (skipped, rest) = self.rest.split_at(end);
        self.rest = rest;
        skipped
    }

    /// A token: a scheme, or the name of a parameter. `None` at the end, and before what is neither: nothing after that is
    /// known to be what it looks like.
    fn word(&mut self) -> Option<&'h [u8]> {
        let word = self.skip(is_token);
        (!word.is_empty()).then_some(word)
    }

    /// The value after `=`, if there is one. Spaces around it are not written, but read (RFC 9110, section 5.6.6).
    fn value(&mut self) -> Option<Vec<u8>> {
        let before = self.rest;
        self.skip(is_space);
        if !self.eat(b'=') || self.rest.first() == Some(&b'=') {
            self.rest = before;
            return None;
        }
        self.skip(is_space);
        if self.eat(b'"') {
            Some(self.quoted())
        } else {
            Some(self.skip(|byte| !matches!(byte, b',' | b' ' | b'\t')).to_vec())
        }
    }

    /// The rest of a quoted string. One that has no end is not used: it has swallowed whatever follows.
    fn quoted(&mut self) -> Vec<u8> {
        let mut text = Vec::new();
        while let Some((first, rest)) = self.rest.split_first() {
            self.rest = rest;
            match (*first, rest.split_first()) {
                (b'"', _) => return text,
                (b'\\', Some((escaped, rest))) => {
                    text.push(*escaped);
                    self.rest = rest;
                }
                (byte, _) => text.push(byte),
            }
        }
        Vec::new()
    }

    /// What a scheme may have in place of parameters, if it stands here: its padding is no parameter's `=`.
    fn token68(&mut self) {
        let before = self.rest;
        self.skip(is_space);
        let is_68 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~' | b'+' | b'/');
        let some = !self.skip(is_68).is_empty();
        self.skip(|byte| byte == b'=');
        self.skip(is_space);
        if !some || !matches!(self.rest.first(), None | Some(b',')) {
            self.rest = before;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let eaten = self.rest.first() == Some(&byte);
        if eaten {
            self.rest = &self.rest[1..];
        }
        eaten
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// RFC 9110, section 5.6.2.
fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn of(values: &[&str]) -> Option<Challenge> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        Challenge::of(&headers)
    }

    fn challenge(resource_metadata: Option<&str>, scopes: &[&str], error: Option<&str>) -> Challenge {
        Challenge {
            resource_metadata: resource_metadata.map(str::to_owned),
            scopes: scopes.iter().copied().map(str::to_owned).collect(),
            error: error.map(str::to_owned),
        }
    }

    const WHERE: Option<&str> = Some("https://mcp.example/.well-known/oauth-protected-resource");

    #[test]
    fn a_challenge_says_where_metadata_are_and_what_is_needed() {
        let whole = r#"Bearer error="insufficient_scope", scope="files:read files:write",
            resource_metadata="https://mcp.example/.well-known/oauth-protected-resource", error_description="more, please""#;
        let whole = whole.replace('\n', " ");
        assert_eq!(of(&[&whole]), Some(challenge(WHERE, &["files:read", "files:write"], Some("insufficient_scope"))));
        assert!(of(&[&whole]).unwrap().is_insufficient_scope());
        assert_eq!(of(&["Bearer"]), Some(challenge(None, &[], None)));
        assert_eq!(of(&["bearer scope=a"]), Some(challenge(None, &["a"], None)));
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn one_of_several_schemes_is_meant() {
        let bearer = r#"Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource""#;
        for values in [
            vec!["Basic realm=\"a, Bearer scope=b\"", bearer],
            vec!["Negotiate YWJj==", bearer],
            vec!["Negotiate", bearer],
            vec!["Bearer realm=\"first\"", bearer],
        ] {
            assert_eq!(of(&values), Some(challenge(WHERE, &[], None)), "{values:?}");
            assert_eq!(of(&[&values.join(", ")]), Some(challenge(WHERE, &[], None)), "in one header: {values:?}");
        }
        let other = format!("{bearer}, DPoP scope=\"theirs\", algs=\"ES256\"");
        assert_eq!(of(&[&other]), Some(challenge(WHERE, &[], None)), "parameters of another scheme are not ours");
        assert_eq!(of(&["DPoP resource_metadata=\"https://mcp.example/x\""]), None);
    }

    /// The name of a parameter within another one's value is text.
    #[test]
    fn values_are_not_searched_for_parameters() {
        let value = r#"Bearer realm="scope=admin, error=\"x\"", scope="read""#;
        assert_eq!(of(&[value]), Some(challenge(None, &["read"], None)));
        let value = r#"Bearer error_description="resource_metadata=https://evil.example", x_scope="admin""#;
        assert_eq!(of(&[value]), Some(challenge(None, &[], None)));
    }

    #[test]
    fn what_is_written_carelessly_is_read() {
        for value in [
            r#"Bearer  scope = "a b" ,error="invalid_token""#,
            r#"BEARER scope="a b" error="invalid_token""#,
            r#"Bearer,scope="a b",,error=invalid_token"#,
            "Bearer\tscope=\"a b\",\terror=\"invalid_token\"",
            r#"Bearer scope="a b", scope="c", error="invalid_token", error="x""#,
            "Bearer scope=\"a\u{fc} a b\", error=\"invalid_token\"",
        ] {
            assert_eq!(of(&[value]), Some(challenge(None, &["a", "b"], Some("invalid_token"))), "{value}");
        }
    }

    /// R-SEC-04
    #[test]
    fn garbage_ends_the_reading_and_much_of_it_is_not_read() {
        assert_eq!(of(&["Bearer scope=\"never ends"]), Some(challenge(None, &[], None)));
        assert_eq!(of(&["\"Bearer\" scope=a"]), None);
        assert_eq!(of(&["Bearer error=\"a\", (scope=b)"]), Some(challenge(None, &[], Some("a"))));
        let many = format!("Bearer {}, scope=late", vec!["x=y"; PARAMETERS_AT_MOST].join(", "));
        assert_eq!(of(&[&many]), Some(challenge(None, &[], None)));
        let long = format!("Bearer realm=\"{}\"", "x".repeat(AT_MOST));
        assert_eq!(of(&[&long, "Bearer scope=a"]), Some(challenge(None, &[], None)));
    }

    proptest! {
        #[test]
        fn nothing_makes_it_stumble(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(value) = HeaderValue::from_bytes(&bytes) {
                let mut headers = HeaderMap::new();
                headers.insert(header::WWW_AUTHENTICATE, value);
                Challenge::of(&headers);
            }
        }
    }
}
