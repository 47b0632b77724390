//! What people read on the pages, in one language or several.

use super::reader::Node;

/// A text in one or more languages. `"Weather"`, or `{ en = "Weather", "zh-CN" = "天气" }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// Language tag and text; the tag is empty for a text given without languages.
    versions: Vec<(String, String)>,
}

impl Text {
    /// The same text for every language.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { versions: vec![(String::new(), text.into())] }
    }

    /// The text for a language tag (`en`, `zh-CN`): that language, else another region of it, else
    /// English, else the first one given.
    pub fn get(&self, lang: &str) -> &str {
        self.version(lang).map_or("", |(_, text)| text)
    }

    /// The tag of the language of [`get`](Self::get), where it is known to be another than `lang`.
    pub fn other_language(&self, lang: &str) -> Option<&str> {
        let (tag, _) = self.version(lang)?;
        (!tag.is_empty() && !tag.eq_ignore_ascii_case(lang)).then_some(tag)
    }

    fn version(&self, lang: &str) -> Option<&(String, String)> {
        let primary = |tag: &str| tag.split('-').next().unwrap_or_default().to_ascii_lowercase();
        let find = |same: &dyn Fn(&str) -> bool| self.versions.iter().find(|(tag, _)| same(tag));
        find(&|tag| tag.eq_ignore_ascii_case(lang))
            .or_else(|| find(&|tag| primary(tag) == primary(lang)))
            .or_else(|| find(&|tag| primary(tag) == "en"))
            .or_else(|| self.versions.first())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::plain(text)
    }
}

/// Reads a text of at most 1000 characters.
pub(super) fn read(node: &Node<'_>) -> Option<Text> {
    const EXAMPLE: &str = "\"Weather\" or { en = \"Weather\", \"zh-CN\" = \"天气\" }";
    if !node.is_table() {
        return line(node, EXAMPLE).map(Text::from);
    }
    let entries = node.table(EXAMPLE)?.entries();
    if entries.is_empty() {
        node.fault("is empty", format!("for example {EXAMPLE}"));
    }
    let mut versions: Vec<(String, String)> = Vec::new();
    for (tag, node) in entries {
        if !is_tag(tag) {
            node.fault(format!("{tag:?} is no language tag"), "use tags such as en and \"zh-CN\"");
        } else if versions.iter().any(|(other, _)| other.eq_ignore_ascii_case(tag)) {
            node.fault("this language stands twice", "keep one of them");
        }
        if let Some(text) = line(&node, EXAMPLE) {
            versions.push((tag.to_owned(), text.to_owned()));
        }
    }
    (!versions.is_empty()).then_some(Text { versions })
}

fn line<'r>(node: &Node<'r>, example: &str) -> Option<&'r str> {
    let text = node.string(example)?;
    let (message, fix) = if text.trim().is_empty() {
        ("is empty", "write a text, or remove the key")
    } else if text.chars().any(|c| c.is_control() && c != '\n') {
        ("contains a control character", "remove it; only line breaks are allowed")
    } else if text.chars().count() > 1000 {
        ("is longer than 1000 characters", "shorten it")
    } else {
        return Some(text);
    };
    node.fault(message, fix);
    None
}

/// The shape of a BCP 47 tag: a language, then subtags.
fn is_tag(tag: &str) -> bool {
    let mut parts = tag.split('-');
    let language = parts.next().unwrap_or_default();
    (2..=3).contains(&language.len())
        && language.bytes().all(|byte| byte.is_ascii_alphabetic())
        && parts.all(|part| (1..=8).contains(&part.len()) && part.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(versions: &[(&str, &str)]) -> Text {
        let own = |(tag, text): &(&str, &str)| ((*tag).to_owned(), (*text).to_owned());
        Text { versions: versions.iter().map(own).collect() }
    }

    #[test]
    fn a_text_without_languages_serves_all() {
        assert_eq!(Text::from("Weather").get("zh-CN"), "Weather");
    }

    #[test]
    fn a_language_falls_back_to_its_relatives_then_to_english_then_to_the_first() {
        let both = text(&[("zh-CN", "天气"), ("en", "Weather")]);
        assert_eq!(both.get("zh-CN"), "天气");
        assert_eq!(both.get("ZH-cn"), "天气");
        assert_eq!(both.get("zh"), "天气");
        assert_eq!(both.get("en-GB"), "Weather");
        assert_eq!(both.get("fr"), "Weather");
        assert_eq!(text(&[("zh-CN", "天气"), ("de", "Wetter")]).get("fr"), "天气");
        assert_eq!(both.other_language("fr"), Some("en"));
        assert_eq!(both.other_language("ZH-cn"), None);
        assert_eq!(Text::from("Weather").other_language("zh-CN"), None, "nobody said which");
    }
}
