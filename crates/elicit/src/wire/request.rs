use serde_json::{Value, json};

use super::{RawObject, WireError};
use crate::{Mode, Revision, json};

/// A question in url mode, in the words of either era.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlElicitation {
    /// Why the visit is needed (R-REQ-01).
    pub message: String,
    /// The absolute URL of the page. It carries no credential and no personal data (R-URL-03).
    pub url: String,
    /// The unguessable id that 2025-11-25 names the elicitation by; 2026-07-28 does not see it.
    pub elicitation_id: String,
}

impl UrlElicitation {
    /// The parameters of `elicitation/create` under `revision`; `None` where it has no url mode
    /// (R-CAP-07). `elicitationId` goes out in 2025-11-25 only (R-URL-01).
    pub fn params(&self, revision: Revision) -> Option<Value> {
        if !revision.has_url_mode() {
            return None;
        }
        if revision.has_completion() {
            Some(self.with_id())
        } else {
            Some(json!({
                "mode": Mode::Url.as_str(),
                "url": self.url,
                "message": self.message,
            }))
        }
    }

    pub(super) fn with_id(&self) -> Value {
        json!({
            "mode": Mode::Url.as_str(),
            "elicitationId": self.elicitation_id,
            "url": self.url,
            "message": self.message,
        })
    }
}

/// The mode of an `elicitation/create` with these parameters (R-REQ-02): form where `mode` is
/// absent. Any other `mode` than `form` and `url` is an error, which the asker gets as
/// [`INVALID_PARAMS`](crate::INVALID_PARAMS); it is never taken for a form.
pub fn mode_of(params: Option<&str>) -> Result<Mode, WireError> {
    let Some(params) = params else {
        return Ok(Mode::Form);
    };
    let Some(mode) = RawObject::parse(params)?.get("mode") else {
        return Ok(Mode::Form);
    };
    match json::text(mode.get()).as_deref() {
        Some("form") => Ok(Mode::Form),
        Some("url") => Ok(Mode::Url),
        _ => Err(WireError::UnknownMode),
    }
}

/// The text of the notification that an interaction is complete (R-DONE-01). Only for a client of
/// a revision that [has it](Revision::has_completion).
pub fn complete_notice(elicitation_id: &str) -> String {
    json!({
        "jsonrpc": "2.0",
        "method": "notifications/elicitation/complete",
        "params": { "elicitationId": elicitation_id },
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elicitation() -> UrlElicitation {
        UrlElicitation {
            message: "Connect your weather account.".to_owned(),
            url: "https://usher.example/connect/abc".to_owned(),
            elicitation_id: "abc".to_owned(),
        }
    }

    /// R-REQ-01, R-URL-01: 2025-11-25 names the elicitation.
    #[test]
    fn a_legacy_url_question_carries_its_id() {
        insta::assert_snapshot!(
            elicitation().params(Revision::V2025_11_25).unwrap(),
            @r#"{"mode":"url","elicitationId":"abc","url":"https://usher.example/connect/abc","message":"Connect your weather account."}"#
        );
    }

    /// R-REQ-01, R-URL-01: 2026-07-28 has no `elicitationId`, not even an empty one.
    #[test]
    fn a_modern_url_question_carries_no_id() {
        insta::assert_snapshot!(
            elicitation().params(Revision::V2026_07_28).unwrap(),
            @r#"{"mode":"url","url":"https://usher.example/connect/abc","message":"Connect your weather account."}"#
        );
    }

    /// R-CAP-07: peers that know no url mode are not asked in it.
    #[test]
    fn older_revisions_have_no_url_question() {
        for revision in Revision::ALL {
            assert_eq!(elicitation().params(*revision).is_some(), revision.has_url_mode(), "{revision}");
        }
    }

    /// R-REQ-02: absent is form; anything but the two is refused, never taken for a form.
    #[test]
    fn the_mode_is_form_unless_it_says_url() {
        assert_eq!(mode_of(None), Ok(Mode::Form));
        let table = [
            ("{}", Ok(Mode::Form)),
            (r#"{"message":"m","requestedSchema":{}}"#, Ok(Mode::Form)),
            (r#"{"mode":"form"}"#, Ok(Mode::Form)),
            (r#"{"mode":"url"}"#, Ok(Mode::Url)),
            (r#"{"mode":"\u0075rl"}"#, Ok(Mode::Url)),
            (r#"{"mode":"URL"}"#, Err(WireError::UnknownMode)),
            (r#"{"mode":"voice"}"#, Err(WireError::UnknownMode)),
            (r#"{"mode":""}"#, Err(WireError::UnknownMode)),
            (r#"{"mode":null}"#, Err(WireError::UnknownMode)),
            (r#"{"mode":["form"]}"#, Err(WireError::UnknownMode)),
            (r#"{"mode":"form","mode":"url"}"#, Err(WireError::DuplicateKey)),
            ("[]", Err(WireError::NotObject)),
            ("{", Err(WireError::NotJson)),
        ];
        for (params, mode) in table {
            assert_eq!(mode_of(Some(params)), mode, "{params}");
        }
    }

    /// R-DONE-01
    #[test]
    fn the_completion_notice_names_the_elicitation() {
        insta::assert_snapshot!(
            complete_notice("a\"b"),
            @r#"{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"a\"b"}}"#
        );
    }
}
