use super::super::{RawObject, WireError};
use crate::{Mode, json};

/// The mode of an `elicitation/create` with these parameters (R-REQ-02): form where `mode` is
/// absent. Any other `mode` than `form` and `url` is an error, which the asker gets as
/// [`INVALID_PARAMS`](crate::INVALID_PARAMS); it is never taken for a form. For the whole question:
/// [`Elicitation::parse`](crate::Elicitation::parse).
pub fn mode_of(params: Option<&str>) -> Result<Mode, WireError> {
    match params {
        Some(params) => of(&RawObject::parse(params)?),
        None => Ok(Mode::Form),
    }
}

pub(super) fn of(params: &RawObject<'_>) -> Result<Mode, WireError> {
    let Some(mode) = params.get("mode") else { return Ok(Mode::Form) };
    match json::text(mode.get()).as_deref() {
        Some("form") => Ok(Mode::Form),
        Some("url") => Ok(Mode::Url),
        _ => Err(WireError::UnknownMode),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
