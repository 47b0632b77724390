//! Texts that a person reads.

use super::super::Problem;
use crate::text::{Limits, clean_with, links};

/// A name or a title, of which something has to be seen.
pub(super) fn label(text: &str, fault: &mut dyn FnMut(Problem)) {
    if clean_with(text, &UNCUT).trim().is_empty() {
        fault(Problem::Blank);
    }
    shown(text, fault);
}

/// Any text that is shown.
pub(super) fn shown(text: &str, fault: &mut dyn FnMut(Problem)) {
    hidden(text, fault);
    if let Some(link) = links(text).next() {
        fault(Problem::Link(link.to_owned()));
    }
}

/// A text with characters that cannot be seen, and which [`clean`](crate::text::clean) therefore
/// would make visible. What it only tidies up, such as wide spaces, does no harm.
pub(super) fn hidden(text: &str, fault: &mut dyn FnMut(Problem)) {
    let cleaned = clean_with(text, &UNCUT);
    // Every notice begins with the one, and a mark with nothing below it gets the other.
    if ['‹', '◌'].iter().any(|notice| cleaned.matches(*notice).count() > text.matches(*notice).count()) {
        fault(Problem::Hidden);
    }
}

/// However long it is, a text is looked at as a whole.
const UNCUT: Limits = Limits { characters: usize::MAX, lines: usize::MAX, line: usize::MAX };
