//! One call of a client on its way: everything that is needed to decide, to ask, and to send it upstream, owned, so that it
//! can wait in a task of its own.

use std::{collections::BTreeSet, sync::Arc};

use axum::response::Response;
use bytes::Bytes;
use elicit::{Era, Principal, codes};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::value::RawValue;
use tokio::time::Instant;
use usher_store::{AuditAction, Operation, Session, StoreError};

use super::{
    connect_tool,
    ending::Ending,
    forward,
    places::{Full, Place},
    reply,
    upstream::UpstreamError,
};
use crate::{
    app::App,
    broker::{self, Decision, Examined, Missing, Narrowed, Patience},
    config::Upstream,
    credentials::Injection,
    mcp::{
        alike::{Ambiguous, all_shown},
        headers::{self, LAST_EVENT_ID},
        params::Params,
    },
};

/// How many credentials a person gives for one call that the upstream then refuses: a key that the provider's check accepts
/// and the upstream does not would otherwise go round for ever.
pub(super) const REFUSED_AT_MOST: u8 = 3;

/// How often a call is sent anew when its credential was replaced while the upstream refused the one of before, or renewed
/// because it did.
const ATTEMPTS: u8 = 4;

/// Who sent a request, where to, and what may be asked of them.
#[derive(Clone)]
pub(super) struct Caller {
    pub(super) app: Arc<App>,
    pub(super) principal: Principal,
    /// Index into the configuration's upstreams.
    pub(super) upstream: usize,
    /// What the client calls itself.
    pub(super) client_claim: Option<String>,
    /// The headers that go upstream.
    pub(super) headers: HeaderMap,
    /// When the request arrived.
    pub(super) arrived: Instant,
    /// Until when the token that it came with is good, where that ends.
    pub(super) admitted_until: Option<Instant>,
    /// The legacy session; none in the modern era.
    pub(super) session: Option<Arc<Session>>,
    /// Its place among what the client has under way, until the last of its work is over.
    pub(super) place: Arc<Place>,
}

impl Caller {
    /// The upstream that the client named.
    pub(super) fn upstream(&self) -> &Upstream {
        &self.app.config.upstreams[self.upstream]
    }

    /// The same for a message of ours, whatever the client's own request was.
    pub(super) fn for_post(&self) -> Self {
        let mut caller = self.clone();
        caller.headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        caller.headers.insert(header::ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
        caller.headers.remove(LAST_EVENT_ID);
        caller
    }

    /// The era that the client speaks.
    pub(super) fn era(&self) -> Era {
        if self.session.is_some() { Era::Legacy } else { Era::Modern }
    }

    /// The credentials that are there, for messages that never wait for one.
    pub(super) async fn available(&self) -> Result<Injection, StoreError> {
        let call = broker::Call {
            principal: &self.principal,
            upstream: self.upstream(),
            method: "",
            subject: None,
            operation: None,
            round: "",
        };
        match self.app.broker.decide(call).await? {
            Decision::Go(injection, _) => Ok(injection),
            // Only calls that name something can lack a credential.
            Decision::Ask(_) | Decision::Unavailable(_) => Ok(Injection::default()),
        }
    }

    /// Whether anything of what the upstream needs is missing, whatever the call; what has expired is, until it is renewed. A
    /// store that does not answer is noticed where the call goes on.
    pub(super) async fn lacks(&self) -> bool {
        let upstream = self.upstream();
        !upstream.needs.is_empty()
            && self
                .app
                .broker
                .lacking(&self.principal, upstream, Patience::Never)
                .await
                .is_ok_and(|examined| !examined.missing.is_empty())
    }

    /// Resolves when the token is no longer good that the request came with: what is open then is opened anew with another.
    pub(super) async fn token_ends(&self) {
        match self.admitted_until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    }

    /// Until when a call may be held.
    pub(super) fn held_until(&self) -> Instant {
        self.arrived + self.upstream().hold
    }
}

/// A request with an id.
#[derive(Clone)]
pub(super) struct Call {
    pub(super) caller: Caller,
    pub(super) id: Box<RawValue>,
    pub(super) method: String,
    /// The tool's or prompt's name, or the resource's URI.
    pub(super) subject: Option<String>,
    /// The caller's progress token.
    pub(super) progress_token: Option<Box<RawValue>>,
    /// What goes upstream.
    pub(super) body: Bytes,
    /// Whether it calls the tool of ours that connects, and so never goes upstream.
    pub(super) connects: bool,
    /// The whole of the call, where something is done anew for this very call.
    pub(super) operation: Option<Arc<Operation>>,
    /// The round of the server's own questions whose answers it brings, where something was done for it alone.
    pub(super) round: String,
    /// The round that may follow, in the same case.
    pub(super) next_round: String,
    /// What the client may get.
    pub(super) screen: super::screen::Screen,
}

/// What came of trying.
pub(super) enum Attempt {
    /// The upstream's answer, or an error.
    Done(Response),
    /// A person must be asked first.
    Ask(Vec<Missing>),
}

impl Call {
    /// The call as the broker knows it.
    pub(super) fn for_broker(&self) -> broker::Call<'_> {
        broker::Call {
            principal: &self.caller.principal,
            upstream: self.caller.upstream(),
            method: &self.method,
            subject: self.subject.as_deref(),
            operation: self.operation.as_deref(),
            round: &self.round,
        }
    }

    /// Takes in the whole call, if a person is asked about this very one: what they cannot be shown is not asked.
    /// And what they would not be shown must not stand in it.
    pub(super) fn know_whole(&mut self, raw: Option<&RawValue>, params: &Params<'_>) -> Result<(), Ending> {
        if !self.caller.app.broker.asks_per_call(self.for_broker()) {
            return Ok(());
        }
        let raw = raw.map(RawValue::get);
        all_shown(raw).map_err(Ending::Ambiguous)?;
        let stands = |value: Option<&RawValue>| value.is_some_and(|value| value.get() != "null");
        // Answers belong to a round, and a round has a state, which is ours.
        let is_round = self.caller.era() == Era::Modern && stands(params.request_state);
        for (member, value) in [("requestState", params.request_state), ("inputResponses", params.input_responses)] {
            if stands(value) && !is_round {
                return Err(Ending::Ambiguous(Ambiguous::Unshown(member.to_owned())));
            }
        }
        let operation = Operation::exact(&self.method, raw).map_err(Ending::Unshowable)?;
        self.operation = Some(Arc::new(operation));
        Ok(())
    }

    /// Sends the call upstream if nothing is missing. A credential that the upstream rejects is renewed, or else marked, and then
    /// missing. What was done for this call alone is used up by that, unless the call did not run.
    pub(super) async fn attempt(&self) -> Attempt {
        if self.connects {
            return connect_tool::attempt(self).await;
        }
        let app = &self.caller.app;
        let call = self.for_broker();
        for _ in 0..ATTEMPTS {
            let (injection, claim) = match app.broker.decide(call).await {
                Ok(Decision::Go(injection, claim)) => (injection, claim),
                Ok(Decision::Ask(missing)) => return Attempt::Ask(missing),
                Ok(Decision::Unavailable(unavailable)) => {
                    return Attempt::Done(self.end(&Ending::Unavailable(unavailable)));
                }
                Err(error) => return Attempt::Done(self.end(&Ending::from(error))),
            };
            let claiming;
            let sent = if claim.is_empty() {
                self
            } else {
                claiming = Self { next_round: claim.round().to_owned(), ..self.clone() };
                &claiming
            };
            let forwarded = forward::call(sent, &injection).await;
            if !matches!(forwarded, forward::Forwarded::Response(_)) {
                app.broker.give_back(call, &claim).await;
            }
            match forwarded {
                forward::Forwarded::Over => {
                    let (status, code) = (StatusCode::NOT_FOUND, codes::INVALID_REQUEST);
                    return Attempt::Done(reply::error(status, Some(&self.id), code, forward::SESSION_OVER));
                }
                forward::Forwarded::Unsent(error) => return Attempt::Done(self.end(&Ending::Upstream(error))),
                forward::Forwarded::Response(response) => {
                    app.broker.worked(&self.caller.principal, injection.used());
                    return Attempt::Done(response);
                }
                forward::Forwarded::Narrow(scopes) => match self.narrowed(&injection, &scopes).await {
                    Ok(Narrowed::Again) => {}
                    Ok(Narrowed::Ask(missing)) => return Attempt::Ask(vec![missing]),
                    Ok(Narrowed::AskedAlready) => return Attempt::Done(self.end(&Ending::TooNarrow { scopes })),
                    Err(error) => return Attempt::Done(self.end(&Ending::Store(error))),
                },
                forward::Forwarded::Refused { status, answer } => {
                    match app.broker.demanded(call, &injection).await {
                        Ok(Examined { unavailable: Some(unavailable), .. }) => {
                            return Attempt::Done(self.end(&Ending::Unavailable(unavailable)));
                        }
                        Ok(Examined { missing, .. }) if !missing.is_empty() => return Attempt::Ask(missing),
                        Ok(_) => {}
                        Err(error) => return Attempt::Done(self.end(&Ending::Store(error))),
                    }
                    return Attempt::Done(match connect_tool::stand_in(self).await.or(answer) {
                        Some(response) => response,
                        None => self.end(&Ending::Upstream(UpstreamError::Refused {
                            name: self.caller.upstream().name.clone(),
                            status,
                        })),
                    });
                }
                forward::Forwarded::Rejected => {
                    if let Err(error) = app.broker.refused(&self.caller.principal, injection.used()).await {
                        return Attempt::Done(self.end(&Ending::Store(error)));
                    }
                }
            }
        }
        Attempt::Done(self.end(&Ending::StillRejected))
    }

    /// What is to be done about scopes that the account at the upstream itself lacks.
    async fn narrowed(&self, sent: &Injection, scopes: &BTreeSet<String>) -> Result<Narrowed, StoreError> {
        let Caller { app, principal, .. } = &self.caller;
        match app.broker.own_account(sent) {
            Some(used) => app.broker.narrowed(principal, used, scopes).await,
            None => Ok(Narrowed::AskedAlready),
        }
    }

    /// The response to a call for which there is no room. Audited once a minute.
    pub(super) fn no_room(&self, full: Full) -> Response {
        let Caller { app, principal, .. } = &self.caller;
        app.broker.turned_away(AuditAction::ClientLimited, Some(principal), Some(&self.caller.upstream().name));
        reply::no_room(Some(&self.id), full)
    }

    /// The call for a long wait. What came of it is a part of its connection's buffer, which would be kept as long.
    pub(super) fn apart(mut self) -> Self {
        self.body = Bytes::copy_from_slice(&self.body);
        self.caller.headers = headers::copied(&self.caller.headers);
        self
    }

    /// The response that ends the call without the upstream.
    pub(super) fn end(&self, ending: &Ending) -> Response {
        ending.response(self)
    }
}
