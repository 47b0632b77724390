//! Fields of forms, queries and JSON bodies, as OAuth reads them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header;
use serde_json::Value;

use crate::Recorded;

/// Fields in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    pub(crate) fn of_query(request: &Recorded) -> Self {
        Self::parse(request.path.split_once('?').map_or("", |(_, query)| query))
    }

    /// The fields of a form; none where the body is something else.
    pub(crate) fn of_body(request: &Recorded) -> Self {
        let form = has_kind(request, "application/x-www-form-urlencoded");
        Self::parse(if form { std::str::from_utf8(&request.body).unwrap_or_default() } else { "" })
    }

    /// The members of a JSON object, numbers and flags as text; none where the body is something else.
    pub(crate) fn of_json(request: &Recorded) -> Self {
        let parsed = has_kind(request, "application/json").then(|| serde_json::from_slice::<Value>(&request.body));
        let Some(Ok(Value::Object(members))) = parsed else { return Self::default() };
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Self(members.into_iter().map(|(name, value)| (name, text(value))).collect())
    }

    pub(crate) fn parse(text: &str) -> Self {
        let url = reqwest::Url::parse(&format!("http://form.example/?{text}")).expect("any query will do");
        Self(url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// The value that stands once; what stands twice counts as missing (RFC 6749, section 3.1).
    pub(crate) fn one(&self, name: &str) -> Option<String> {
        let mut values = self.0.iter().filter(|(key, _)| key == name);
        let (_, value) = values.next()?;
        values.next().is_none().then(|| value.clone())
    }

    /// Whether a field stands there, however often.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// The first name that stands more than once. `resource` may (RFC 8707, section 2).
    pub(crate) fn twice(&self) -> Option<&str> {
        let again = |(place, (name, _)): &(usize, &(String, String))| {
            name != "resource" && self.0[..*place].iter().any(|(earlier, _)| earlier == name)
        };
        self.0.iter().enumerate().find(again).map(|(_, (name, _))| name.as_str())
    }
}

/// Whether the body says that it is of this kind.
pub(crate) fn has_kind(request: &Recorded, kind: &str) -> bool {
    let sent = request.headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    sent.is_some_and(|value| value.starts_with(kind))
}

/// `Basic`, with both parts as in a form (RFC 6749, section 2.3.1).
pub(crate) fn basic(header: &str) -> Option<(String, String)> {
    let (id, secret) = basic_plain(header)?;
    let plain = |part: &str| Fields::parse(&format!("x={part}")).one("x");
    Some((plain(&id)?, plain(&secret)?))
}

/// `Basic`, with both parts as they stand (RFC 7617).
pub(crate) fn basic_plain(header: &str) -> Option<(String, String)> {
    let text = String::from_utf8(STANDARD.decode(header.strip_prefix("Basic ")?).ok()?).ok()?;
    let (id, secret) = text.split_once(':')?;
    Some((id.to_owned(), secret.to_owned()))
}
