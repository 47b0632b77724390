//! Reading pieces of JSON text that is known to be valid, without losing any of it.

pub(crate) mod cursor;

use std::borrow::Cow;

use serde_json::value::RawValue;

/// Whether `text` is one JSON value. Iterative, so that depth costs no stack.
pub(crate) fn is_valid(text: &str) -> bool {
    serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Whether a valid value is an object. Leading white space is allowed.
pub(crate) fn is_object(value: &str) -> bool {
    value.trim_start().starts_with('{')
}

/// Whether a valid value is `null`.
pub(crate) fn is_null(value: &str) -> bool {
    value.trim() == "null"
}

/// `text` as a JSON string with its quotes.
pub(crate) fn quote(text: &str) -> String {
    let mut json = String::with_capacity(text.len() + 2);
    write_quoted(text, &mut json);
    json
}

/// Appends `text` as a JSON string with its quotes.
pub(crate) fn write_quoted(text: &str, json: &mut String) {
    json.push('"');
    let mut plain = 0;
    for (index, byte) in text.bytes().enumerate() {
        if !matches!(byte, b'"' | b'\\' | 0..0x20) {
            continue;
        }
        json.push_str(&text[plain..index]);
        plain = index + 1;
        match byte {
            b'\n' => json.push_str("\\n"),
            b'\r' => json.push_str("\\r"),
            b'\t' => json.push_str("\\t"),
            0x08 => json.push_str("\\b"),
            0x0c => json.push_str("\\f"),
            0..0x20 => {
                json.push_str("\\u00");
                json.push(if byte < 0x10 { '0' } else { '1' });
                json.push(char::from_digit(u32::from(byte & 0x0f), 16).unwrap_or('0'));
            }
            _ => {
                json.push('\\');
                json.push(char::from(byte));
            }
        }
    }
    json.push_str(&text[plain..]);
    json.push('"');
}

/// The text of a valid string value; `None` for another value, and for one that holds half of a
/// surrogate pair and so is no Unicode text.
pub(crate) fn text(value: &str) -> Option<Cow<'_, str>> {
    let inner = value.trim_ascii().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.as_bytes().contains(&b'\\') {
        return Some(Cow::Borrowed(inner));
    }
    String::from_utf8(unescape(value)?.into_owned()).ok().map(Cow::Owned)
}

/// The content of a valid string value, as UTF-8. Half of a surrogate pair, which JSON allows
/// (RFC 8259, section 8.2), becomes its three bytes of generalised UTF-8, which occur in no text:
/// different strings stay different.
pub(crate) fn unescape(value: &str) -> Option<Cow<'_, [u8]>> {
    let inner = value.trim_ascii().strip_prefix('"')?.strip_suffix('"')?;
    let Some(first) = inner.find('\\') else {
        return Some(Cow::Borrowed(inner.as_bytes()));
    };
    let (plain, mut rest) = inner.as_bytes().split_at(first);
    let mut bytes = Vec::with_capacity(inner.len());
    bytes.extend_from_slice(plain);
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        let (&escape, after) = rest.split_first()?;
        rest = after;
        match escape {
            b'"' | b'\\' | b'/' => bytes.push(escape),
            b'b' => bytes.push(0x08),
            b'f' => bytes.push(0x0c),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'u' => {
                let (point, after) = code_point(rest)?;
                rest = after;
                push(&mut bytes, point);
            }
            _ => return None,
        }
    }
    Some(Cow::Owned(bytes))
}

/// The code point after `\u`, with the second half of a surrogate pair where one follows.
fn code_point(rest: &[u8]) -> Option<(u32, &[u8])> {
    let (unit, rest) = code_unit(rest)?;
    if !(0xd800..0xdc00).contains(&unit) {
        return Some((unit, rest));
    }
    match rest.strip_prefix(b"\\u").and_then(code_unit) {
        Some((low, after)) if (0xdc00..0xe000).contains(&low) => {
            Some((0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00), after))
        }
        _ => Some((unit, rest)),
    }
}

fn code_unit(rest: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = rest.split_at_checked(4)?;
    let unit = digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))?;
    Some((unit, rest))
}

fn push(bytes: &mut Vec<u8>, point: u32) {
    if let Some(character) = char::from_u32(point) {
        bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    } else {
        // Half of a pair: always 1101 1xxx xxxx xxxx, so three bytes.
        let [_, _, high, low] = point.to_be_bytes();
        bytes.extend_from_slice(&[0xe0 | high >> 4, 0x80 | (high & 0x0f) << 2 | low >> 6, 0x80 | low & 0x3f]);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_escape_is_read() {
        assert_eq!(text(r#""a\"\\\/\b\f\n\r\té\u00e9\ud83d\ude00\u0000""#).unwrap(), "a\"\\/\u{8}\u{c}\n\r\téé😀\0");
    }

    #[test]
    fn a_text_without_escapes_is_not_copied() {
        assert!(matches!(text(r#""plain é""#), Some(Cow::Borrowed("plain é"))));
    }

    #[test]
    fn what_is_no_string_has_no_text() {
        for value in ["7", "null", "{}", r#"["a"]"#] {
            assert_eq!(text(value), None, "{value}");
        }
    }

    #[test]
    fn half_a_surrogate_pair_is_no_text_but_stays_itself() {
        let halves = [
            r#""\ud800""#,
            r#""\udbff""#,
            r#""\udc00""#,
            r#""\udfff""#,
            r#""\ud800\ud800""#,
            r#""\ude00\ud83d""#,
            r#""\ud800x""#,
            r#""\ud800\n""#,
        ];
        let mut seen = std::collections::HashSet::new();
        for half in halves {
            assert!(is_valid(half), "{half}");
            assert_eq!(text(half), None, "{half}");
            assert!(seen.insert(unescape(half).unwrap()), "{half}");
        }
        assert_eq!(&*unescape(halves[0]).unwrap(), [0xed, 0xa0, 0x80]);
        assert_eq!(&*unescape(halves[3]).unwrap(), [0xed, 0xbf, 0xbf]);
    }

    #[test]
    fn depth_costs_no_stack() {
        let deep = "[".repeat(200_000) + &"]".repeat(200_000);
        assert!(is_valid(&deep));
    }

    proptest! {
        /// Against `serde_json` as the oracle.
        #[test]
        fn a_quoted_text_reads_back(original in any::<String>()) {
            let quoted = quote(&original);
            prop_assert_eq!(text(&quoted).unwrap(), original.as_str());
            prop_assert_eq!(&quoted, &serde_json::to_string(&original).unwrap());
            prop_assert_eq!(serde_json::from_str::<String>(&quoted).unwrap(), original);
        }

        #[test]
        fn escaped_units_read_as_serde_json_reads_them(units in prop::collection::vec(
            prop_oneof![any::<u16>(), 0xd7f0_u16..0xe010], 0..8,
        )) {
            use std::fmt::Write as _;
            let mut raw = String::from("\"");
            for unit in units {
                write!(raw, "\\u{unit:04X}").unwrap();
            }
            raw.push('"');
            let oracle = serde_json::from_str::<String>(&raw).ok();
            prop_assert_eq!(text(&raw).map(Cow::into_owned), oracle);
            prop_assert!(unescape(&raw).is_some());
        }

        #[test]
        fn any_text_is_read_without_a_panic(raw in any::<String>()) {
            let quoted = format!("\"{raw}\"");
            let _ = (unescape(&raw), text(&raw), unescape(&quoted), text(&quoted));
        }
    }
}
