use std::collections::HashMap;

use super::translate::{Term, Translator};
use super::weight::Weight;
use super::{PatternError, PatternFault, Unchecked};

/// A group that is open.
pub(super) struct Group {
    /// Where its bracket stands.
    pub(super) start: usize,
    /// Whether a quantifier may follow it.
    repeatable: bool,
    /// Whether `.` takes in line ends here.
    pub(super) dot_all: bool,
    pub(super) names: Names,
    /// Of what was read of it so far.
    pub(super) weight: Weight,
}

impl Group {
    pub(super) fn whole_pattern() -> Self {
        Self { start: 0, repeatable: false, dot_all: false, names: Names::default(), weight: Weight::default() }
    }
}

/// The names of the groups in a group, with their positions. One name may stand in two alternatives,
/// of which one alone can match.
#[derive(Default)]
pub(super) struct Names {
    alternative: HashMap<String, usize>,
    earlier: HashMap<String, usize>,
}

impl Names {
    pub(super) fn next_alternative(&mut self) {
        let alternative = std::mem::take(&mut self.alternative);
        union(&mut self.earlier, alternative);
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.alternative.contains_key(name) || self.earlier.contains_key(name)
    }

    /// Adds the names of a group in this alternative; the position of one that was there.
    fn add(&mut self, mut group: Self) -> Result<(), usize> {
        group.next_alternative();
        match union(&mut self.alternative, group.earlier) {
            None => Ok(()),
            Some(position) => Err(position),
        }
    }
}

/// Moves the smaller map into the larger one, so that a name that is moved up through many groups is
/// not moved often. The later position of a name in both, if there is one.
fn union(all: &mut HashMap<String, usize>, mut more: HashMap<String, usize>) -> Option<usize> {
    if more.len() > all.len() {
        std::mem::swap(all, &mut more);
    }
    let mut repeated = None;
    for (name, position) in more {
        if let Some(other) = all.insert(name, position) {
            repeated = repeated.max(Some(position.max(other)));
        }
    }
    repeated
}

impl Translator<'_> {
    pub(super) fn open_group(&mut self) -> Result<(), PatternError> {
        let start = self.cursor.position();
        let mut group = Group { start, repeatable: true, dot_all: self.group.dot_all, ..Group::whole_pattern() };
        self.cursor.eat("(");
        if !self.cursor.eat("?") {
            self.references.groups += 1;
        } else if self.cursor.eat("=") || self.cursor.eat("!") {
            self.leave_unchecked(Unchecked::Lookaround);
        } else if self.cursor.eat("<=") || self.cursor.eat("<!") {
            group.repeatable = false;
            self.leave_unchecked(Unchecked::Lookaround);
        } else if self.cursor.eat("<") {
            self.references.groups += 1;
            let name = self.group_name(start)?;
            if self.group.names.alternative.insert(name, start).is_some() {
                return Err(self.cursor.error(start, PatternFault::DuplicateGroupName));
            }
        } else if !self.cursor.eat(":") {
            self.modifiers(&mut group)?;
        }
        self.expression.push_str("(?:");
        self.outer.push(std::mem::replace(&mut self.group, group));
        Ok(())
    }

    pub(super) fn close_group(&mut self) -> Result<Term, PatternError> {
        let position = self.cursor.position();
        let Some(outer) = self.outer.pop() else {
            return Err(self.cursor.error(position, PatternFault::UnopenedGroup));
        };
        self.cursor.eat(")");
        self.expression.push(')');
        let inner = std::mem::replace(&mut self.group, outer);
        if let Err(position) = self.group.names.add(inner.names) {
            return Err(self.cursor.error(position, PatternFault::DuplicateGroupName));
        }
        // What cannot be repeated is a look behind, which is not run anyway.
        let weight = inner.weight.plus(Weight::UNIT);
        Ok(if inner.repeatable { Term::Repeatable(weight) } else { Term::Fixed })
    }

    /// A name up to its `>`. Letters outside of ASCII are not looked up: any such character will do.
    pub(super) fn group_name(&mut self, start: usize) -> Result<String, PatternError> {
        let first = self.cursor.position();
        let mut name = String::new();
        loop {
            let before = self.cursor.position();
            let point = match self.cursor.next() {
                Some('>') if before > first => break,
                Some('\\') if self.cursor.peek() == Some('u') => self.character_escape(before)?,
                Some(character) => u32::from(character),
                None => return Err(self.cursor.error(start, PatternFault::GroupName)),
            };
            match char::from_u32(point) {
                Some(character) if may_stand_in_name(character, before == first) => name.push(character),
                _ => return Err(self.cursor.error(before, PatternFault::GroupName)),
            }
        }
        Ok(name)
    }

    /// The rest of `(?ims-ims:`.
    fn modifiers(&mut self, group: &mut Group) -> Result<(), PatternError> {
        let is_modifier = |character| matches!(character, 'i' | 'm' | 's');
        let on = self.cursor.eat_while(is_modifier);
        let off = if self.cursor.eat("-") { self.cursor.eat_while(is_modifier) } else { "" };
        let repeated =
            ['i', 'm', 's'].iter().any(|modifier| on.matches(*modifier).chain(off.matches(*modifier)).count() > 1);
        if on.len() + off.len() == 0 || repeated || !self.cursor.eat(":") {
            return Err(self.cursor.error(group.start, PatternFault::UnknownGroup));
        }
        // Without the tables of letter cases, and with a line end that is `\n` alone, the engine can
        // do neither as ECMA-262 has it. Both are off already.
        if on.contains(['i', 'm']) {
            self.leave_unchecked(Unchecked::Modifier);
        }
        group.dot_all = (group.dot_all || on.contains('s')) && !off.contains('s');
        Ok(())
    }
}

fn may_stand_in_name(character: char, first: bool) -> bool {
    matches!(character, '_' | '$' | 'a'..='z' | 'A'..='Z' | '\u{80}'..) || (!first && character.is_ascii_digit())
}
