//! One line of the key file, as text.

use std::fmt;

use jiff::Timestamp;

/// What a key of the file is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyRole {
    /// It seals. Exactly one key of a file does.
    Active,
    /// It sealed before, and opens what it sealed until that is wrapped anew.
    Older,
    /// It will seal: known beforehand, so that it opens what another replica seals with it already.
    Next,
}

impl KeyRole {
    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Older => "older",
            Self::Next => "next",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        [Self::Active, Self::Older, Self::Next].into_iter().find(|role| role.as_str() == word)
    }
}

/// `id key role`, then where known `made=TIME` and `until=TIME`.
pub(super) struct Line<'a> {
    pub(super) id: &'a str,
    pub(super) secret: &'a str,
    pub(super) role: KeyRole,
    pub(super) made: Option<Timestamp>,
    /// Until when it was the active one.
    pub(super) until: Option<Timestamp>,
    /// From `#` on.
    pub(super) comment: Option<&'a str>,
}

impl<'a> Line<'a> {
    /// `None` for a line without a key. The error says what is wrong, and nothing of the key.
    pub(super) fn parse(text: &'a str) -> Result<Option<Self>, &'static str> {
        let (content, comment) = match text.find('#') {
            Some(at) => (text.get(..at).unwrap_or_default(), text.get(at..)),
            None => (text, None),
        };
        let mut words = content.split_whitespace();
        let Some(id) = words.next() else { return Ok(None) };
        let (Some(secret), Some(role)) = (words.next(), words.next()) else {
            return Err("it must be: id, key, and active, older or next");
        };
        if !is_key_id(id) {
            return Err("the id must be 1 to 64 of a-z 0-9 - _");
        }
        let role = KeyRole::parse(role).ok_or("after the key comes active, older or next")?;
        let mut line = Self { id, secret, role, made: None, until: None, comment };
        for word in words {
            line.note(word)?;
        }
        Ok(Some(line))
    }

    fn note(&mut self, word: &str) -> Result<(), &'static str> {
        const FAULT: &str = "after the role come made=TIME and until=TIME, once each, or nothing";
        let (name, time) = word.split_once('=').ok_or(FAULT)?;
        let place = match name {
            "made" => &mut self.made,
            "until" => &mut self.until,
            _ => return Err(FAULT),
        };
        let time = time.parse().map_err(|_| FAULT)?;
        if place.replace(time).is_some() { Err(FAULT) } else { Ok(()) }
    }
}

/// The text of the file, with the key in it.
impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.id, self.secret, self.role.as_str())?;
        for (name, time) in [("made", self.made), ("until", self.until)] {
            if let Some(time) = time {
                write!(f, " {name}={time:.0}")?;
            }
        }
        self.comment.map_or(Ok(()), |comment| write!(f, " {comment}"))
    }
}

fn is_key_id(id: &str) -> bool {
    (1..=64).contains(&id.len()) && id.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_written_as_it_was_read() {
        for text in [
            "k1 AAAA active",
            "k1 AAAA next made=2026-11-30T12:00:00Z",
            "k1 AAAA older made=2026-11-30T12:00:00Z until=2026-12-01T00:00:00Z # of the old machine",
        ] {
            assert_eq!(Line::parse(text).unwrap().unwrap().to_string(), text);
        }
        assert!(Line::parse("  # a comment").unwrap().is_none());
        assert!(Line::parse("").unwrap().is_none());
    }

    #[test]
    fn a_word_that_is_not_known_is_a_fault() {
        for text in [
            "k1 AAAA active more",
            "k1 AAAA active made=yesterday",
            "k1 AAAA active until=",
            "k1 AAAA active since=2026-11-30T12:00:00Z",
            "k1 AAAA active made=2026-11-30T12:00:00Z made=2026-11-30T12:00:00Z",
        ] {
            assert!(Line::parse(text).is_err(), "{text}");
        }
    }
}
