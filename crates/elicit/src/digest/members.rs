use std::borrow::Cow;

use super::DigestError;

/// The members of those objects that are being read, the innermost last: 16 bytes each, and the keys that had escapes.
#[derive(Default)]
pub(super) struct Members {
    members: Vec<Member>,
    /// Keys whose escapes were undone. The others are read where they stand in the text.
    unescaped: Vec<u8>,
}

/// One member of an object.
#[derive(Clone, Copy)]
pub(super) struct Member {
    /// Where its key begins and ends: in the text, and past the end of the text in [`Members::unescaped`].
    key: (u32, u32),
    /// Where the text goes on after the key.
    value: u32,
    /// The first span that lies inside its value.
    span: u32,
}

/// Where an object begins among the [`Members`].
#[derive(Clone, Copy)]
pub(super) struct Mark {
    members: usize,
    unescaped: usize,
}

impl Member {
    pub(super) fn value(self) -> usize {
        self.value as usize
    }

    pub(super) fn span(self) -> usize {
        self.span as usize
    }
}

impl Members {
    /// Begins an object.
    pub(super) fn mark(&self) -> Mark {
        Mark { members: self.members.len(), unescaped: self.unescaped.len() }
    }

    /// Ends the object that began at `mark`.
    pub(super) fn forget(&mut self, mark: Mark) {
        self.members.truncate(mark.members);
        self.unescaped.truncate(mark.unescaped);
    }

    /// Adds a member to the innermost object. Its key stands in the text, with its quotes, before `value`.
    pub(super) fn push(
        &mut self,
        text: &str,
        key: Cow<'_, [u8]>,
        value: usize,
        span: usize,
    ) -> Result<(), DigestError> {
        let length = key.len();
        let end = match key {
            Cow::Borrowed(_) => value - 1,
            Cow::Owned(key) => {
                self.unescaped.extend_from_slice(&key);
                text.len() + self.unescaped.len()
            }
        };
        let key = (place(end - length)?, place(end)?);
        self.members.push(Member { key, value: place(value)?, span: place(span)? });
        Ok(())
    }

    /// Sorts the members of the innermost object, which began at `mark`, by key: in the order of UTF-8 bytes, which is
    /// that of code points. How many they are.
    pub(super) fn sort(&mut self, text: &str, mark: Mark) -> Result<usize, DigestError> {
        let Self { members, unescaped } = self;
        let members = members.get_mut(mark.members..).unwrap_or_default();
        members.sort_unstable_by(|left, right| key(text, unescaped, *left).cmp(key(text, unescaped, *right)));
        let all_differ = members.is_sorted_by(|left, right| key(text, unescaped, *left) < key(text, unescaped, *right));
        if all_differ { Ok(members.len()) } else { Err(DigestError::DuplicateKey) }
    }

    /// The member at `index` of the object that began at `mark`, and its key.
    pub(super) fn member<'a>(&'a self, text: &'a str, mark: Mark, index: usize) -> Option<(&'a [u8], Member)> {
        self.members.get(mark.members + index).map(|member| (key(text, &self.unescaped, *member), *member))
    }

    /// The most bytes that were needed at one time.
    #[cfg(test)]
    pub(super) fn high_water(&self) -> usize {
        self.members.capacity() * size_of::<Member>() + self.unescaped.capacity()
    }
}

fn key<'a>(text: &'a str, unescaped: &'a [u8], member: Member) -> &'a [u8] {
    let (start, end) = (member.key.0 as usize, member.key.1 as usize);
    let found = match start.checked_sub(text.len()) {
        None => text.as_bytes().get(start..end),
        Some(start) => unescaped.get(start..end - text.len()),
    };
    found.unwrap_or_default()
}

/// A place in the text in half the bytes of a `usize`.
pub(super) fn place(at: usize) -> Result<u32, DigestError> {
    u32::try_from(at).map_err(|_| DigestError::TooLong)
}
