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
mod tests;
