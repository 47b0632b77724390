//! What every page has around its content, and the plain pages that say one thing.

use askama::Template;

use super::{
    assets,
    language::Language,
    words::{Html, Said, Words},
};
use crate::{claim, identity::browser::Place};

/// The frame of a page: language, host, the way out.
#[derive(Debug, Clone)]
pub(crate) struct Page {
    words: Words,
    host: String,
    here: String,
    sign_out: Option<String>,
    operated: bool,
    section: Option<Section>,
}

/// The pages of the portal, which lead to one another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Section {
    /// What is connected, and what waits.
    Connections,
    /// Who may use it.
    Clients,
    /// What happened.
    Activity,
    /// Where the person is signed in.
    Sessions,
}

/// One entry of the portal's navigation.
#[derive(Debug)]
pub(crate) struct Link {
    /// The path.
    pub(crate) href: String,
    /// What it says.
    pub(crate) text: &'static str,
    /// Whether it is this page.
    pub(crate) current: bool,
}

/// One entry of the language switch.
#[derive(Debug)]
pub(crate) struct Choice {
    /// Where it leads: this page in that language.
    pub(crate) href: String,
    /// The language's tag.
    pub(crate) code: &'static str,
    /// What the language calls itself.
    pub(crate) name: &'static str,
    /// Whether the page is in it.
    pub(crate) current: bool,
}

impl Page {
    /// `host` is this installation's authority, `here` the path of this page (with a query or not), `sign_out` the
    /// token of the form for signing out, where somebody is signed in.
    pub(crate) fn new(words: Words, host: &str, here: &str, sign_out: Option<String>) -> Self {
        // A path with two slashes would lead to another host.
        let ours = here.starts_with('/') && !here.starts_with("//") && !here.contains('\\');
        let here = if ours { here } else { "/" };
        Self { words, host: host.to_owned(), here: here.to_owned(), sign_out, operated: false, section: None }
    }

    /// As one of the portal's pages, with the way to the others.
    pub(crate) fn within(self, section: Section) -> Self {
        Self { section: Some(section), ..self }
    }

    /// The portal's pages, on each of them; else none.
    pub(crate) fn sections(&self) -> Vec<Link> {
        let Some(here) = self.section else { return Vec::new() };
        let link = |section: Section| {
            let (place, key) = section.place();
            Link { href: place.path(), text: self.text(key), current: section == here }
        };
        Section::ALL.map(link).into()
    }

    /// The same for an installation that somebody runs for others: its people have no terminal and no log.
    pub(crate) fn of_an_operator(self) -> Self {
        Self { operated: true, ..self }
    }

    /// Whether somebody runs this installation for others.
    pub(crate) fn operated(&self) -> bool {
        self.operated
    }

    /// The sentences of the page's language.
    pub(crate) fn words(&self) -> Words {
        self.words
    }

    /// The tag for the `lang` attribute.
    pub(crate) fn language(&self) -> &'static str {
        self.words.language().code()
    }

    /// A sentence without markup.
    pub(crate) fn text(&self, key: &'static str) -> &'static str {
        self.words.text(key)
    }

    /// The line that names this installation, to compare with the address bar.
    pub(crate) fn rich_host(&self) -> Html {
        let key = if self.operated { "common.host_operated" } else { "common.host" };
        self.words.rich(key, &[("host", &self.host)])
    }

    /// The token of the form for signing out, where somebody is signed in.
    pub(crate) fn sign_out(&self) -> Option<&str> {
        self.sign_out.as_deref()
    }

    /// The address of an asset.
    #[allow(clippy::unused_self, reason = "templates know the page only")]
    pub(crate) fn asset(&self, name: &str) -> String {
        assets::address(name)
    }

    /// The language switch.
    pub(crate) fn languages(&self) -> Vec<Choice> {
        let joint = if self.here.contains('?') { '&' } else { '?' };
        let choice = |language: Language| Choice {
            href: format!("{}{joint}lang={}", self.here, language.code()),
            code: language.code(),
            name: language.name(),
            current: language == self.words.language(),
        };
        Language::ALL.map(choice).into()
    }
}

impl Section {
    const ALL: [Self; 4] = [Self::Connections, Self::Clients, Self::Activity, Self::Sessions];

    fn place(self) -> (Place, &'static str) {
        match self {
            Self::Connections => (Place::Portal, "common.connections"),
            Self::Clients => (Place::Clients, "common.clients"),
            Self::Activity => (Place::Activity, "common.activity"),
            Self::Sessions => (Place::Sessions, "common.sessions"),
        }
    }
}

/// A label and a value that a person decides by.
#[derive(Debug)]
pub(crate) struct Fact {
    /// What it is.
    pub(crate) label: &'static str,
    /// What it says.
    pub(crate) value: Html,
    /// A remark, smaller.
    pub(crate) note: Option<String>,
    /// Whether somebody says so of themselves: shown in a frame of its own, quieter than what is verified.
    pub(crate) claimed: bool,
}

impl Fact {
    /// A fact in plain text.
    pub(crate) fn new(label: &'static str, value: &str) -> Self {
        Self::rich(label, Html::text(value))
    }

    /// The same with a remark.
    pub(crate) fn noted(label: &'static str, value: &str, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..Self::new(label, value) }
    }

    /// The operator's text, and a remark.
    pub(crate) fn said(label: &'static str, value: Said<'_>, note: Option<&str>) -> Self {
        Self { note: note.map(str::to_owned), ..Self::rich(label, Html::said(value)) }
    }

    /// A fact whose value has markup.
    pub(crate) fn rich(label: &'static str, value: Html) -> Self {
        Self { label, value, note: None, claimed: false }
    }

    /// What an app calls itself; `None` where nothing is left of it.
    pub(crate) fn calls_itself(words: Words, claimed: &str) -> Option<Self> {
        let claim = claim::clean(claimed)?;
        let value = words.rich("connect.claim_value", &[("claim", claim.as_str())]);
        Some(Self::claimed(words.text("connect.claim"), value))
    }

    /// What somebody says of themselves.
    pub(crate) fn claimed(label: &'static str, value: Html) -> Self {
        Self { claimed: true, ..Self::rich(label, value) }
    }
}

/// How a page looks at its top.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    /// It went well.
    Good,
    /// Take care.
    Warning,
    /// Neither.
    Plain,
}

/// What a person can do on a plain page.
#[derive(Debug)]
pub(crate) enum Action {
    /// Go somewhere of ours.
    Go {
        /// The path.
        href: String,
        /// What the button says.
        label: &'static str,
    },
    /// Send a form.
    Send {
        /// The path.
        to: String,
        /// Names and values that go with it.
        hidden: Vec<(&'static str, String)>,
        /// What the button says.
        label: &'static str,
        /// Whether it is the main action.
        main: bool,
    },
}

/// A page that says one thing: what happened, and what to do next.
#[derive(Debug, Template)]
#[template(path = "message.html")]
pub(crate) struct Message {
    page: Page,
    tone: Tone,
    title: String,
    heading: String,
    notice: Option<&'static str>,
    body: Vec<Html>,
    command: Option<&'static str>,
    after: Vec<Html>,
    facts: Vec<Fact>,
    actions: Vec<Action>,
}

impl Message {
    /// A page with this heading, which is its title too.
    pub(crate) fn new(page: Page, tone: Tone, heading: impl Into<String>) -> Self {
        let heading = heading.into();
        Self {
            page,
            tone,
            title: heading.clone(),
            heading,
            notice: None,
            body: Vec::new(),
            command: None,
            after: Vec::new(),
            facts: Vec::new(),
            actions: Vec::new(),
        }
    }

    /// With a title that tells it from others with the same heading.
    pub(crate) fn titled(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// With what just happened, or is so already, said above all else.
    pub(crate) fn notice(mut self, key: &'static str) -> Self {
        self.notice = Some(self.page.text(key));
        self
    }

    /// With a paragraph more.
    pub(crate) fn saying<'a, V: Copy + Into<Said<'a>>>(mut self, key: &'static str, values: &[(&str, V)]) -> Self {
        let paragraph = self.page.words.rich(key, values);
        if self.command.is_some() {
            self.after.push(paragraph);
        } else {
            self.body.push(paragraph);
        }
        self
    }

    /// The same for a sentence without values.
    pub(crate) fn telling(self, key: &'static str) -> Self {
        self.saying::<&str>(key, &[])
    }

    /// With a command to run in a terminal; what is said next stands after it.
    pub(crate) fn command(mut self, command: &'static str) -> Self {
        self.command = Some(command);
        self
    }

    /// With a fact more.
    pub(crate) fn fact(mut self, fact: Fact) -> Self {
        self.facts.push(fact);
        self
    }

    /// With an action more.
    pub(crate) fn action(mut self, action: Action) -> Self {
        self.actions.push(action);
        self
    }

    /// With a link to a place of ours.
    pub(crate) fn go(self, href: &str, key: &'static str) -> Self {
        let label = self.page.text(key);
        self.action(Action::Go { href: href.to_owned(), label })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(language: Language, here: &str) -> Page {
        Page::new(Words::of(language), "127.0.0.1:8420", here, None)
    }

    #[test]
    fn a_page_says_its_language_its_host_and_how_to_switch() {
        let html = Message::new(page(Language::Chinese, "/"), Tone::Plain, "您的连接").render().unwrap();
        assert!(html.contains("<html lang=\"zh-CN\">"));
        assert!(html.contains("<title>您的连接 · Usher</title>"));
        assert!(html.contains("<strong><bdi>127.0.0.1:8420</bdi></strong>"));
        assert!(html.contains("<a href=\"/?lang=en\" lang=\"en\" hreflang=\"en\">English</a>"));
        assert_eq!(html.matches("<h1>").count(), 1);
        assert_eq!(html.matches("<main").count(), 1);
        assert!(!html.contains("style=") && !html.contains("onclick") && !html.contains("<style"));
    }

    #[test]
    fn the_switch_keeps_the_query_and_never_leads_to_another_host() {
        assert_eq!(page(Language::English, "/login?token=a").languages()[1].href, "/login?token=a&lang=zh-CN");
        for here in ["//evil.example/", "https://evil.example", "/\\evil.example", ""] {
            assert_eq!(page(Language::English, here).languages()[1].href, "/?lang=zh-CN", "{here}");
        }
    }

    #[test]
    fn hostile_text_is_escaped_wherever_it_stands() {
        let hostile = "\"><img src=x onerror=alert(1)>";
        let html = Message::new(page(Language::English, hostile), Tone::Warning, hostile)
            .saying("done.body", &[("client", hostile)])
            .fact(Fact::noted("x", hostile, hostile))
            .action(Action::Send { to: hostile.into(), hidden: vec![("a", hostile.into())], label: "x", main: true })
            .render()
            .unwrap();
        assert!(!html.contains("<img"));
    }
}
