use super::escape::{ANYTHING, NOTHING, write_character};
use super::translate::Translator;
use super::weight::Weight;
use super::{PatternError, PatternFault};

/// One side of a `-` in a class, or what stands alone.
enum Atom {
    /// A code point, which may be half of a surrogate pair.
    Point(u32),
    Set(String),
}

/// A class as it is read.
struct Class {
    /// What it lists, in the syntax of the crate `regex`.
    inside: String,
    weight: Weight,
}

impl Translator<'_> {
    /// A class from `[` to `]` (ECMA-262, `CharacterClass` without the flag `v`): `[`, `&&` and the
    /// like mean themselves in it.
    pub(super) fn class(&mut self) -> Result<Weight, PatternError> {
        let start = self.cursor.position();
        self.cursor.eat("[");
        let negated = self.cursor.eat("^");
        let mut class = Class { inside: String::new(), weight: Weight::ASCII_SET };
        while !self.cursor.eat("]") {
            let position = self.cursor.position();
            let first = self.class_atom(start, &mut class)?;
            let mut ahead = self.cursor.clone();
            if !ahead.eat("-") || ahead.peek() == Some(']') {
                class.add(&first);
                continue;
            }
            self.cursor = ahead;
            let last = self.class_atom(start, &mut class)?;
            match (&first, &last) {
                (Atom::Point(first), Atom::Point(last)) if first > last => {
                    return Err(self.cursor.error(position, PatternFault::ClassRange));
                }
                (Atom::Point(first), Atom::Point(last)) => class.add_range(*first, *last),
                // No range has a set for its end, so the `-` means itself (annex B.1.2).
                _ => {
                    class.add(&first);
                    class.add(&Atom::Point(u32::from('-')));
                    class.add(&last);
                }
            }
        }
        let weight = if negated { class.weight.plus(Weight::WIDE_SET) } else { class.weight };
        match (class.inside.as_str(), negated) {
            ("", false) => self.expression.push_str(NOTHING),
            ("", true) => self.expression.push_str(ANYTHING),
            (inside, negated) => {
                self.expression.push_str(if negated { "[^" } else { "[" });
                self.expression.push_str(inside);
                self.expression.push(']');
            }
        }
        Ok(weight)
    }

    fn class_atom(&mut self, class_start: usize, class: &mut Class) -> Result<Atom, PatternError> {
        let start = self.cursor.position();
        match self.cursor.next() {
            None => Err(self.cursor.error(class_start, PatternFault::UnclosedClass)),
            Some('\\') => {
                if let Some((set, weight)) = self.set_escape(start)? {
                    class.weight = class.weight.plus(weight);
                    return Ok(Atom::Set(set));
                }
                if self.cursor.eat("b") {
                    return Ok(Atom::Point(0x08));
                }
                self.character_escape(start).map(Atom::Point)
            }
            Some(character) => Ok(Atom::Point(u32::from(character))),
        }
    }
}

impl Class {
    fn add(&mut self, atom: &Atom) {
        match atom {
            Atom::Point(point) => self.add_range(*point, *point),
            Atom::Set(set) => self.inside.push_str(set),
        }
    }

    /// Adds what of a range can stand in a text: no half of a surrogate pair.
    fn add_range(&mut self, first: u32, last: u32) {
        let (above, below) = (first.max(0xe000), last.min(0xd7ff));
        let first = char::from_u32(first).or(char::from_u32(above));
        let last = char::from_u32(last).or(char::from_u32(below));
        if let (Some(first), Some(last)) = (first, last)
            && first <= last
        {
            write_character(&mut self.inside, first);
            if first < last {
                self.inside.push('-');
                write_character(&mut self.inside, last);
            }
            let weight = if last.is_ascii() { Weight::UNIT } else { Weight::ASCII_SET };
            self.weight = self.weight.plus(weight);
        }
    }
}
