//! A request to an endpoint of an authorization server, in the way that it wants (kinds 3, 4, 8, 10 and 12).

use http::{HeaderName, HeaderValue, header};
use serde_json::{Map, Value};
use url::{Url, form_urlencoded};

use super::Client;
use crate::config::Template;
use crate::config::definition::{Method, Sent};

/// What is sent.
pub(super) struct Outgoing {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) sent: Sent,
    pub(super) parameters: Vec<(String, String)>,
    pub(super) headers: Vec<(HeaderName, HeaderValue)>,
}

impl Outgoing {
    /// Adds what says who we are; `id` is what the parameter of the client's id is called.
    pub(super) fn with_client(mut self, client: &Client, id: &str) -> Self {
        self.parameters.extend(client.parameters(id));
        self.headers.extend(client.basic().map(|value| (header::AUTHORIZATION, value)));
        self
    }

    /// Adds headers in which no field stands.
    pub(super) fn with_headers(mut self, headers: &[(HeaderName, Template)]) -> Self {
        let fields = std::collections::BTreeMap::new();
        let value =
            |(name, template): &(HeaderName, Template)| Some((name.clone(), template.header_value(&fields).ok()?));
        self.headers.extend(headers.iter().filter_map(value));
        self
    }

    pub(super) fn build(self, http: &reqwest::Client) -> reqwest::RequestBuilder {
        let Self { method, mut url, sent, parameters, headers } = self;
        // A GET has no body.
        let sent = if method == Method::Get { Sent::Query } else { sent };
        if sent == Sent::Query && !parameters.is_empty() {
            url.query_pairs_mut().extend_pairs(&parameters);
        }
        let method = match method {
            Method::Post => http::Method::POST,
            Method::Get => http::Method::GET,
            Method::Delete => http::Method::DELETE,
        };
        let mut request = http.request(method, url).header(header::ACCEPT, "application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        match sent {
            Sent::Query => request,
            // Some refuse a body's media type where there is nothing to say in it.
            _ if parameters.is_empty() => request,
            Sent::Form => request
                .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(form_urlencoded::Serializer::new(String::new()).extend_pairs(&parameters).finish()),
            Sent::Json => {
                let object: Map<String, Value> =
                    parameters.into_iter().map(|(name, value)| (name, Value::String(value))).collect();
                request.header(header::CONTENT_TYPE, "application/json").body(Value::Object(object).to_string())
            }
        }
    }
}

/// Adds parameters of a definition, each once: one that stands there already is not said again.
pub(super) fn add(parameters: &mut Vec<(String, String)>, more: &[(String, String)]) {
    for (name, value) in more {
        if !parameters.iter().any(|(known, _)| known == name) {
            parameters.push((name.clone(), value.clone()));
        }
    }
}
