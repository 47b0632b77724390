use crate::{Era, quote};

/// What a script asks the client, as the era wants it: requests on a stream and their responses, or
/// an `input_required` result and a retry.
#[derive(Clone, Debug, Default)]
pub struct Question {
    pub(crate) asks: Vec<Ask>,
    pub(crate) stateless: bool,
    pub(crate) on_get: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Ask {
    pub(crate) key: String,
    pub(crate) method: String,
    params: String,
    legacy_params: Option<String>,
}

impl Ask {
    pub(crate) fn params(&self, era: Era) -> &str {
        match (era, &self.legacy_params) {
            (Era::Legacy, Some(params)) => params,
            _ => &self.params,
        }
    }
}

impl Question {
    /// A form: `schema` is JSON text.
    pub fn form(key: &str, message: &str, schema: &str) -> Self {
        Self::default().and_form(key, message, schema)
    }

    /// A visit to a page. Its legacy `elicitationId` is `{key}-elicitation`.
    pub fn url(key: &str, message: &str, url: &str) -> Self {
        Self::default().and_url(key, message, url)
    }

    /// Any request, such as `sampling/createMessage`, `roots/list`, or an elicitation that is wrong; `params` is
    /// JSON text, used in both eras.
    pub fn request(key: &str, method: &str, params: &str) -> Self {
        Self::default().and_request(key, method, params)
    }

    /// No request at all: in the modern era only a state, with which the client comes back at once; in the legacy
    /// era nothing.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// A further form in the same round.
    pub fn and_form(self, key: &str, message: &str, schema: &str) -> Self {
        let message = quote(message);
        let params = format!(r#"{{"mode":"form","message":{message},"requestedSchema":{schema}}}"#);
        self.and_request(key, "elicitation/create", &params)
    }

    /// A further page in the same round.
    pub fn and_url(self, key: &str, message: &str, url: &str) -> Self {
        let (message, url) = (quote(message), quote(url));
        let id = quote(&format!("{key}-elicitation"));
        let mut question = self.and_request(
            key,
            "elicitation/create",
            &format!(r#"{{"mode":"url","message":{message},"url":{url}}}"#),
        );
        if let Some(ask) = question.asks.last_mut() {
            ask.legacy_params =
                Some(format!(r#"{{"mode":"url","message":{message},"url":{url},"elicitationId":{id}}}"#));
        }
        question
    }

    /// A further request in the same round.
    pub fn and_request(mut self, key: &str, method: &str, params: &str) -> Self {
        self.asks.push(Ask {
            key: key.to_owned(),
            method: method.to_owned(),
            params: params.to_owned(),
            legacy_params: None,
        });
        self
    }

    /// Sends no `requestState` along (modern).
    pub fn without_state(mut self) -> Self {
        self.stateless = true;
        self
    }

    /// Sends the request on the GET stream instead of the stream of the call (legacy; a fault of servers that
    /// exists).
    pub fn on_get_stream(mut self) -> Self {
        self.on_get = true;
        self
    }

    /// `inputRequests` as JSON text.
    pub(crate) fn input_requests(&self) -> String {
        let member = |ask: &Ask| {
            let (key, method) = (quote(&ask.key), quote(&ask.method));
            format!(r#"{key}:{{"method":{method},"params":{}}}"#, ask.params(Era::Modern))
        };
        format!("{{{}}}", self.asks.iter().map(member).collect::<Vec<_>>().join(","))
    }
}
