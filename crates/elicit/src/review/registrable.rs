//! Who can have registered a name: the public suffix list.

use std::ops::Range;

use psl::{Psl as _, Type};

/// The parts of a host name that say to whom it belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parts {
    /// The registrable domain, without a dot at the end.
    pub(super) registrable: Option<Range<usize>>,
    /// The public suffix, without a dot at the end.
    pub(super) suffix: Range<usize>,
    /// Which part of the list names the suffix; `None` where only the default rule `*` does.
    pub(super) kind: Option<Type>,
}

/// `host` is lower case ASCII. Empty labels are nobody's.
pub(super) fn parts(host: &str) -> Parts {
    let name = host.trim_end_matches('.');
    let info = psl::List.find(name.rsplit('.').map(str::as_bytes));
    let start = name.len().saturating_sub(info.len);
    let suffix = start..name.len();
    let registrable = name.get(..start).and_then(|rest| rest.strip_suffix('.')).and_then(|rest| {
        let label = rest.rsplit('.').next().filter(|label| !label.is_empty())?;
        Some(rest.len() - label.len()..name.len())
    });
    Parts { registrable, suffix, kind: info.typ }
}
