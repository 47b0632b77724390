use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use super::super::{RawObject, WireError, raw, text};
use super::{ElicitationError, QuestionError};
use crate::text::links;
use crate::{Form, Mode, Revision, json};

/// A question in form mode: why it is asked, and the fields.
#[derive(Clone, PartialEq, Eq)]
pub struct FormElicitation {
    message: String,
    form: Form,
    /// The parameters as they came, where they did.
    raw: Option<Box<str>>,
}

impl FormElicitation {
    /// Asks for the answers to `form`. The message says why (R-REQ-01) and holds no URL (R-FORM-08).
    pub fn new(message: impl Into<String>, form: Form) -> Result<Self, QuestionError> {
        let message = message.into();
        if message.trim().is_empty() {
            return Err(QuestionError::BlankMessage);
        }
        if let Some(link) = links(&message).next() {
            return Err(QuestionError::Link(link.to_owned()));
        }
        Ok(Self { message, form, raw: None })
    }

    pub(super) fn read(params: &str, object: &RawObject<'_>) -> Result<Self, ElicitationError> {
        let message = text(object, "message")?;
        let schema = object.get("requestedSchema").ok_or(WireError::Missing("requestedSchema"))?;
        let form = Form::parse(schema.get())?;
        Ok(Self { message, form, raw: Some(params.into()) })
    }

    /// Why the server asks, in its own words.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What is asked.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The parameters exactly as they came; `None` for a question that was built here.
    pub fn raw(&self) -> Option<&str> {
        self.raw.as_deref()
    }

    /// The parameters of `elicitation/create` under `revision`: the schema in its exact text, as far as the revision has
    /// words for it, and `mode` only where the revision has it (R-CAP-07). Fields that we do not know go along (R-REQ-03).
    pub fn params(&self, revision: Revision) -> Result<Box<RawValue>, QuestionError> {
        let schema = self.form.for_revision(revision)?;
        if let Some(read) = self.raw.as_deref()
            && let Ok(mut object) = RawObject::parse(read)
        {
            let drops_mode = !revision.has_url_mode() && object.remove("mode");
            if let Cow::Owned(schema) = schema {
                object.set("requestedSchema", schema);
            } else if !drops_mode {
                return Ok(raw(read.to_owned())?);
            }
            return Ok(raw(object.to_json())?);
        }
        let mode =
            if revision.has_url_mode() { format!(r#""mode":"{}","#, Mode::Form.as_str()) } else { String::new() };
        Ok(raw(format!(r#"{{{mode}"message":{},"requestedSchema":{schema}}}"#, json::quote(&self.message)))?)
    }
}

/// The fields' names: the message is between the server and the person.
impl fmt::Debug for FormElicitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FormElicitation").field("form", &self.form).finish_non_exhaustive()
    }
}
