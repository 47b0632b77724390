use std::fmt::Write;

use super::translate::{Term, Translator};
use super::weight::Weight;
use super::{PatternError, PatternFault, Unchecked};

/// `\d`, as the inside of a class.
const DIGIT: &str = "0-9";
/// `\w` without the flag `i`.
const WORD: &str = "0-9A-Z_a-z";
/// `\s`: `WhiteSpace` and `LineTerminator` of ECMA-262.
const SPACE: &str = r"\t\n\x0b\x0c\r \x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000}\x{feff}";

/// A class that holds no character.
pub(super) const NOTHING: &str = r"[^\x{0}-\x{10ffff}]";
/// A class that holds each character.
pub(super) const ANYTHING: &str = r"[\x{0}-\x{10ffff}]";

impl Translator<'_> {
    /// An escape outside of a class.
    pub(super) fn escape(&mut self) -> Result<Term, PatternError> {
        let start = self.cursor.position();
        self.cursor.eat("\\");
        if let Some((set, weight)) = self.set_escape(start)? {
            self.expression.push_str(&set);
            return Ok(Term::Repeatable(weight));
        }
        match self.cursor.peek() {
            Some('b') => Ok(self.fixed(r"(?-u:\b)")),
            Some('B') => Ok(self.fixed(r"(?-u:\B)")),
            Some('1'..='9') => {
                let digits = self.cursor.eat_while(|character| character.is_ascii_digit());
                let number = digits.parse().unwrap_or(u64::MAX);
                if self.references.highest.is_none_or(|(highest, _)| number > highest) {
                    self.references.highest = Some((number, start));
                }
                self.leave_unchecked(Unchecked::Backreference);
                Ok(Term::Repeatable(Weight::UNIT))
            }
            Some('k') => {
                self.cursor.next();
                if !self.cursor.eat("<") {
                    return Err(self.cursor.error(start, PatternFault::GroupName));
                }
                let name = self.group_name(start)?;
                self.references.named.push((name, start));
                self.leave_unchecked(Unchecked::Backreference);
                Ok(Term::Repeatable(Weight::UNIT))
            }
            _ => {
                let point = self.character_escape(start)?;
                Ok(Term::Repeatable(self.literal(point)))
            }
        }
    }

    /// An escape for a set of characters, as a class; `None` where the next is none. The backslash
    /// at `start` was read.
    pub(super) fn set_escape(&mut self, start: usize) -> Result<Option<(String, Weight)>, PatternError> {
        let (inside, negated) = match self.cursor.peek() {
            Some('d') => (DIGIT, false),
            Some('D') => (DIGIT, true),
            Some('w') => (WORD, false),
            Some('W') => (WORD, true),
            Some('s') => (SPACE, false),
            Some('S') => (SPACE, true),
            Some('p') => return self.property(start, false).map(Some),
            Some('P') => return self.property(start, true).map(Some),
            _ => return Ok(None),
        };
        self.cursor.next();
        let weight = if negated || inside == SPACE { Weight::WIDE_SET } else { Weight::ASCII_SET };
        Ok(Some((format!("[{}{inside}]", if negated { "^" } else { "" }), weight)))
    }

    /// An escape for one code point, which may be half of a surrogate pair. The backslash at `start`
    /// was read.
    pub(super) fn character_escape(&mut self, start: usize) -> Result<u32, PatternError> {
        let fault = |translator: &Self, fault| Err(translator.cursor.error(start, fault));
        match self.cursor.next() {
            None => fault(self, PatternFault::TrailingBackslash),
            Some('t') => Ok(0x09),
            Some('n') => Ok(0x0a),
            Some('v') => Ok(0x0b),
            Some('f') => Ok(0x0c),
            Some('r') => Ok(0x0d),
            Some('0') if !self.cursor.peek().is_some_and(|next| next.is_ascii_digit()) => Ok(0),
            Some('c') => match self.cursor.next() {
                Some(letter) if letter.is_ascii_alphabetic() => Ok(u32::from(letter) % 32),
                _ => fault(self, PatternFault::IncompleteEscape),
            },
            Some('x') => self.hexadecimal(2).map_or_else(|| fault(self, PatternFault::IncompleteEscape), Ok),
            Some('u') => self.unicode_escape().map_or_else(|| fault(self, PatternFault::IncompleteEscape), Ok),
            Some(other) if other.is_ascii_alphanumeric() => fault(self, PatternFault::UnknownEscape),
            Some(other) => Ok(u32::from(other)),
        }
    }

    /// What follows `\u`: four digits, with a second half of a surrogate pair, or `{…}`.
    fn unicode_escape(&mut self) -> Option<u32> {
        if self.cursor.eat("{") {
            let digits = self.cursor.eat_while(|character| character.is_ascii_hexdigit());
            // Any number of zeros may lead, but no sign, which the digits above leave out.
            let point = u32::from_str_radix(digits, 16).ok().filter(|point| *point <= 0x10_ffff);
            return point.filter(|_| self.cursor.eat("}"));
        }
        let high = self.hexadecimal(4)?;
        if (0xd800..0xdc00).contains(&high) {
            let after_high = self.cursor.clone();
            if self.cursor.eat("\\u")
                && let Some(low @ 0xdc00..0xe000) = self.hexadecimal(4)
            {
                return Some(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00));
            }
            self.cursor = after_high;
        }
        Some(high)
    }

    fn hexadecimal(&mut self, digits: u32) -> Option<u32> {
        (0..digits).try_fold(0, |number, _| Some(number << 4 | self.cursor.next()?.to_digit(16)?))
    }

    /// Writes one code point as a term. Half of a surrogate pair stands in no text.
    pub(super) fn literal(&mut self, point: u32) -> Weight {
        match char::from_u32(point) {
            Some(character) => write_character(&mut self.expression, character),
            None => self.expression.push_str(NOTHING),
        }
        Weight::UNIT
    }
}

/// Writes a character so that it means itself, inside and outside of a class.
pub(super) fn write_character(expression: &mut String, character: char) {
    if character.is_ascii_alphanumeric() || !character.is_ascii() {
        expression.push(character);
    } else {
        // Writing to a string does not fail.
        let _ = write!(expression, r"\x{:02x}", u32::from(character));
    }
}
