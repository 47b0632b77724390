//! `/sessions`: the browsers in which the person is signed in, and signing others out.

use askama::Template;
use axum::{
    extract::{Path, rejection::BytesRejection},
    response::Response,
};
use bytes::Bytes;
use http::StatusCode;
use jiff::Timestamp;
use usher_store::{BrowserId, SignedInBrowser, StoreError};

use super::family::family;
use crate::{
    claim,
    identity::browser::{Form, Place, SignedIn, times},
    pages::{
        page::{Fact, Page, Section},
        visitor::{Visitor, go},
        words::Words,
    },
};

/// The page.
#[derive(Template)]
#[template(path = "portal/sessions.html")]
pub(crate) struct Sessions {
    page: Page,
    notice: Option<&'static str>,
    browsers: Vec<Browser>,
    /// The token of the form that signs all others out, where there are others.
    others: Option<String>,
}

struct Browser {
    name: String,
    current: bool,
    facts: Vec<Fact>,
    end: String,
    csrf: String,
    label: String,
}

/// `GET`: shows them.
pub(crate) async fn show(visitor: Visitor) -> Response {
    let person = match visitor.must_be_signed_in(&Place::Sessions).await {
        Ok(person) => person,
        Err(response) => return response,
    };
    match sessions(&visitor, &person).await {
        Ok(page) => visitor.show(StatusCode::OK, &page),
        Err(error) => visitor.trouble(&error),
    }
}

/// `POST /sessions/{browser}/end`: signs one out. The one that asks is then asked to sign in.
pub(crate) async fn end(visitor: Visitor, Path(id): Path<String>, body: Result<Bytes, BytesRejection>) -> Response {
    let Some(id) = BrowserId::parse(&id) else { return visitor.missing(None) };
    let person = match visitor.posted(Form::EndBrowser(&id), &Place::Sessions, body).await {
        Ok((person, _)) => person,
        Err(response) => return response,
    };
    match visitor.app.store.end_browser_session(&person.user, &id, visitor.app.clock.now()).await {
        Ok(_) => go(&format!("/sessions?ended={id}"), []),
        Err(error) => visitor.trouble(&error),
    }
}

/// `POST /sessions/others/end`: signs out all but the one that asks.
pub(crate) async fn end_others(visitor: Visitor, body: Result<Bytes, BytesRejection>) -> Response {
    let person = match visitor.posted(Form::EndOthers, &Place::Sessions, body).await {
        Ok((person, _)) => person,
        Err(response) => return response,
    };
    let kept = BrowserId::of(person.token());
    match visitor.app.store.end_other_browser_sessions(&person.user, &kept, visitor.app.clock.now()).await {
        Ok(_) => go("/sessions?ended=others", []),
        Err(error) => visitor.trouble(&error),
    }
}

async fn sessions(visitor: &Visitor, person: &SignedIn) -> Result<Sessions, StoreError> {
    let now = visitor.app.clock.now();
    let found = visitor.app.store.browser_sessions(&person.user, times(&visitor.app.config), now).await?;
    let csrf = |form: Form<'_>| person.csrf(form);
    let current = BrowserId::of(person.token());
    Ok(Sessions::new(visitor.page(Some(person)), &found, &current, visitor.query("ended"), &csrf, now))
}

impl Sessions {
    fn new(
        page: Page,
        found: &[SignedInBrowser],
        current: &BrowserId,
        ended: Option<&str>,
        csrf: &dyn Fn(Form<'_>) -> String,
        now: Timestamp,
    ) -> Self {
        let words = page.words();
        let others = found.iter().any(|browser| browser.id != *current);
        // Said only where it is true: the address is anybody's to write.
        let notice = match ended {
            Some("others") if !others => Some("sessions.ended_others"),
            Some(id) if BrowserId::parse(id).is_some_and(|id| found.iter().all(|browser| browser.id != id)) => {
                Some("sessions.ended")
            }
            _ => None,
        };
        Self {
            notice: notice.map(|key| words.text(key)),
            browsers: found.iter().map(|browser| Browser::new(words, browser, current, csrf, now)).collect(),
            others: others.then(|| csrf(Form::EndOthers)),
            page: page.within(Section::Sessions),
        }
    }
}

impl Browser {
    fn new(
        words: Words,
        browser: &SignedInBrowser,
        current: &BrowserId,
        csrf: &dyn Fn(Form<'_>) -> String,
        now: Timestamp,
    ) -> Self {
        let name = family(words, &browser.agent);
        let said = claim::clean(&browser.agent).map(|agent| {
            let value = words.rich("sessions.says", &[("agent", agent.as_str())]);
            Fact::claimed(words.text("connect.claim"), value)
        });
        let facts = [
            Fact::rich(words.text("sessions.since"), words.time(browser.created_at, now)),
            Fact::rich(words.text("sessions.seen"), words.time(browser.last_seen_at, now)),
            Fact::rich(words.text("sessions.until"), words.time(browser.expires_at, now)),
        ];
        Self {
            current: browser.id == *current,
            facts: facts.into_iter().chain(said).collect(),
            end: format!("/sessions/{}/end", browser.id),
            csrf: csrf(Form::EndBrowser(&browser.id)),
            label: words.say("sessions.end_named", &[("browser", &name)]),
            name,
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use secrecy::SecretString;

    use super::*;
    use crate::pages::{gallery, language::Language};

    const HOSTILE: &str = "\"><script>alert(1)</script>\u{202e} <img src=x>";

    fn browser(token: &str, agent: &str) -> SignedInBrowser {
        SignedInBrowser {
            id: BrowserId::of(&SecretString::from(token)),
            created_at: "2026-11-27T08:05:00Z".parse().unwrap(),
            last_seen_at: "2026-11-30T08:04:00Z".parse().unwrap(),
            expires_at: "2027-02-25T08:05:00Z".parse().unwrap(),
            agent: agent.into(),
        }
    }

    fn render(language: Language, found: &[SignedInBrowser], ended: Option<&str>) -> String {
        let current = BrowserId::of(&SecretString::from("this"));
        let page = gallery::page(language, "/sessions");
        let csrf = |form: Form<'_>| format!("token-of-{}", if form == Form::EndOthers { "others" } else { "one" });
        Sessions::new(page, found, &current, ended, &csrf, gallery::now()).render().unwrap()
    }

    fn several() -> Vec<SignedInBrowser> {
        let firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0";
        vec![browser("this", firefox), browser("other", HOSTILE), browser("silent", "")]
    }

    /// The page of this file, for the gallery.
    pub(crate) fn page(language: Language) -> String {
        render(language, &several(), None)
    }

    #[test]
    fn each_browser_is_listed_and_others_can_be_signed_out() {
        let html = page(Language::English);
        assert!(
            html.contains("<h2><bdi>Firefox on Linux</bdi></h2>\n<span class=\"state\">This browser</span>"),
            "{html}"
        );
        assert_eq!(html.matches("/end\">").count(), 3, "two others, and all others");
        assert!(html.contains("value=\"token-of-others\"") && html.contains("value=\"token-of-one\""));
        assert!(html.contains("aria-label=\"Sign out: A browser that did not say\""));
        assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains('\u{202e}'), "{html}");
        let alone = render(Language::English, &several()[..1], None);
        assert!(!alone.contains("/end\""), "nobody else is signed in");
    }

    #[test]
    fn the_notice_is_shown_only_where_it_is_true() {
        let several = several();
        let gone = BrowserId::of(&SecretString::from("gone"));
        for (found, ended, told) in [
            (&several[..], "others", false),
            (&several[..1], "others", true),
            (&several[..], several[1].id.as_str(), false),
            (&several[..], gone.as_str(), true),
            (&several[..1], "x", false),
        ] {
            assert_eq!(render(Language::Chinese, found, Some(ended)).contains("role=\"status\""), told, "{ended}");
        }
    }
}
