use std::fmt;

use serde_json::value::RawValue;
use url::Url;

use super::super::{MAX_ELICITATION_ID_BYTES, RawObject, WireError, optional_text, raw, text};
use super::{ElicitationError, QuestionError, address};
use crate::{Mode, Revision, json};

/// A question in url mode: why a page has to be visited, and which.
#[derive(Clone, PartialEq, Eq)]
pub struct UrlElicitation {
    message: String,
    url: String,
    id: Option<String>,
    /// The parameters as they came, where they did.
    raw: Option<Box<str>>,
}

impl UrlElicitation {
    /// Asks for a visit to `url`. The message says why (R-REQ-01). The URL is absolute, https, or http on a loopback host
    /// (R-URL-02), and one that no [review](crate::review) blocks, but for addresses and names of private networks: where
    /// a page of yours lives is your choice. It names no user, and no parameter of it looks like a credential (R-URL-03);
    /// that it carries none that does not look like one, and no personal data, is up to its maker.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Result<Self, QuestionError> {
        let (message, url) = (message.into(), url.into());
        if message.trim().is_empty() {
            return Err(QuestionError::BlankMessage);
        }
        address::check(&url)?;
        Ok(Self { message, url, id: None, raw: None })
    }

    /// The same question under the unguessable, unique id that 2025-11-25 knows it by (R-URL-01). Other revisions do not
    /// see it. At most [`MAX_ELICITATION_ID_BYTES`].
    pub fn with_id(self, id: impl Into<String>) -> Result<Self, QuestionError> {
        let id = id.into();
        if id.trim().is_empty() {
            return Err(QuestionError::NoId);
        }
        if id.len() > MAX_ELICITATION_ID_BYTES {
            return Err(WireError::TooLong("elicitationId").into());
        }
        Ok(Self { id: Some(id), ..self })
    }

    pub(in super::super) fn read(
        params: &str,
        object: &RawObject<'_>,
        revision: Revision,
    ) -> Result<Self, ElicitationError> {
        let message = text(object, "message")?;
        let url = text(object, "url")?;
        if Url::parse(&url).is_err() {
            return Err(ElicitationError::Url);
        }
        let id = if revision.has_completion() {
            let id = optional_text(object, "elicitationId").filter(|id| !id.is_empty());
            let id = id.ok_or(ElicitationError::NoId)?;
            if id.len() > MAX_ELICITATION_ID_BYTES {
                return Err(WireError::TooLong("elicitationId").into());
            }
            Some(id)
        } else {
            None
        };
        Ok(Self { message, url, id, raw: Some(params.into()) })
    }

    /// Why the server asks, in its own words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The URL as it was written. Not to be opened before a [review](crate::review) and the person's consent (R-URL-05).
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The id that 2025-11-25 knows the elicitation by; what 2026-07-28 sends under that name is ignored.
    pub fn id(&self) -> Option<&str> {
        self.id.as_deref()
    }

    /// The parameters exactly as they came; `None` for a question that was built here.
    pub fn raw(&self) -> Option<&str> {
        self.raw.as_deref()
    }

    /// The parameters of `elicitation/create` under `revision`. `elicitationId` goes out in 2025-11-25, which needs it, and
    /// in no other (R-URL-01). Fields that we do not know go along (R-REQ-03).
    pub fn params(&self, revision: Revision) -> Result<Box<RawValue>, QuestionError> {
        if !revision.has_elicitation() {
            return Err(QuestionError::NoElicitation(revision));
        }
        if !revision.has_url_mode() {
            return Err(QuestionError::NoUrlMode(revision));
        }
        let id = match &self.id {
            Some(id) if revision.has_completion() => Some(json::quote(id)),
            None if revision.has_completion() => return Err(QuestionError::NoId),
            _ => None,
        };
        if let Some(read) = self.raw.as_deref()
            && let Ok(mut object) = RawObject::parse(read)
        {
            match id {
                Some(_) if optional_text(&object, "elicitationId") == self.id => return Ok(raw(read.to_owned())?),
                Some(id) => object.set("elicitationId", id),
                None if object.remove("elicitationId") => {}
                None => return Ok(raw(read.to_owned())?),
            }
            return Ok(raw(object.to_json())?);
        }
        let id = id.map_or_else(String::new, |id| format!(r#""elicitationId":{id},"#));
        Ok(raw(format!(
            r#"{{"mode":"{}",{id}"url":{},"message":{}}}"#,
            Mode::Url.as_str(),
            json::quote(&self.url),
            json::quote(&self.message)
        ))?)
    }
}

/// That it is one: message and URL are between the server and the person.
impl fmt::Debug for UrlElicitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UrlElicitation").finish_non_exhaustive()
    }
}
