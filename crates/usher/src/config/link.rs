//! URLs with placeholders: a page that people are sent to, and the request that asks what became of it.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret as _, SecretString};
use url::{Url, form_urlencoded};

use super::field::is_link;
use super::reader::Node;
use super::target;
use super::template::Template;

/// What tells one visit from another, on both sides: the id of its interaction.
pub(crate) const REFERENCE: &str = "reference";
/// Where the other side sends the browser back to.
pub(crate) const RETURN_URL: &str = "return_url";

/// A URL in which placeholders stand for what differs from visit to visit. None of them stands in its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    template: Template,
    sample: Url,
}

impl Link {
    /// The origin of every URL that it makes.
    pub fn origin(&self) -> String {
        self.sample.origin().ascii_serialization()
    }

    /// The same with a placeholder filled in, to look at: its host is that of every URL.
    pub fn sample(&self) -> &Url {
        &self.sample
    }

    /// The URL with these values, each encoded so that it stays what it is. `None` where a placeholder has no value.
    pub fn fill(&self, values: &[(&str, &str)]) -> Option<Url> {
        let text = self.template.render(&encoded(values))?;
        Url::parse(text.expose_secret()).ok()
    }
}

fn encoded(values: &[(&str, &str)]) -> BTreeMap<String, SecretString> {
    let encode = |value: &str| form_urlencoded::byte_serialize(value.as_bytes()).collect::<String>();
    values.iter().map(|(name, value)| ((*name).to_owned(), SecretString::from(encode(value)))).collect()
}

/// Reads the address of a page: https, or http on loopback, with `{reference}` and possibly `{return_url}`.
pub(super) fn read_page(node: &Node<'_>) -> Option<Link> {
    const EXAMPLE: &str = "\"https://pay.example/checkout?order={reference}&back={return_url}\"";
    read(node, EXAMPLE, &[REFERENCE, RETURN_URL], |node, text| {
        let url = Url::parse(text).ok().filter(is_link);
        if url.is_none() {
            node.fault("is no https URL", format!("write it in full, for example {EXAMPLE}"));
        }
        url
    })
}

/// Reads the address of a request of ours, with `{reference}`.
pub(super) fn read_request(node: &Node<'_>) -> Option<Link> {
    read(node, "\"https://pay.example/api/orders/{reference}\"", &[REFERENCE], target::check)
}

fn read(
    node: &Node<'_>,
    example: &str,
    known: &[&str],
    check: impl Fn(&Node<'_>, &str) -> Option<Url>,
) -> Option<Link> {
    let text = node.string(example)?;
    let fault = |message: String| {
        node.fault(message, format!("for example {example}"));
        None
    };
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(error) => return fault(error.to_string()),
    };
    if let Some(unknown) = template.fields().find(|field| !known.contains(field)) {
        return fault(format!("there is no placeholder {{{unknown}}} here"));
    }
    if !template.fields().any(|field| field == REFERENCE) {
        return fault("lacks {reference}, by which the other side knows the visit".to_owned());
    }
    let with = |value: &str| {
        let values: Vec<_> = known.iter().map(|name| (*name, value)).collect();
        template.render(&encoded(&values))
    };
    let (one, other) = (with("a")?, with("b")?);
    let sample = check(node, one.expose_secret())?;
    let moves = Url::parse(other.expose_secret()).map_or(true, |other| other.origin() != sample.origin());
    if moves {
        return fault("a placeholder stands in the host".to_owned());
    }
    Some(Link { template, sample })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands for a placeholder cannot become another part of the URL.
    #[test]
    fn values_stay_what_they_are() {
        let template = Template::parse("https://pay.example/o/{reference}?back={return_url}&x=1").unwrap();
        let link = Link { template, sample: Url::parse("https://pay.example/o/a").unwrap() };
        let url = link.fill(&[("reference", "a/../b?c"), ("return_url", "http://u.example/r?t=1&x=2#y")]).unwrap();
        assert_eq!(
            url.as_str(),
            "https://pay.example/o/a%2F..%2Fb%3Fc?back=http%3A%2F%2Fu.example%2Fr%3Ft%3D1%26x%3D2%23y&x=1"
        );
        assert!(link.fill(&[("reference", "a")]).is_none());
        assert_eq!(link.origin(), "https://pay.example");
    }
}
