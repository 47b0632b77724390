//! `GET /activity`: the person's own lines of the audit log, in words, page by page.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use jiff::Timestamp;
use usher_store::{AuditAction, AuditCursor, AuditPage, AuditRow, Outcome, StoreError};

use super::said::{provider_title, server_title, shown};
use crate::{
    config::Config,
    identity::browser::{Place, SignedIn},
    pages::{
        page::{Page, Section},
        visitor::Visitor,
        words::{Html, Words},
    },
};

/// Lines a page.
const LINES: u32 = 50;

/// The page.
#[derive(Template)]
#[template(path = "portal/activity.html")]
pub(crate) struct Activity {
    page: Page,
    lines: Vec<Line>,
    first: bool,
    older: Option<String>,
}

/// One thing that happened.
struct Line {
    what: &'static str,
    /// What came of it, where that was not what was wanted.
    mark: Option<&'static str>,
    time: Html,
    parts: Vec<(&'static str, String)>,
    detail: Option<&'static str>,
}

/// Shows it.
pub(crate) async fn show(visitor: Visitor) -> Response {
    let person = match visitor.must_be_signed_in(&Place::Activity).await {
        Ok(person) => person,
        Err(response) => return response,
    };
    match activity(&visitor, &person).await {
        Ok(page) => visitor.show(StatusCode::OK, &page),
        Err(error) => visitor.trouble(&error),
    }
}

async fn activity(visitor: &Visitor, person: &SignedIn) -> Result<Activity, StoreError> {
    let app = &visitor.app;
    // What is no cursor of ours begins at the newest.
    let before = visitor.query("before").and_then(AuditCursor::parse);
    let found = app.store.audit_page(&person.user, before, LINES).await?;
    let here = before.map_or_else(|| Place::Activity.path(), path);
    let page = visitor.page_at(&here, Some(person));
    Ok(Activity::new(page, &app.config, &found, before.is_none(), app.clock.now()))
}

/// The page of what is older.
fn path(before: AuditCursor) -> String {
    format!("/activity?before={before}")
}

impl Activity {
    fn new(page: Page, config: &Config, found: &AuditPage, first: bool, now: Timestamp) -> Self {
        let words = page.words();
        Self {
            lines: found.rows.iter().map(|row| Line::new(words, config, row, now)).collect(),
            first,
            older: found.older.map(path),
            page: page.within(Section::Activity),
        }
    }
}

impl Line {
    fn new(words: Words, config: &Config, row: &AuditRow, now: Timestamp) -> Self {
        let part = |key: &'static str, value: Option<String>| value.map(|value| (words.text(key), value));
        let provider = row.provider.as_deref().map(|name| provider_title(words, config, name));
        let server = row.upstream.as_deref().map(|name| server_title(words, config, name));
        let client = row.client.as_ref().map(|id| words.app(&shown(id.as_str())).to_owned());
        Self {
            what: words.text(row.action.map_or("activity.unknown", sentence)),
            mark: match row.outcome {
                Outcome::Success => None,
                Outcome::Refused => Some(words.text("activity.refused")),
                Outcome::Failure => Some(words.text("activity.failure")),
            },
            time: words.time(row.at, now),
            parts: [
                part("activity.call", row.operation.as_deref().map(|call| shown(call).into_owned())),
                part("activity.provider", provider),
                part("activity.server", server),
                part("activity.app", client),
            ]
            .into_iter()
            .flatten()
            .collect(),
            detail: row.detail.as_deref().and_then(detail).map(|key| words.text(key)),
        }
    }
}

/// What is said of each action.
fn sentence(action: AuditAction) -> &'static str {
    use AuditAction as A;
    match action {
        A::InteractionAsked => "activity.asked",
        A::InteractionOpened => "activity.opened",
        A::InteractionConsented => "activity.consented",
        A::InteractionCompleted => "activity.completed",
        A::InteractionDeclined => "activity.declined",
        A::InteractionFailed => "activity.failed",
        A::InteractionRestarted => "activity.restarted",
        A::InteractionWithdrawn => "activity.withdrawn",
        A::InteractionRefused => "activity.other_person",
        A::InteractionTampered => "activity.tampered",
        A::InteractionLimited => "activity.question_limited",
        A::InteractionReleased => "activity.released",
        A::ClientLimited => "activity.client_limited",
        A::ClientRevoked => "activity.client_revoked",
        A::CredentialConnected => "activity.connected",
        A::CredentialAllowed => "activity.allowed",
        A::CredentialRejected => "activity.rejected",
        A::CredentialDead => "activity.dead",
        A::CredentialNarrow => "activity.narrow",
        A::CredentialDisconnected => "activity.disconnected",
        A::CredentialRevoked => "activity.revoked",
        A::BrowserSignedIn => "activity.signed_in",
        A::BrowserSignedOut => "activity.signed_out",
        A::BrowserRefused => "activity.sign_in_refused",
        A::PageRefused => "activity.page_refused",
        A::TokenRefused => "activity.token_refused",
        A::SessionRefused => "activity.session_refused",
        A::StateRefused => "activity.state_refused",
        A::FormRefused => "activity.form_refused",
        A::UserForgotten => "activity.forgotten",
        A::OperationApproved => "activity.approved",
        A::OperationUsed => "activity.approval_used",
        A::OperationReturned => "activity.approval_returned",
        A::ReturnRefused => "activity.return_refused",
        A::CallbackRefused => "activity.callback_refused",
        A::ApiKeyCreated => "activity.api_key_created",
        A::ApiKeyRotated => "activity.api_key_rotated",
        A::ApiKeyRevoked => "activity.api_key_revoked",
        A::ApiKeyRefused => "activity.api_key_refused",
        A::ApiInteractionAsked => "activity.server_asked",
        A::ApiInteractionCancelled => "activity.server_cancelled",
        A::ApiInteractionCompleted => "activity.server_completed",
        A::ApiLimited => "activity.server_limited",
        // What this page has no sentence for yet; a test names each that is known.
        _ => "activity.unknown",
    }
}

/// What is said of a detail; one that is not known here is not shown.
fn detail(text: &str) -> Option<&'static str> {
    Some(match text {
        "on the page" => "activity.on_page",
        "in the client" => "activity.in_client",
        "from another browser" => "activity.from_other_browser",
        "all other browsers" => "activity.all_other_browsers",
        "not from a page of ours" | "not a form of ours" | "wrong form token" => "activity.foreign_form",
        "a link that was changed in the store" | "a session that was changed in the store" => "activity.changed",
        "another user" => "activity.another_user",
        "provider-unreachable" => "activity.provider_unreachable",
        "provider-refused" => "activity.provider_refused",
        "provider-declined" => "activity.provider_declined",
        "misconfigured" => "activity.misconfigured",
        "store-trouble" => "activity.store_trouble",
        "interrupted" => "activity.interrupted",
        _ => return None,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeSet;

    use elicit::ClientId;

    use super::*;
    use crate::pages::{gallery, language::Language};

    const HOSTILE: &str = "\"><script>alert(1)</script>\u{202e}";

    fn row(action: Option<AuditAction>, outcome: Outcome) -> AuditRow {
        AuditRow {
            at: "2026-11-30T08:01:00Z".parse().unwrap(),
            action,
            outcome,
            user: gallery::interaction(usher_store::InteractionState::Created).principal.user,
            client: Some(ClientId::new("claude-desktop").unwrap()),
            upstream: Some("weather-server".into()),
            provider: Some("weather".into()),
            interaction: None,
            detail: None,
            operation: None,
        }
    }

    fn render(language: Language, rows: Vec<AuditRow>, first: bool) -> String {
        let found = AuditPage { rows, older: AuditCursor::parse("7") };
        let page = gallery::page(language, "/activity");
        Activity::new(page, &gallery::config(), &found, first, gallery::now()).render().unwrap()
    }

    /// The page of this file, for the gallery: everything that can happen.
    pub(crate) fn page(language: Language) -> String {
        let mut rows: Vec<_> = AuditAction::ALL.iter().map(|action| row(Some(*action), Outcome::Success)).collect();
        for row in &mut rows {
            if matches!(row.action, Some(AuditAction::OperationApproved | AuditAction::OperationUsed)) {
                row.operation = Some("tools/call delete_file #0123456789abcdef".into());
            }
        }
        rows[0].outcome = Outcome::Refused;
        rows[1].outcome = Outcome::Failure;
        render(language, rows, true)
    }

    /// R-SEC-03: whatever is audited can be read, in each language, and no two things read the same.
    #[test]
    fn every_action_has_a_sentence_of_its_own() {
        for language in Language::ALL {
            let words = Words::of(language);
            let said: BTreeSet<_> = AuditAction::ALL.iter().map(|action| words.text(sentence(*action))).collect();
            assert_eq!(said.len(), AuditAction::ALL.len(), "{}", language.code());
            assert!(!said.contains(words.text("activity.unknown")), "a sentence is missing");
        }
    }

    /// R-SEC-03: which call was approved, and which one went on.
    #[test]
    fn an_approved_call_is_named() {
        let html = page(Language::English);
        assert_eq!(html.matches("Call: <bdi>tools/call delete_file #0123456789abcdef</bdi>").count(), 2, "{html}");
    }

    #[test]
    fn a_line_says_what_when_with_whom_and_what_came_of_it() {
        let html = render(
            Language::English,
            vec![
                AuditRow {
                    detail: Some("on the page".into()),
                    ..row(Some(AuditAction::InteractionDeclined), Outcome::Success)
                },
                row(Some(AuditAction::TokenRefused), Outcome::Refused),
                AuditRow { detail: Some(HOSTILE.into()), ..row(None, Outcome::Failure) },
            ],
            false,
        );
        assert!(html.contains("You declined a question (on the page)"), "{html}");
        assert!(html.contains("<time datetime=\"2026-11-30T08:01:00Z\""));
        assert!(html.contains("Provider: <bdi>Weather</bdi>") && html.contains("Server: <bdi>Weather server</bdi>"));
        assert!(html.contains("App: <bdi>claude-desktop</bdi>"));
        assert_eq!(html.matches("<span class=\"state bad\">Refused</span>").count(), 1);
        assert!(html.contains("href=\"/activity?before=7\"") && html.contains("href=\"/activity\">Newest"));
        assert!(!html.contains("<script>alert"));
    }

    /// R-SEC-02: names that are configured no longer, and clients, are text.
    #[test]
    fn hostile_names_are_text() {
        let hostile = AuditRow {
            client: Some(ClientId::new(HOSTILE).unwrap()),
            upstream: Some(HOSTILE.into()),
            provider: Some(HOSTILE.into()),
            operation: Some(HOSTILE.into()),
            ..row(Some(AuditAction::CredentialConnected), Outcome::Success)
        };
        for language in Language::ALL {
            let html = render(language, vec![hostile.clone()], true);
            assert!(!html.contains("<script>alert") && !html.contains('\u{202e}'), "{html}");
        }
    }
}
