//! `GET /connect/{interaction}`: the question, for the person it is asked of.

use axum::{extract::Path, response::Response};
use http::StatusCode;
use usher_store::{InteractionId, InteractionState};

use super::{
    approve::ApprovePage,
    callback::exchanging,
    ended::instead,
    external::ExternalPage,
    oauth::OAuthPage,
    view::{Attempt, BEGUN, ConnectPage, LOOKED, address},
};
use crate::{
    broker::{ConfirmError, Purpose, Visit, Way},
    config::ProviderKind,
    identity::browser::{Form, Place, SignedIn},
    pages::{headers::lead_to, visitor::Visitor},
};

/// Opens the question. Who is not signed in signs in first and comes back; who is somebody else is refused (R-ID-03).
pub(crate) async fn show(visitor: Visitor, Path(interaction): Path<String>) -> Response {
    let Ok(id) = InteractionId::parse(&interaction) else {
        return visitor.missing(None);
    };
    let person = match visitor.must_be_signed_in(&Place::Connect(id.clone())).await {
        Ok(person) => person,
        Err(response) => return response,
    };
    match visitor.app.broker.open(&id, &person.user).await {
        Ok(visit) => {
            let attempt = Attempt { look: look(&visitor, &person, &id), ..Attempt::default() };
            page(&visitor, &person, &visit, StatusCode::OK, &attempt).await
        }
        Err(error) => instead(&visitor, &person, &id, error).await,
    }
}

/// What we found when we looked, if this session comes from that.
fn look(visitor: &Visitor, person: &SignedIn, id: &InteractionId) -> Option<ConfirmError> {
    let (name, mark) = visitor.query(LOOKED)?.split_once('.')?;
    ConfirmError::named(name).filter(|_| person.csrf_holds(Form::Looked(id), mark))
}

/// The page of an open question, after `attempt`.
pub(crate) async fn page(
    visitor: &Visitor,
    person: &SignedIn,
    visit: &Visit,
    status: StatusCode,
    attempt: &Attempt,
) -> Response {
    let id = &visit.interaction.id;
    let csrf = person.csrf(Form::Connect(id));
    let now = visitor.app.clock.now();
    if matches!(visit.interaction.state, InteractionState::Exchanging { .. }) {
        return exchanging(visitor, person, visit);
    }
    // Only our own redirect to this session carries the right mark; and what it says holds of a refused credential
    // alone.
    let begun = visitor.query(BEGUN).filter(|mark| person.csrf_holds(Form::Begun(id), mark));
    let begun = begun.filter(|_| visit.purpose == Purpose::Replace);
    match &visit.provider.kind {
        ProviderKind::Approval => {
            let frame = visitor.page_at(&address(id, None), Some(person));
            return visitor.show(status, &ApprovePage::new(frame, csrf, visit, now));
        }
        ProviderKind::External(external) if !visit.purpose.reuses() => {
            let frame = visitor.page_at(&address(id, None), Some(person));
            let page = ExternalPage::new(frame, csrf, visit, external, attempt, now);
            let mut response = visitor.show(status, &page);
            // Its button leads there by our redirect.
            lead_to(&mut response, &external.url.origin());
            return response;
        }
        ProviderKind::OAuth(_) | ProviderKind::Mcp(_) => {
            let (visit, way) = visitor.app.broker.way(visit, &attempt.typed).await;
            let frame = visitor.page_at(&address(id, begun), Some(person));
            let page = OAuthPage::new(frame, csrf, &visit, &way, attempt, begun, now);
            let mut response = visitor.show(status, &page);
            if let Way::To(url) = &way {
                lead_to(&mut response, &url.origin().ascii_serialization());
            }
            return response;
        }
        ProviderKind::External(_) | ProviderKind::Secret { .. } => {}
    }
    let frame = visitor.page_at(&address(id, begun), Some(person));
    let page = ConnectPage::new(frame, csrf, visit, attempt, begun, now);
    visitor.show(status, &page)
}
