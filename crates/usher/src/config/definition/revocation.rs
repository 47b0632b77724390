//! `[provider.revocation]`: how it is told that a grant is not used any more (kind 23).

use http::HeaderName;

use super::address::{self, Address};
use super::parameters::{self, Parameters, choice};
use super::token::{self, Method, Sent};
use crate::config::reader::Node;
use crate::config::template::Template;

/// How a grant is revoked: by RFC 7009, or the provider's own way.
#[derive(Clone, Debug)]
pub struct Revocation {
    /// Where. `{client_id}` may stand in it.
    pub endpoint: Address,
    /// By which method.
    pub method: Method,
    /// How the parameters are sent.
    pub request: Sent,
    /// What is revoked; the other goes with it.
    pub token: Revoked,
    /// The parameter that it is sent as; `token` by default. None where it is empty, as it is by default where the access token
    /// is the proof.
    pub parameter: String,
    /// Whatever else it wants to be told.
    pub parameters: Parameters,
    /// Headers that it wants. No field stands in them.
    pub headers: Vec<(HeaderName, Template)>,
    /// How we prove that we may.
    pub proof: Proof,
}

/// What is revoked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revoked {
    /// The refresh token, or the access token where there is none: what RFC 7009 wants.
    RefreshToken,
    /// The access token.
    AccessToken,
}

/// How we prove that we may revoke.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// By our client, as at the token endpoint.
    Client,
    /// By our client, as `Basic`.
    ClientBasic,
    /// By the access token, as `Bearer`.
    Bearer,
    /// By the token itself.
    Off,
}

impl Revocation {
    /// RFC 7009.
    pub fn standard(endpoint: Address) -> Self {
        Self {
            endpoint,
            method: Method::Post,
            request: Sent::Form,
            token: Revoked::RefreshToken,
            parameter: "token".to_owned(),
            parameters: Parameters::new(),
            headers: Vec::new(),
            proof: Proof::Client,
        }
    }
}

impl Revocation {
    /// Whether it is the standard's request with a token and the client's own proof (RFC 7009, section 2.1).
    pub fn is_standard(&self) -> bool {
        self.parameter == "token" && self.proof == Proof::Client && self.method == Method::Post
    }
}

/// Reads the section.
pub(super) fn read(node: &Node<'_>) -> Option<Revocation> {
    const ENDPOINT: &str = "endpoint = \"https://id.example/revoke\"";
    let table = node.table("[provider.revocation]")?;
    let endpoint =
        table.require("endpoint", ENDPOINT).and_then(|node| address::read(&node, "\"https://id.example/revoke\""));
    let method = token::method(&table, Method::Post);
    let request = token::sent(&table, Sent::Form);
    let revoked = choice(
        &table,
        "token",
        &[("refresh_token", Revoked::RefreshToken), ("access_token", Revoked::AccessToken)],
        Revoked::RefreshToken,
    );
    let proof = choice(
        &table,
        "proof",
        &[
            ("client", Proof::Client),
            ("client_basic", Proof::ClientBasic),
            ("bearer", Proof::Bearer),
            ("off", Proof::Off),
        ],
        Proof::Client,
    );
    // The token that is in the header need not be in the body as well.
    let parameter = table.take("parameter");
    let parameter = parameter
        .map_or(if proof == Proof::Bearer { Some("") } else { Some("token") }, |node| node.string("\"token\""));
    let parameters = table
        .take("parameters")
        .map(|node| parameters::read(&node, "parameters = { reason = \"disconnected\" }"))
        .unwrap_or_default();
    let headers = token::headers(&table);
    table.close();
    Some(Revocation {
        endpoint: endpoint?,
        method,
        request,
        token: revoked,
        parameter: parameter?.to_owned(),
        parameters,
        headers,
        proof,
    })
}
