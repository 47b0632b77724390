//! One question, in the words of each revision: read by whoever answers, written by whoever asks.

mod address;
mod error;
mod form;
mod mode;
mod question_error;
mod url;

pub use error::ElicitationError;
pub use form::FormElicitation;
pub use mode::mode_of;
pub use question_error::QuestionError;
pub use url::UrlElicitation;

use serde_json::value::RawValue;

use super::{RawObject, RequestId};
use crate::{ClientCapabilities, Mode, Modes, Revision};

/// One question of a server to a person: the parameters of an `elicitation/create`, which in the modern era is an entry
/// of `inputRequests`.
///
/// Whoever answers [reads](Self::parse) it; whoever asks builds a [`FormElicitation`] or a [`UrlElicitation`], from which
/// it is made, and [writes](Self::params_for) it for one client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Elicitation {
    /// Fields that the client shows.
    Form(FormElicitation),
    /// A page that the person visits.
    Url(UrlElicitation),
}

impl Elicitation {
    /// Reads the `params` of an `elicitation/create` as a peer of `revision` sent them (R-REQ-02). Fields that we do not
    /// know are kept (R-REQ-03). Without `mode` it is a form; any mode but the two is an error, never taken for a form,
    /// and 2025-06-18 has no url mode (R-CAP-07).
    ///
    /// Whether we declared its mode is asked by [`within`](Self::within); whether a form asks for secrets or a URL is
    /// dangerous, by other reviews.
    pub fn parse(params: &str, revision: Revision) -> Result<Self, ElicitationError> {
        if !revision.has_elicitation() {
            return Err(ElicitationError::NoElicitation(revision));
        }
        let object = RawObject::parse(params)?;
        match mode::of(&object)? {
            Mode::Form => FormElicitation::read(params, &object).map(Self::Form),
            Mode::Url if !revision.has_url_mode() => Err(ElicitationError::NoUrlMode(revision)),
            Mode::Url => UrlElicitation::read(params, &object, revision).map(Self::Url),
        }
    }

    /// The same question, if its mode is one of those that we declared (R-CAP-04).
    pub fn within(self, declared: Modes) -> Result<Self, ElicitationError> {
        let mode = self.mode();
        if declared.supports(mode) { Ok(self) } else { Err(ElicitationError::Undeclared(mode)) }
    }

    /// The mode that it is in.
    pub fn mode(&self) -> Mode {
        match self {
            Self::Form(_) => Mode::Form,
            Self::Url(_) => Mode::Url,
        }
    }

    /// Why the server asks, in its own words, which have to be cleaned before they are shown.
    pub fn message(&self) -> &str {
        match self {
            Self::Form(form) => form.message(),
            Self::Url(url) => url.message(),
        }
    }

    /// The parameters exactly as they came; `None` for a question that was built here.
    pub fn raw(&self) -> Option<&str> {
        match self {
            Self::Form(form) => form.raw(),
            Self::Url(url) => url.raw(),
        }
    }

    /// The parameters under `revision`, whoever they go to. For a client whose capabilities are known:
    /// [`params_for`](Self::params_for).
    pub fn params(&self, revision: Revision) -> Result<Box<RawValue>, QuestionError> {
        match self {
            Self::Form(form) => form.params(revision),
            Self::Url(url) => url.params(revision),
        }
    }

    /// The parameters for this client under `revision`, if it declared the mode (R-CAP-03): on its handshake in the legacy
    /// era, on this very request in the modern one.
    pub fn params_for(&self, client: &ClientCapabilities, revision: Revision) -> Result<Box<RawValue>, QuestionError> {
        let params = self.params(revision)?;
        let mode = self.mode();
        if client.modes(revision).supports(mode) { Ok(params) } else { Err(QuestionError::Undeclared(mode)) }
    }

    /// The whole JSON-RPC request that asks a legacy client, if it declared the mode (R-CAP-03). The modern era has no such
    /// request (R-ERR-03): there the question goes into a [`Round`](crate::Round).
    pub fn request(
        &self,
        id: &RequestId,
        client: &ClientCapabilities,
        revision: Revision,
    ) -> Result<String, QuestionError> {
        if revision.era() == crate::Era::Modern {
            return Err(QuestionError::NoRequest(revision));
        }
        let params = self.params_for(client, revision)?;
        Ok(format!(
            r#"{{"jsonrpc":"2.0","id":{},"method":"elicitation/create","params":{}}}"#,
            id.to_json(),
            params.get()
        ))
    }
}

impl From<FormElicitation> for Elicitation {
    fn from(form: FormElicitation) -> Self {
        Self::Form(form)
    }
}

impl From<UrlElicitation> for Elicitation {
    fn from(url: UrlElicitation) -> Self {
        Self::Url(url)
    }
}

#[cfg(test)]
mod tests;
