//! Why a sign-in at the issuer did not work out, and what to do.

use axum::response::Response;
use http::StatusCode;
use usher_store::AuditAction;

use crate::{
    identity::{
        browser::{Cookie, Place},
        oidc::{
            OpenIdProvider,
            sign_in::{Failed, Fault, Refusal},
        },
    },
    pages::{
        page::{Fact, Message, Page, Tone},
        visitor::{Visitor, set_cookies},
        words::Html,
    },
};

/// What a person is told of a [`Fault`]: the rest is in the log, for the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Failure {
    /// Not this browser's, or too late.
    Stale,
    /// Finished before.
    Used,
    /// The issuer said no.
    Refused,
    /// The issuer does not answer as it should.
    Unavailable,
    /// What it answered proves nothing.
    Unproven,
    /// The account has nothing that we know it by.
    Account,
}

impl Failure {
    const ALL: [Self; 6] = [Self::Stale, Self::Used, Self::Refused, Self::Unavailable, Self::Unproven, Self::Account];

    fn of(fault: &Fault) -> Self {
        match fault {
            Fault::NoReply | Fault::NoBrowser | Fault::OtherBrowser | Fault::Expired | Fault::State(_) => Self::Stale,
            Fault::Used => Self::Used,
            Fault::Refused(_) => Self::Refused,
            Fault::Unavailable(_) | Fault::Busy | Fault::Internal | Fault::Store(_) => Self::Unavailable,
            Fault::OtherIssuer | Fault::Exchange(_) | Fault::Unproven(_) => Self::Unproven,
            Fault::NoUser(_) => Self::Account,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Stale => "stale",
            Self::Used => "used",
            Self::Refused => "refused",
            Self::Unavailable => "unavailable",
            Self::Unproven => "unproven",
            Self::Account => "account",
        }
    }

    /// The failure in the address of its page. Anybody can write it; what the page says holds for nobody in particular.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|failure| failure.name() == name)
    }

    fn status(self) -> StatusCode {
        match self {
            Self::Stale => StatusCode::BAD_REQUEST,
            Self::Used => StatusCode::GONE,
            Self::Refused | Self::Account => StatusCode::FORBIDDEN,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unproven => StatusCode::BAD_GATEWAY,
        }
    }

    /// What tells its title from others, what happened, and what to do next.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Stale => ["sign_in.titled_stale", "sign_in.stale", "sign_in.stale_next"],
            Self::Used => ["sign_in.titled_used", "sign_in.used", "sign_in.used_next"],
            Self::Refused => ["sign_in.titled_refused", "sign_in.refused", "sign_in.refused_next"],
            Self::Unavailable => ["sign_in.titled_unavailable", "sign_in.unavailable", "sign_in.operator"],
            Self::Unproven => ["sign_in.titled_unproven", "sign_in.unproven", "sign_in.operator"],
            Self::Account => ["sign_in.titled_account", "sign_in.account", "sign_in.operator"],
        }
    }
}

/// The page for a sign-in that failed. The one place that logs and audits it.
pub(super) fn answer(visitor: &Visitor, issuer: &OpenIdProvider, failed: &Failed) -> Response {
    let fault = &failed.fault;
    // Nobody knows who it was, and anybody can send what is refused here: told and audited only so often.
    if issuer.may_tell() {
        tracing::warn!(%fault, "a sign-in failed");
    } else {
        tracing::debug!(%fault, "a sign-in failed");
    }
    if let Some(detail) = fault.audited() {
        visitor.app.broker.stranger_turned_away(AuditAction::BrowserRefused, detail);
    }
    let said = match fault {
        Fault::Refused(refusal) => Some(refusal),
        _ => None,
    };
    show(visitor, issuer, Failure::of(fault), said, failed.place.as_ref())
}

/// The page itself. With the place, so that another attempt leads there.
pub(super) fn show(
    visitor: &Visitor,
    issuer: &OpenIdProvider,
    failure: Failure,
    said: Option<&Refusal>,
    place: Option<&Place>,
) -> Response {
    // The address in the bar holds a code and a state, which the language switch leaves behind.
    let page = visitor.page_at(&format!("/login?failed={}", failure.name()), None);
    let on = place.unwrap_or(&Place::Portal).path();
    let mut response = visitor.show(failure.status(), &message(page, &issuer.host(), failure, said, &on));
    set_cookies(&mut response, [place.and_then(|place| visitor.cookies.set(Cookie::Place, &place.path()))]);
    response
}

fn message(page: Page, host: &str, failure: Failure, said: Option<&Refusal>, on: &str) -> Message {
    let words = page.words();
    let heading = words.text("sign_in.failed");
    let [name, happened, next] = failure.words();
    let mut message = Message::new(page, Tone::Warning, heading)
        .titled(words.titled(heading, words.text(name)))
        .saying(happened, &[("issuer", host)])
        .telling(next);
    if let Some(Refusal { code, description }) = said {
        let text = description.as_ref().map_or_else(|| code.clone(), |description| format!("{description} ({code})"));
        message = message.fact(Fact::claimed(words.text("sign_in.says"), Html::text(&text)));
    }
    if failure == Failure::Used { message.go(on, "common.go_on") } else { message.go("/login", "sign_in.again") }
}

#[cfg(test)]
pub(super) mod tests {
    use askama::Template as _;

    use super::*;
    use crate::pages::{gallery, language::Language};

    fn html(language: Language, failure: Failure, said: Option<&Refusal>) -> String {
        message(gallery::stranger(language, "/login"), "id.example", failure, said, "/").render().unwrap()
    }

    /// The pages of this file, for the gallery.
    pub(crate) fn pages(language: Language) -> Vec<(&'static str, String)> {
        let said = Refusal { code: "access_denied".into(), description: Some("The user said no".into()) };
        let names = [
            "sign-in-stale",
            "sign-in-used",
            "sign-in-refused",
            "sign-in-unavailable",
            "sign-in-unproven",
            "sign-in-account",
        ];
        let page = |(name, failure)| (name, html(language, failure, (failure == Failure::Refused).then_some(&said)));
        names.into_iter().zip(Failure::ALL).map(page).collect()
    }

    #[test]
    fn each_failure_has_an_address_and_a_way_on() {
        for failure in Failure::ALL {
            assert_eq!(Failure::parse(failure.name()), Some(failure));
            assert!(html(Language::English, failure, None).contains("<a class=\"button\""), "{failure:?}");
        }
        assert_eq!(Failure::parse("<script>"), None);
    }

    /// R-SEC-02: what the issuer says is a claim, whoever has written it into the address.
    #[test]
    fn what_the_issuer_says_is_shown_as_its_words_alone() {
        let said = Refusal { code: "access_denied".into(), description: Some("<img src=x>".into()) };
        let html = html(Language::English, Failure::Refused, Some(&said));
        assert!(html.contains("&lt;img src=x&gt; (access_denied)") || html.contains("&#60;img"), "{html}");
        assert!(!html.contains("<img"), "{html}");
    }
}
