use super::cursor::Cursor;
use super::groups::{Group, Names};
use super::weight::Weight;
use super::{PatternError, PatternFault, Unchecked, quantifier};

/// A valid pattern in the syntax of the crate `regex`.
pub(super) struct Translation {
    pub(super) expression: String,
    /// Set where `expression` does not mean the same as the pattern.
    pub(super) unchecked: Option<Unchecked>,
    pub(super) weight: Weight,
}

/// Translates a pattern without recursion, so that nesting costs no stack.
///
/// Only what a pattern matches is kept, not where: groups do not capture, and a lazy quantifier
/// becomes a greedy one.
pub(super) fn translate(text: &str) -> Result<Translation, PatternError> {
    let mut translator = Translator::new(text);
    while let Some(character) = translator.cursor.peek() {
        translator.term(character)?;
    }
    translator.finish()
}

pub(super) struct Translator<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) expression: String,
    pub(super) unchecked: Option<Unchecked>,
    /// The group that the cursor is in; the whole pattern is one, too.
    pub(super) group: Group,
    /// The groups around it.
    pub(super) outer: Vec<Group>,
    pub(super) references: References,
}

/// What has to be compared at the end, since a reference may stand before its group.
#[derive(Default)]
pub(super) struct References {
    pub(super) groups: u64,
    /// The highest `\1`, with its position.
    pub(super) highest: Option<(u64, usize)>,
    /// Each `\k<name>`, with its position.
    pub(super) named: Vec<(String, usize)>,
}

/// Whether a quantifier may follow.
pub(super) enum Term {
    Repeatable(Weight),
    Fixed,
}

impl<'a> Translator<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            cursor: Cursor::new(text),
            expression: String::with_capacity(text.len() + 16),
            unchecked: None,
            group: Group::whole_pattern(),
            outer: Vec::new(),
            references: References::default(),
        }
    }

    /// One term with its quantifier, or one piece of structure.
    fn term(&mut self, character: char) -> Result<(), PatternError> {
        let start = self.cursor.position();
        let term = match character {
            '(' => return self.open_group(),
            '|' => {
                self.cursor.next();
                self.expression.push('|');
                self.group.names.next_alternative();
                return Ok(());
            }
            ')' => self.close_group()?,
            '[' => Term::Repeatable(self.class()?),
            '\\' => self.escape()?,
            '*' | '+' | '?' => return Err(self.cursor.error(start, PatternFault::NothingToRepeat)),
            '{' if quantifier::read(&mut self.cursor.clone())?.is_some() => {
                return Err(self.cursor.error(start, PatternFault::NothingToRepeat));
            }
            '^' => self.fixed(r"\A"),
            '$' => self.fixed(r"\z"),
            '.' => self.any(),
            _ => {
                self.cursor.next();
                Term::Repeatable(self.literal(u32::from(character)))
            }
        };
        match term {
            Term::Repeatable(weight) => self.quantifier(weight),
            Term::Fixed => Ok(()),
        }
    }

    pub(super) fn fixed(&mut self, assertion: &str) -> Term {
        self.cursor.next();
        self.expression.push_str(assertion);
        self.group.weight = self.group.weight.plus(Weight::UNIT);
        Term::Fixed
    }

    fn any(&mut self) -> Term {
        self.cursor.next();
        self.expression.push_str(if self.group.dot_all { "(?s:.)" } else { r"[^\n\r\x{2028}\x{2029}]" });
        Term::Repeatable(Weight::WIDE_SET)
    }

    /// The term is written; now how often.
    fn quantifier(&mut self, weight: Weight) -> Result<(), PatternError> {
        let copies = match quantifier::read(&mut self.cursor)? {
            None => 1,
            Some(quantifier) => {
                if quantifier.write(&mut self.expression).is_none() {
                    self.leave_unchecked(Unchecked::TooLarge);
                }
                quantifier.copies()
            }
        };
        self.group.weight = self.group.weight.plus(weight.times(copies));
        Ok(())
    }

    /// The first reason stays.
    pub(super) fn leave_unchecked(&mut self, reason: Unchecked) {
        self.unchecked.get_or_insert(reason);
    }

    fn finish(self) -> Result<Translation, PatternError> {
        if !self.outer.is_empty() {
            return Err(self.cursor.error(self.group.start, PatternFault::UnclosedGroup));
        }
        if let Some((number, position)) = self.references.highest
            && number > self.references.groups
        {
            return Err(self.cursor.error(position, PatternFault::MissingGroup));
        }
        let names: Names = self.group.names;
        for (name, position) in &self.references.named {
            if !names.contains(name) {
                return Err(self.cursor.error(*position, PatternFault::MissingGroup));
            }
        }
        Ok(Translation { expression: self.expression, unchecked: self.unchecked, weight: self.group.weight })
    }
}
