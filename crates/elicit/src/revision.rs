//! The revisions of the protocol, and what each of them can do.

use std::fmt;

/// How a connection works: with a handshake and sessions, or with rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Era {
    /// Up to 2025-11-25: `initialize`, and requests from the server to the client.
    Legacy,
    /// 2026-07-28: no handshake; a question is an `input_required` result, its answer a retry.
    Modern,
}

/// A published revision of MCP, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(non_camel_case_types, reason = "the underscores are the date's own")]
pub enum Revision {
    /// 2024-11-05
    V2024_11_05,
    /// 2025-03-26
    V2025_03_26,
    /// 2025-06-18: the first with elicitation, forms only.
    V2025_06_18,
    /// 2025-11-25: adds url mode.
    V2025_11_25,
    /// 2026-07-28: rounds in place of requests from the server.
    V2026_07_28,
}

impl Revision {
    /// Every published revision, oldest first.
    pub const ALL: &[Self] =
        &[Self::V2024_11_05, Self::V2025_03_26, Self::V2025_06_18, Self::V2025_11_25, Self::V2026_07_28];

    /// The revisions in which we elicit, newest first, as a peer is told them.
    pub const SUPPORTED: &[Self] = &[Self::V2026_07_28, Self::V2025_11_25, Self::V2025_06_18];

    /// The revision of this date; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|revision| revision.as_str() == text)
    }

    /// The date, as it stands on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era that this revision belongs to.
    pub fn era(self) -> Era {
        if self >= Self::V2026_07_28 { Era::Modern } else { Era::Legacy }
    }

    /// Whether elicitation exists at all.
    pub fn has_elicitation(self) -> bool {
        self >= Self::V2025_06_18
    }

    /// Whether url mode exists, and with it the field `mode` (R-CAP-07).
    pub fn has_url_mode(self) -> bool {
        self >= Self::V2025_11_25
    }

    /// Whether a call may end with -32042 and a completion be announced by
    /// `notifications/elicitation/complete`: 2025-11-25 alone (R-CAP-07, R-ERR-03).
    pub fn has_completion(self) -> bool {
        self == Self::V2025_11_25
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_revision_reads_back_from_its_own_text() {
        for revision in Revision::ALL {
            assert_eq!(Revision::parse(revision.as_str()), Some(*revision));
            assert_eq!(revision.to_string(), revision.as_str());
        }
    }

    #[test]
    fn other_texts_are_no_revision() {
        for text in ["", "2025-06-19", "2025-11-25 ", "DRAFT-2026-v1", "latest"] {
            assert_eq!(Revision::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn what_we_support_is_what_elicits_newest_first() {
        let mut expected: Vec<_> =
            Revision::ALL.iter().copied().filter(|revision| revision.has_elicitation()).collect();
        expected.reverse();
        assert_eq!(Revision::SUPPORTED, expected);
    }

    /// R-CAP-07, R-ERR-03: what each revision has, as one table.
    #[test]
    fn each_revision_has_what_its_text_gives_it() {
        // revision, era, elicitation, url mode, -32042 and the completion notice
        let table = [
            (Revision::V2024_11_05, Era::Legacy, false, false, false),
            (Revision::V2025_03_26, Era::Legacy, false, false, false),
            (Revision::V2025_06_18, Era::Legacy, true, false, false),
            (Revision::V2025_11_25, Era::Legacy, true, true, true),
            (Revision::V2026_07_28, Era::Modern, true, true, false),
        ];
        assert_eq!(table.len(), Revision::ALL.len());
        for (revision, era, elicitation, url, completion) in table {
            assert_eq!(revision.era(), era, "{revision}");
            assert_eq!(revision.has_elicitation(), elicitation, "{revision}");
            assert_eq!(revision.has_url_mode(), url, "{revision}");
            assert_eq!(revision.has_completion(), completion, "{revision}");
        }
    }
}
