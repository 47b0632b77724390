//! Which calls need a credential: `"tools/get_*"`.

/// The calls of one kind whose name, or URI, fits a glob. A `*` stands for any run of characters, slashes too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    kind: Kind,
    glob: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Tools,
    Prompts,
    Resources,
}

/// Why a pattern is refused. Each would match nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    /// It does not start with a kind and a slash.
    #[error("does not start with tools/, prompts/ or resources/")]
    Kind,
    /// Nothing follows the kind.
    #[error("names nothing after the slash")]
    Empty,
    /// A space at an end, or a control character.
    #[error("contains a space at an end, or a control character, and could never match")]
    Space,
    /// A resource is named by its URI, and this is not the start of one.
    #[error("is no start of a URI, which is what names a resource, and could never match")]
    NotUri,
}

impl Pattern {
    /// Reads a pattern.
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        let (kind, glob) = text.split_once('/').ok_or(PatternError::Kind)?;
        let kind = match kind {
            "tools" => Kind::Tools,
            "prompts" => Kind::Prompts,
            "resources" => Kind::Resources,
            _ => return Err(PatternError::Kind),
        };
        if glob.is_empty() {
            return Err(PatternError::Empty);
        }
        if glob.trim() != glob || glob.chars().any(char::is_control) {
            return Err(PatternError::Space);
        }
        if kind == Kind::Resources && !starts_uri(glob) {
            return Err(PatternError::NotUri);
        }
        Ok(Self { kind, glob: glob.to_owned() })
    }

    /// Whether a request is meant: `tools/call` and `prompts/get` by name, `resources/read` by URI. No other method matches.
    pub fn matches(&self, method: &str, name_or_uri: &str) -> bool {
        let kind = match method {
            "tools/call" => Kind::Tools,
            "prompts/get" => Kind::Prompts,
            "resources/read" => Kind::Resources,
            _ => return false,
        };
        kind == self.kind && fits(self.glob.as_bytes(), name_or_uri.as_bytes())
    }

    /// The patterns of a need that names none: every call, prompt and resource.
    pub(super) fn all() -> Vec<Self> {
        [Kind::Tools, Kind::Prompts, Kind::Resources].map(|kind| Self { kind, glob: "*".to_owned() }).into()
    }
}

/// Whether some URI can fit: up to the first `*` or `:` there are only characters of a scheme (RFC 3986, 3.1).
fn starts_uri(glob: &str) -> bool {
    let Some(end) = glob.find(['*', ':']) else {
        return false;
    };
    let scheme = &glob[..end];
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
    match scheme.as_bytes().first() {
        None => glob.starts_with('*'),
        Some(first) => first.is_ascii_alphabetic() && scheme.bytes().all(letters),
    }
}

/// Glob matching that remembers only the last `*`: time is at most the product of both lengths, space is constant.
fn fits(glob: &[u8], text: &[u8]) -> bool {
    let (mut g, mut t) = (0, 0);
    // Where to go on when a later literal fails: behind the last `*`, which then swallows one more byte.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if glob.get(g) == Some(&b'*') {
            g += 1;
            retry = Some((g, t));
        } else if glob.get(g) == Some(&text[t]) {
            (g, t) = (g + 1, t + 1);
        } else if let Some((after, swallowed)) = retry {
            retry = Some((after, swallowed + 1));
            (g, t) = (after, swallowed + 1);
        } else {
            return false;
        }
    }
    glob[g..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(text: &str) -> Pattern {
        Pattern::parse(text).unwrap()
    }

    #[test]
    fn a_pattern_matches_its_kind_and_its_names_only() {
        let get = pattern("tools/get_*");
        assert!(get.matches("tools/call", "get_weather"));
        assert!(get.matches("tools/call", "get_"));
        assert!(!get.matches("tools/call", "forget_weather"));
        assert!(!get.matches("tools/call", "Get_weather"));
        assert!(!get.matches("prompts/get", "get_weather"));
        assert!(!get.matches("tools/list", "get_weather"));
        assert!(!get.matches("tools/get_x", "get_weather"));
        assert!(pattern("prompts/*").matches("prompts/get", "plan"));
        assert!(pattern("resources/file:///logs/*.txt").matches("resources/read", "file:///logs/a/b.txt"));
        assert!(!pattern("resources/*").matches("resources/subscribe", "file:///a"));
        assert!(pattern("tools/a/b").matches("tools/call", "a/b"));
    }

    #[test]
    fn a_need_without_patterns_means_every_call() {
        let all = Pattern::all();
        for (method, name) in [("tools/call", "x"), ("prompts/get", ""), ("resources/read", "a:b")] {
            assert!(all.iter().any(|pattern| pattern.matches(method, name)), "{method}");
        }
    }

    #[test]
    fn patterns_that_can_never_match_are_refused() {
        use PatternError::{Empty, Kind, NotUri, Space};
        for (text, error) in [
            ("", Kind),
            ("tools", Kind),
            ("tool/x", Kind),
            ("Tools/x", Kind),
            ("*", Kind),
            ("tools/", Empty),
            ("tools/ x", Space),
            ("tools/x\n", Space),
            ("resources/logs", NotUri),
            ("resources//etc/*", NotUri),
            ("resources/:x", NotUri),
            ("resources/1a*", NotUri),
        ] {
            assert_eq!(Pattern::parse(text), Err(error), "{text}");
        }
        for text in ["resources/*", "resources/file*", "resources/file:///x", "resources/*logs", "tools/with space"] {
            assert!(Pattern::parse(text).is_ok(), "{text}");
        }
    }

    /// The definition, without the speed.
    fn fits_by_definition(glob: &[u8], text: &[u8]) -> bool {
        match glob.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|n| fits_by_definition(rest, &text[n..])),
            Some((first, rest)) => {
                text.split_first().is_some_and(|(byte, text)| byte == first && fits_by_definition(rest, text))
            }
        }
    }

    proptest! {
        #[test]
        fn globs_match_as_defined(glob in "[ab*]{0,7}", text in "[ab*]{0,9}") {
            prop_assert_eq!(
                fits(glob.as_bytes(), text.as_bytes()),
                fits_by_definition(glob.as_bytes(), text.as_bytes())
            );
        }

        #[test]
        fn a_star_matches_any_run_of_characters(before in "\\PC{0,9}", between in any::<String>(), after in "\\PC{0,9}") {
            let glob = format!("{before}*{after}");
            let text = format!("{before}{between}{after}");
            prop_assert!(fits(glob.as_bytes(), text.as_bytes()));
        }
    }

    #[test]
    fn many_stars_do_not_take_long() {
        let glob = "*a".repeat(500);
        assert!(!fits(glob.as_bytes(), "a".repeat(20_000).replace('a', "b").as_bytes()));
        assert!(fits(glob.as_bytes(), "a".repeat(20_000).as_bytes()));
    }
}
