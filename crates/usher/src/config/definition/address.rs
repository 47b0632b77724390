//! URLs of a provider, in which placeholders stand for what differs: a host, a shop, a tenant (kind 15).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use crate::config::reader::Node;
use crate::config::target;
use crate::config::template::Template;

/// A URL, possibly with placeholders: `https://{shop}.myshop.example/token`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    template: Template,
    /// With `x` for each placeholder.
    sample: Url,
    text: String,
}

impl Address {
    /// A URL without placeholders.
    pub fn of(url: Url) -> Self {
        let text = url.as_str().to_owned();
        // What a URL prints has no braces: they are encoded in each of its parts, or the parser refuses them.
        let template = Template::literal(text.clone());
        Self { template, sample: url, text }
    }

    /// The same with its text as somebody wrote it, which counts where it is an issuer's.
    pub fn exact(url: Url, text: &str) -> Self {
        Self { template: Template::literal(text.to_owned()), sample: url, text: text.to_owned() }
    }

    /// The names of its placeholders.
    pub fn placeholders(&self) -> impl Iterator<Item = &str> {
        self.template.fields()
    }

    /// Whether the value of this placeholder decides whose host it is: no domain of two labels or more is behind it.
    pub(super) fn is_led_by(&self, name: &str) -> bool {
        let with = |value: &str| {
            let values =
                self.placeholders().map(|other| (other.to_owned(), if other == name { value } else { "x" }.to_owned()));
            Url::parse(&self.text(&values.collect())?).ok()
        };
        let (Some(one), Some(other)) = (with("a"), with("b")) else { return true };
        let (Some(one), Some(other)) = (one.host_str(), other.host_str()) else { return true };
        // What both end in, from a dot on.
        let behind = one.split_once('.').map_or("", |(_, behind)| behind);
        one != other && !(behind.contains('.') && other.split_once('.').is_some_and(|(_, same)| same == behind))
    }

    /// The text as it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// With these values in place, as text: for what is compared byte by byte.
    pub fn text(&self, values: &BTreeMap<String, String>) -> Option<String> {
        // Nothing in the place of a host would make a host of what follows.
        if self.placeholders().any(|name| values.get(name).is_none_or(String::is_empty)) {
            return None;
        }
        let values = values.iter().map(|(name, value)| (name.clone(), SecretString::from(encode(value)))).collect();
        Some(self.template.render(&values)?.expose_secret().to_owned())
    }

    /// With these values in place. `None` where one is missing, or where one would lead elsewhere than its place allows.
    pub fn fill(&self, values: &BTreeMap<String, String>) -> Option<Url> {
        let url = Url::parse(&self.text(values)?).ok()?;
        let same = url.scheme() == self.sample.scheme()
            && url.username().is_empty()
            && url.password().is_none()
            && url.fragment().is_none()
            && url.path_segments().map(Iterator::count) == self.sample.path_segments().map(Iterator::count);
        same.then_some(url)
    }
}

/// What a value is in a URL: nothing in it ends the part that it stands in. A colon may precede a port.
fn encode(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':') {
            text.push(byte.into());
        } else {
            // Writing into a string cannot fail.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text
}

/// Reads the address of an endpoint: https, or http on loopback and in private networks.
pub(super) fn read(node: &Node<'_>, example: &str) -> Option<Address> {
    let text = node.string(example)?;
    let fault = |message: String, fix: String| {
        node.fault(message, fix);
        None
    };
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(error) => return fault(error.to_string(), format!("for example {example}")),
    };
    let values = template.fields().map(|name| (name.to_owned(), SecretString::from("x"))).collect();
    let sample = target::check(node, template.render(&values)?.expose_secret())?;
    Some(Address { template, sample, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Address {
        let template = Template::parse(text).unwrap();
        let values = template.fields().map(|name| (name.to_owned(), SecretString::from("x"))).collect();
        let sample = Url::parse(template.render(&values).unwrap().expose_secret()).unwrap();
        Address { template, sample, text: text.to_owned() }
    }

    fn filled(text: &str, value: &str) -> Option<String> {
        let values = BTreeMap::from([("host".to_owned(), value.to_owned())]);
        address(text).fill(&values).map(Into::into)
    }

    /// Kind 15, R-SEC-05: a value stays in its place.
    #[test]
    fn kind_15_a_value_cannot_become_another_part_of_the_url() {
        assert_eq!(filled("https://{host}.shop.example/t", "acme").unwrap(), "https://acme.shop.example/t");
        assert_eq!(filled("https://{host}/t", "acme.example:8443").unwrap(), "https://acme.example:8443/t");
        assert_eq!(filled("https://id.example/{host}/t", "a:b").unwrap(), "https://id.example/a:b/t");
        for (text, value) in [
            ("https://{host}.shop.example/t", "evil.example/"),
            ("https://{host}.shop.example/t", "evil.example#"),
            ("https://{host}.shop.example/t", "evil.example?"),
            ("https://{host}.shop.example/t", "evil.example\\"),
            ("https://{host}.shop.example/t", "user@evil"),
            ("https://{host}/t", "user:pw@evil.example"),
            ("https://{host}/t", ""),
            ("https://id.example/{host}/t", ".."),
        ] {
            assert_eq!(filled(text, value), None, "{text} {value}");
        }
        assert_eq!(filled("https://id.example/{host}/t", "a/../b").unwrap(), "https://id.example/a%2F..%2Fb/t");
        assert_eq!(filled("https://id.example/{host}/t", "a?b#c").unwrap(), "https://id.example/a%3Fb%23c/t");
        assert_eq!(address("https://{host}/t").fill(&BTreeMap::new()), None);
    }

    /// Kind 15: whoever decides the domain decides who gets what is sent there.
    #[test]
    fn kind_15_it_is_known_whose_host_a_value_decides() {
        for (text, led) in [
            ("https://{host}/t", true),
            ("https://{host}.example/t", true),
            ("https://id.{host}/t", true),
            ("https://id.{host}.shop.example/t", true),
            ("https://{host}.shop.example/t", false),
            ("https://{host}-eu.shop.example/t", false),
            ("https://id.example/{host}/t", false),
        ] {
            assert_eq!(address(text).is_led_by("host"), led, "{text}");
        }
    }
}
