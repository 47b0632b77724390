//! The words of the pages in each language, and the one function that puts values into sentences with markup.

use std::{collections::BTreeMap, fmt, sync::LazyLock};

use askama::filters::HtmlSafe;
use jiff::{Timestamp, tz::Offset};

use super::language::Language;
use crate::config::Text;

/// What the first token is called that Usher makes, of which nobody chose the name.
const FIRST_TOKEN: &str = "default";

/// The only markup in sentences.
const MARKS: [&str; 4] = ["<strong>", "</strong>", "<code>", "</code>"];

type Sentences = BTreeMap<String, String>;

static ENGLISH: LazyLock<Sentences> = LazyLock::new(|| read(include_str!("../../locales/en.toml")));
static CHINESE: LazyLock<Sentences> = LazyLock::new(|| read(include_str!("../../locales/zh-CN.toml")));

/// Reads `[section]` and `key = "sentence"` into `section.key`.
fn read(text: &str) -> Sentences {
    #[allow(clippy::expect_used, reason = "the text is embedded, and a test reads it")]
    let sections: BTreeMap<String, Sentences> = toml::from_str(text).expect("the embedded sentences are TOML");
    sections
        .into_iter()
        .flat_map(|(section, sentences)| {
            sentences.into_iter().map(move |(key, sentence)| (format!("{section}.{key}"), sentence))
        })
        .collect()
}

/// HTML that needs no escaping any more. Made only here, from escaped parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Html(String);

impl fmt::Display for Html {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Html {}

impl Html {
    /// Plain text, escaped.
    pub(crate) fn text(text: &str) -> Self {
        let mut html = String::new();
        escape(&mut html, text);
        Self(html)
    }

    /// Text of the operator's, which may be in another language than the page.
    pub(crate) fn said(said: Said<'_>) -> Self {
        let mut html = String::new();
        said.push(&mut html, "span");
        Self(html)
    }

    /// An element of ours around `inner`. Name and class are fixed texts.
    pub(crate) fn element(name: &'static str, class: Option<&'static str>, inner: &Self) -> Self {
        let class = class.map_or_else(String::new, |class| format!(" class=\"{class}\""));
        Self(format!("<{name}{class}>{}</{name}>", inner.0))
    }

    /// One after the other.
    pub(crate) fn joined(parts: impl IntoIterator<Item = Self>) -> Self {
        Self(parts.into_iter().map(|part| part.0).collect())
    }

    /// A list, one line each.
    pub(crate) fn list(items: impl IntoIterator<Item = Self>) -> Self {
        let mut html = String::from("<ul class=\"lines\">");
        for item in items {
            html.push_str("<li>");
            html.push_str(&item.0);
            html.push_str("</li>");
        }
        html.push_str("</ul>");
        Self(html)
    }
}

/// A value that is put into a sentence, and its language where that is known to be another than the page's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Said<'a> {
    text: &'a str,
    language: Option<&'a str>,
}

impl<'a> From<&'a str> for Said<'a> {
    fn from(text: &'a str) -> Self {
        Self { text, language: None }
    }
}

impl<'a> From<&'a String> for Said<'a> {
    fn from(text: &'a String) -> Self {
        text.as_str().into()
    }
}

impl<'a> Said<'a> {
    /// The operator's text for a page in `language`.
    pub(crate) fn of(text: &'a Text, language: Language) -> Self {
        Self { text: text.get(language.code()), language: text.other_language(language.code()) }
    }

    /// The text alone.
    pub(crate) fn text(self) -> &'a str {
        self.text
    }

    /// The text in `element`, with its language.
    fn push(self, html: &mut String, element: &str) {
        html.push('<');
        html.push_str(element);
        if let Some(language) = self.language {
            html.push_str(" lang=\"");
            escape(html, language);
            html.push('"');
        }
        html.push('>');
        escape(html, self.text);
        html.push_str("</");
        html.push_str(element);
        html.push('>');
    }
}

/// The sentences of one language.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Words {
    language: Language,
}

impl Words {
    /// The sentences of `language`.
    pub(crate) fn of(language: Language) -> Self {
        Self { language }
    }

    /// Which language these are in.
    pub(crate) fn language(self) -> Language {
        self.language
    }

    /// A sentence without markup and without values. An unknown key is a mistake of ours that a test finds; a person
    /// then reads the key.
    pub(crate) fn text(self, key: &'static str) -> &'static str {
        let sentences = match self.language {
            Language::English => &*ENGLISH,
            Language::Chinese => &*CHINESE,
        };
        sentences.get(key).map_or(key, String::as_str)
    }

    /// A sentence without markup, with values put in for `{name}`. Not escaped: a template does that.
    pub(crate) fn say(self, key: &'static str, values: &[(&str, &str)]) -> String {
        let mut sentence = String::new();
        for part in self.filled(key, values) {
            match part {
                Part::Value(said) => sentence.push_str(said.text),
                Part::Literal(text) => sentence.push_str(text),
                Part::Mark(_) => {}
            }
        }
        sentence
    }

    /// What a sentence calls the app with the token `name`: its name, or that it is the one with the first token.
    pub(crate) fn app(self, name: &str) -> &str {
        if name == FIRST_TOKEN { self.text("common.app_default") } else { name }
    }

    /// The same at the beginning of a sentence.
    pub(crate) fn app_first(self, name: &str) -> &str {
        if name == FIRST_TOKEN { self.text("common.app_default_first") } else { name }
    }

    /// A title for a page that shares its heading with others.
    pub(crate) fn titled(self, heading: &str, name: &str) -> String {
        self.say("common.titled", &[("heading", heading), ("name", name)])
    }

    /// A sentence whose only markup is `<strong>` and `<code>`, with values put in for `{name}`. Everything else is escaped.
    pub(crate) fn rich<'a, V: Copy + Into<Said<'a>>>(self, key: &'static str, values: &[(&str, V)]) -> Html {
        let mut html = String::new();
        for part in self.filled(key, values) {
            match part {
                // A value keeps its own direction of writing and cannot turn the rest of the sentence around.
                Part::Value(said) => said.push(&mut html, "bdi"),
                Part::Literal(text) => escape(&mut html, text),
                Part::Mark(mark) => html.push_str(mark),
            }
        }
        Html(html)
    }

    /// A sentence that holds one moment, relative, for `{when}`: `This closes <time …>in 5 minutes</time>.`
    pub(crate) fn with_time(self, key: &'static str, moment: Timestamp, now: Timestamp) -> Html {
        let mut html = String::new();
        for part in parts(self.text(key)) {
            match part {
                Part::Value(_) => html.push_str(&self.time(moment, now).0),
                Part::Literal(text) => escape(&mut html, text),
                Part::Mark(mark) => html.push_str(mark),
            }
        }
        Html(html)
    }

    /// The parts of a sentence with the values in place. Chinese has a space beside a Latin word, none beside a Chinese
    /// one; the sentences are written with the space, and lose it here beside a Chinese value.
    fn filled<'a, V: Copy + Into<Said<'a>>>(self, key: &'static str, values: &[(&str, V)]) -> Vec<Part<'a>> {
        let mut filled: Vec<Part<'a>> = parts(self.text(key))
            .map(|part| match part {
                Part::Value(name) => Part::Value(value(values, name.text)),
                Part::Literal(text) => Part::Literal(text),
                Part::Mark(mark) => Part::Mark(mark),
            })
            .collect();
        if self.language == Language::Chinese {
            for at in 0..filled.len() {
                let Part::Value(value) = filled[at] else { continue };
                if value.text.starts_with(han)
                    && let Some(Part::Literal(before)) = filled[..at].iter_mut().rfind(|part| part.is_text())
                {
                    *before = before.strip_suffix(' ').unwrap_or(before);
                }
                if value.text.ends_with(han)
                    && let Some(Part::Literal(after)) = filled[at + 1..].iter_mut().find(|part| part.is_text())
                {
                    *after = after.strip_prefix(' ').unwrap_or(after);
                }
            }
        }
        filled
    }

    /// A moment relative to now, with the exact time on hover and for screen readers.
    pub(crate) fn time(self, moment: Timestamp, now: Timestamp) -> Html {
        let exact = self.exact(moment);
        let mut html = String::new();
        html.push_str("<time datetime=\"");
        escape(&mut html, &moment.to_string());
        html.push_str("\" title=\"");
        escape(&mut html, &exact);
        html.push_str("\">");
        escape(&mut html, &self.relative(moment, now));
        html.push_str("<span class=\"unseen\"> (");
        escape(&mut html, &exact);
        html.push_str(")</span></time>");
        Html(html)
    }

    fn relative(self, moment: Timestamp, now: Timestamp) -> String {
        let seconds = now.as_second() - moment.as_second();
        let minutes = seconds.abs() / 60;
        let (key, n) = match (seconds >= 0, minutes) {
            (true, 0) => ("time.now", 0),
            (true, 1) => ("time.minute", 1),
            (true, 2..60) => ("time.minutes", minutes),
            (true, 60..120) => ("time.hour", 1),
            (true, 120..1440) => ("time.hours", minutes / 60),
            (true, 1440..2880) => ("time.day", 1),
            (true, _) => ("time.days", minutes / 1440),
            (false, 0) => ("time.soon", 0),
            (false, 1) => ("time.in_minute", 1),
            (false, 2..60) => ("time.in_minutes", minutes),
            (false, 60..120) => ("time.in_hour", 1),
            (false, 120..1440) => ("time.in_hours", minutes / 60),
            (false, 1440..2880) => ("time.in_day", 1),
            (false, _) => ("time.in_days", minutes / 1440),
        };
        self.say(key, &[("n", &n.to_string())])
    }

    fn exact(self, moment: Timestamp) -> String {
        let moment = Offset::UTC.to_datetime(moment);
        let two = |number: i8| format!("{number:02}");
        self.say(
            "time.exact",
            &[
                ("year", &moment.year().to_string()),
                ("month", &two(moment.month())),
                ("day", &two(moment.day())),
                ("hour", &two(moment.hour())),
                ("minute", &two(moment.minute())),
            ],
        )
    }

    /// `a`, `a and b`, `a, b and c`.
    pub(crate) fn list(self, items: &[String]) -> String {
        match items {
            [] => String::new(),
            [only] => only.clone(),
            [first @ .., last] => first.join(self.text("common.comma")) + self.text("common.and") + last,
        }
    }
}

/// A piece of a sentence: text, a value or its name, or a piece of markup.
#[derive(Clone, Copy)]
enum Part<'a> {
    Literal(&'a str),
    Value(Said<'a>),
    Mark(&'a str),
}

impl Part<'_> {
    fn is_text(&self) -> bool {
        !matches!(self, Self::Mark(_))
    }
}

fn han(character: char) -> bool {
    ('\u{3400}'..='\u{9fff}').contains(&character)
}

/// Splits a sentence at `{name}` and at markup.
fn parts(sentence: &str) -> impl Iterator<Item = Part<'_>> {
    let mut rest = sentence;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        for mark in MARKS {
            if let Some(after) = rest.strip_prefix(mark) {
                let found = &rest[..mark.len()];
                rest = after;
                return Some(Part::Mark(found));
            }
        }
        if let Some((name, after)) = rest.strip_prefix('{').and_then(|inner| inner.split_once('}')) {
            rest = after;
            return Some(Part::Value(name.into()));
        }
        // At least one character, so that a lone `<` or `{` is text.
        let first = rest.chars().next().map_or(0, char::len_utf8);
        let end = rest[first..].find(['<', '{']).map_or(rest.len(), |at| first + at);
        let (literal, after) = rest.split_at(end);
        rest = after;
        Some(Part::Literal(literal))
    })
}

fn value<'a, V: Copy + Into<Said<'a>>>(values: &[(&str, V)], name: &str) -> Said<'a> {
    values.iter().find(|(known, _)| *known == name).map_or("".into(), |(_, value)| (*value).into())
}

fn escape(html: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            other => html.push(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const EN: Words = Words { language: Language::English };
    const ZH: Words = Words { language: Language::Chinese };

    fn shape(sentence: &str) -> BTreeSet<String> {
        parts(sentence)
            .filter_map(|part| match part {
                Part::Value(name) => Some(format!("{{{}}}", name.text)),
                Part::Mark(mark) => Some(mark.to_owned()),
                Part::Literal(_) => None,
            })
            .collect()
    }

    #[test]
    fn both_languages_have_the_same_sentences_with_the_same_placeholders() {
        assert_eq!(ENGLISH.keys().collect::<Vec<_>>(), CHINESE.keys().collect::<Vec<_>>());
        for (key, english) in &*ENGLISH {
            assert_eq!(shape(english), shape(&CHINESE[key]), "{key}");
            for (begin, end) in [(MARKS[0], MARKS[1]), (MARKS[2], MARKS[3])] {
                assert_eq!(english.matches(begin).count(), english.matches(end).count(), "{key}");
            }
            assert!(!CHINESE[key].is_empty() && !english.is_empty(), "{key}");
        }
    }

    #[test]
    fn chinese_has_a_space_beside_latin_words_and_full_width_punctuation() {
        for (key, sentence) in &*CHINESE {
            let text = MARKS.iter().fold(sentence.clone(), |text, mark| text.replace(mark, ""));
            let characters = text.chars().collect::<Vec<_>>();
            for pair in characters.windows(2) {
                let latin = |c: char| c.is_ascii_alphanumeric();
                assert!(!(han(pair[0]) && latin(pair[1]) || latin(pair[0]) && han(pair[1])), "{key}: {pair:?}");
                assert!(!(han(pair[0]) && ",.;:!?()".contains(pair[1])), "{key}: {pair:?}");
            }
        }
    }

    /// R-OAUTH-03, R-SEC-02: a name cannot change the page that shows it.
    #[test]
    fn hostile_values_are_escaped_and_kept_apart() {
        let values = [("Client", "<script>alert('x')</script>"), ("server", "{client} \"&"), ("what", "</strong>")];
        assert_eq!(
            EN.rich("connect.lead", &values).to_string(),
            "<strong><bdi>&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;</bdi></strong> wants to use \
             <strong><bdi>{client} &quot;&amp;</bdi></strong> for you. It needs your <bdi>&lt;/strong&gt;</bdi>."
        );
    }

    /// WCAG 2.2, 3.1.2: what the operator wrote in another language than the page's says so.
    #[test]
    fn a_value_in_another_language_says_so() {
        let said = Said { text: "<天气>", language: Some("zh-CN") };
        assert_eq!(
            EN.rich("portal.closes", &[("when", said)]).to_string(),
            "closes <bdi lang=\"zh-CN\">&lt;天气&gt;</bdi>"
        );
        assert_eq!(Html::said(said).to_string(), "<span lang=\"zh-CN\">&lt;天气&gt;</span>");
        assert_eq!(Said::of(&Text::plain("Weather"), Language::Chinese).language, None);
    }

    #[test]
    fn a_moment_is_relative_with_the_exact_time_beside_it() {
        let now: Timestamp = "2026-11-30T08:05:00Z".parse().unwrap();
        let then: Timestamp = "2026-11-30T06:04:00Z".parse().unwrap();
        assert_eq!(
            EN.time(then, now).to_string(),
            "<time datetime=\"2026-11-30T06:04:00Z\" title=\"2026-11-30, 06:04 UTC\">2 hours ago\
             <span class=\"unseen\"> (2026-11-30, 06:04 UTC)</span></time>"
        );
        assert_eq!(ZH.relative(now, then), "2 小时后");
        assert_eq!(ZH.relative(now, now), "刚刚");
        assert_eq!(EN.relative("2026-11-30T08:19:30Z".parse().unwrap(), now), "in 14 minutes");
        assert_eq!(EN.relative("2026-11-28T08:00:00Z".parse().unwrap(), now), "2 days ago");
    }

    #[test]
    fn chinese_values_stand_without_spaces() {
        let values = [("client", "默认"), ("provider", "GitHub")];
        assert_eq!(ZH.say("connect.heading_client", &values), "允许默认使用 GitHub？");
        let values = [("client", "Claude"), ("provider", "天气")];
        assert_eq!(
            ZH.rich("connect.heading_client", &values).to_string(),
            "允许 <bdi>Claude</bdi> 使用<bdi>天气</bdi>？"
        );
    }

    /// Nobody named the first token, so sentences say what it is; a name that somebody chose is said as it is.
    #[test]
    fn the_app_with_the_first_token_is_not_called_default() {
        let lead = |words: Words, name: &str| {
            let values = [("Client", words.app_first(name)), ("server", "Weather"), ("what", "key")];
            words.say("connect.lead", &values)
        };
        assert!(lead(EN, "default").starts_with("The app with the token “default” wants to use Weather"));
        assert!(lead(ZH, "default").starts_with("使用令牌“default”的应用想代您使用 Weather"));
        assert!(lead(EN, "defaults").starts_with("defaults wants"));
        assert_eq!(EN.app("default"), "the app with the token “default”");
    }

    #[test]
    fn names_are_listed_as_the_language_does() {
        let names = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(EN.list(&names), "a, b and c");
        assert_eq!(ZH.list(&names), "a、b、c");
        assert_eq!(EN.list(&names[..1]), "a");
    }

    #[test]
    fn every_sentence_that_a_page_uses_exists_and_none_is_left_over() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut text = String::new();
        let mut folders = vec![root.join("templates"), root.join("src/pages")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    text.push_str(&std::fs::read_to_string(path).unwrap());
                }
            }
        }
        for key in ENGLISH.keys() {
            assert!(text.contains(&format!("\"{key}\"")), "nobody says {key}");
        }
        let sections = ENGLISH.keys().map(|key| key.split('.').next().unwrap()).collect::<BTreeSet<_>>();
        for quoted in text.split('"') {
            let Some((section, key)) = quoted.split_once('.') else { continue };
            let plain = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            if sections.contains(section) && plain && key != "html" {
                assert!(ENGLISH.contains_key(quoted), "no sentence {quoted}");
            }
        }
    }
}
