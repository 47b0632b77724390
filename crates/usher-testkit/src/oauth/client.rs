//! Who the clients are, and how they prove it (RFC 6749, section 2.3).

use super::settings::ClientAuth;
use super::{Client, Inner};
use crate::Recorded;
use crate::fields::{Fields, basic, basic_plain};
use crate::record::lock;

/// The client that sent this, proved in a way that is taken.
pub(super) fn prove(inner: &Inner, request: &Recorded, fields: &Fields) -> Result<Client, String> {
    let settings = lock(&inner.settings).clone();
    let ways = &settings.tokens.client_auth;
    let plain = ways.contains(&ClientAuth::BasicPlain);
    let read = |value| if plain { basic_plain(value) } else { basic(value) };
    let header = request.header("authorization").map(|value| read(value).ok_or("Authorization is not Basic"));
    let header = header.transpose()?;
    let (id, secret) = (fields.one(settings.authorization.client_id_parameter), fields.one("client_secret"));
    let (way, id, secret) = match (header, id, secret) {
        (Some((id, _)), Some(other), None) if id != other => return Err("two client ids".to_owned()),
        (Some((id, secret)), _, None) if plain => (ClientAuth::BasicPlain, id, Some(secret)),
        (Some((id, secret)), _, None) => (ClientAuth::Basic, id, Some(secret)),
        (None, Some(id), Some(secret)) => (ClientAuth::Body, id, Some(secret)),
        (None, Some(id), None) => (ClientAuth::None, id, None),
        (Some(_), _, Some(_)) => return Err("the client proves itself in two ways".to_owned()),
        (None, None, _) => return Err("no client id".to_owned()),
    };
    if !ways.contains(&way) {
        return Err(format!("{} is not taken here", way.name()));
    }
    let client = inner.client(&id).ok_or_else(|| format!("the client {id} is not known"))?;
    if client.expires_at.is_some_and(|at| at <= inner.now()) {
        return Err("the registration of this client has expired".to_owned());
    }
    match client.way {
        Some(only) if only != way => Err(format!("this client was registered for {}", only.name())),
        _ if client.way == Some(ClientAuth::None) => Ok(client),
        _ if client.secret == secret => Ok(client),
        _ => Err("the client secret is wrong".to_owned()),
    }
}
