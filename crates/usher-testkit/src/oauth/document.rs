//! Client id metadata documents (draft-ietf-oauth-client-id-metadata-document): an id that is an address is fetched and
//! checked, at every authorization request.

use serde_json::Value;

use super::settings::ClientAuth;
use super::{Client, Inner};
use crate::fields::Fields;
use crate::record::lock;
use crate::{DEADLINE, Recorded};

/// Makes the client of an authorization request known, where its id is an address.
pub(super) async fn learn(inner: &Inner, request: &Recorded) {
    let settings = lock(&inner.settings).clone();
    let id = Fields::of_query(request).one(settings.authorization.client_id_parameter).unwrap_or_default();
    if !settings.registry.documents || !id.starts_with("http") {
        return;
    }
    match fetch(inner, &id).await {
        Ok(client) => {
            inner.put_client(client);
            inner.count(|counts| counts.documents += 1);
        }
        Err(why) => inner.violation(format!("the client {id}: {why}")),
    }
}

async fn fetch(inner: &Inner, id: &str) -> Result<Client, String> {
    /// Section 6.6 of the draft.
    const LARGEST: usize = 5 * 1024;
    let url = reqwest::Url::parse(id).map_err(|fault| fault.to_string())?;
    let local = matches!(url.host_str(), Some("localhost" | "127.0.0.1"));
    if url.scheme() != "https" && !local {
        return Err("not https".to_owned());
    }
    if matches!(url.path(), "" | "/") || url.fragment().is_some() || id.contains("/../") || id.contains("/./") {
        return Err("no address with a path and without a fragment".to_owned());
    }
    let agent = lock(&inner.agent).clone();
    let fetching = async {
        let response = agent.get(url).header("accept", "application/json").send().await?;
        let kind = response.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let (status, kind) = (response.status(), kind.to_owned());
        Ok::<_, reqwest::Error>((status, kind, response.bytes().await?))
    };
    let fetched = tokio::time::timeout(DEADLINE, fetching).await.map_err(|_| "no answer".to_owned())?;
    let (status, kind, body) = fetched.map_err(|fault| fault.to_string())?;
    if status != 200 || !kind.starts_with("application/json") || body.len() > LARGEST {
        return Err(format!("{status}, {kind}, {} bytes", body.len()));
    }
    let told: Value = serde_json::from_slice(&body).map_err(|_| "no JSON".to_owned())?;
    check(id, &told)
}

fn check(id: &str, told: &Value) -> Result<Client, String> {
    if told["client_id"] != id {
        return Err(format!("it calls itself {}", told["client_id"]));
    }
    let Some(name) = told["client_name"].as_str() else { return Err("no client_name".to_owned()) };
    let uris = told["redirect_uris"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let redirect_uris: Vec<String> = uris.map(str::to_owned).collect();
    if redirect_uris.is_empty() {
        return Err("no redirect_uris".to_owned());
    }
    let way = told["token_endpoint_auth_method"].as_str().unwrap_or("none");
    if way != "none" || told.get("client_secret").is_some() {
        return Err(format!("{way}, but a document has no secret"));
    }
    let grants = told["grant_types"].as_array().into_iter().flatten();
    let refreshes = grants.filter_map(Value::as_str).any(|grant| grant == "refresh_token");
    Ok(Client { redirect_uris, way: Some(ClientAuth::None), refreshes, name: name.to_owned(), ..Client::public(id) })
}
