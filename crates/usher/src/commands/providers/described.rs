//! A definition in words: all that it says, and nothing that is only the standard.

use std::{collections::BTreeMap, time::Duration};

use crate::{
    commands::change::shown,
    config::{
        ClientAuthentication, Definition, Registration,
        definition::{
            Authorize, Call, Callback, ChosenBy, Errors, Expires, Format, Iss, Member, Method, Pkce, Proof, Refresh,
            RefreshBy, Revocation, Revoked, Rotation, ScopeEncoding, Sent, TokenReply, TokenRequest,
        },
    },
};

/// A line: what it is about, and what is said of it.
pub(super) type Line = (&'static str, String);

/// What a definition says, a line each. Names of things in URLs stand in braces.
pub(super) fn definition(definition: &Definition) -> Vec<Line> {
    let mut lines = vec![
        ("people go to", shown(definition.authorization_endpoint.as_str())),
        ("codes go to", shown(definition.token_endpoint.as_str())),
        ("our client", client(definition)),
    ];
    lines.extend(issuer(definition));
    lines.extend(definition.inputs.iter().map(|input| ("chosen", input_line(input))));
    lines.extend(definition.introspection_endpoint.iter().map(|at| ("introspection", shown(at.as_str()))));
    lines.extend(definition.resource.iter().map(|resource| ("resource", shown(resource))));
    authorize(&definition.authorize, &mut lines);
    callback(&definition.callback, &mut lines);
    token(&definition.token, &mut lines);
    reply("reply", &definition.reply, &standard(definition), &mut lines);
    refresh(definition, &mut lines);
    errors(&definition.errors, &mut lines);
    lines.push(("disconnecting", definition.revocation.as_ref().map_or_else(no_revocation, revocation)));
    if let Some(account) = &definition.account {
        let members = account.members.iter().map(|member| shown(member.as_str())).collect::<Vec<_>>().join(" or ");
        let of = account.call.as_ref().map_or_else(|| "the token's reply".to_owned(), call);
        lines.push(("connected as", format!("{members}, of {of}")));
    }
    if let Some(lookup) = &definition.lookup {
        lines.push(("looked up", format!("{}, of {}", fields(&lookup.fields), call(&lookup.call))));
    }
    lines.push(("for templates", all(definition.fields().into_iter())));
    lines
}

fn client(definition: &Definition) -> String {
    let proof = match (definition.registration, definition.client_authentication) {
        (Registration::Dynamic, _) => "registers itself (RFC 7591)",
        (Registration::MetadataDocument, _) => "is the address of a document about it",
        (_, ClientAuthentication::None) => "has no secret; its id is sent alone",
        (_, ClientAuthentication::Post) => "sends its secret in the body (client_secret_post)",
        (_, ClientAuthentication::Basic) => "sends its secret as Basic (client_secret_basic)",
        (_, ClientAuthentication::BasicPlain) => "sends its secret as Basic, not encoded (client_secret_basic_plain)",
    };
    let id = match definition.client_id_parameter.as_str() {
        "client_id" => String::new(),
        other => format!("; its id is sent as {}", shown(other)),
    };
    let public = if definition.public_clients { "; or has none, and sends its id alone" } else { "" };
    format!("{proof}{public}{id}")
}

fn issuer(definition: &Definition) -> Option<Line> {
    let issuer = shown(definition.issuer.as_ref()?.as_str());
    let compared = match definition.iss {
        Iss::Required => "; each reply has to name it as iss",
        Iss::Optional => "; a reply that names another one as iss is refused",
        Iss::Ignored => "; iss is not looked at",
    };
    Some(("issuer", format!("{issuer}{compared}")))
}

fn input_line(input: &crate::config::definition::Input) -> String {
    let by = match input.chosen_by {
        ChosenBy::User => "by each person",
        ChosenBy::Operator => "by you, in values",
    };
    let mut line = format!("{{{}}}: {}, {by}", input.name, shown(input.label.get("en")));
    if let Some(suffix) = &input.suffix {
        line = format!("{line}, before {}", shown(suffix));
    }
    if let Some(default) = &input.default {
        line = format!("{line}; {} by default", shown(default));
    } else if let Some(example) = &input.example {
        line = format!("{line}; for example {}", shown(example));
    }
    line
}

fn authorize(authorize: &Authorize, lines: &mut Vec<Line>) {
    let between = between(authorize.scope_separator);
    let raw = if authorize.scope_encoding == ScopeEncoding::Raw { ", not encoded" } else { "" };
    lines.push(("scopes", format!("sent as {}, with {between} between two{raw}", shown(&authorize.scope_parameter))));
    lines.push((
        "PKCE",
        match authorize.pkce {
            Pkce::S256 => "S256".to_owned(),
            Pkce::Off => "not used".to_owned(),
        },
    ));
    let mut offline: Vec<String> = authorize.offline.iter().map(pair).collect();
    offline.extend(authorize.offline_scopes.iter().map(|scope| format!("the scope {}", shown(scope))));
    if !offline.is_empty() {
        lines.push(("to stay connected", offline.join(", ")));
    }
    if !authorize.parameters.is_empty() {
        lines.push(("asked with", parameters(&authorize.parameters)));
    }
    lines.extend(authorize.language.iter().map(|name| ("language", format!("sent as {}", shown(name)))));
}

fn callback(callback: &Callback, lines: &mut Vec<Line>) {
    let standard = Callback::default();
    let renamed = [
        (&callback.code, &standard.code),
        (&callback.state, &standard.state),
        (&callback.error, &standard.error),
        (&callback.error_description, &standard.error_description),
    ];
    let renamed = renamed.into_iter().filter(|(own, usual)| own != usual);
    let mut said: Vec<String> = renamed.map(|(own, usual)| format!("{usual} is called {}", shown(own))).collect();
    if !callback.declined.is_empty() {
        said.push(format!("a person's no is {}", all(callback.declined.iter().map(String::as_str))));
    }
    said.extend(callback.fields.iter().map(|(name, parameter)| format!("{name} is {}", shown(parameter))));
    if !said.is_empty() {
        lines.push(("coming back", said.join("; ")));
    }
}

fn token(token: &TokenRequest, lines: &mut Vec<Line>) {
    let mut said = Vec::new();
    if token.request != Sent::Form {
        said.push(sent(token.request).to_owned());
    }
    if token.code_parameter != "code" {
        said.push(format!("the code as {}", shown(&token.code_parameter)));
    }
    if !token.parameters.is_empty() {
        said.push(format!("with {}", parameters(&token.parameters)));
    }
    // Their values are the definition's own, and no secret; names say enough.
    said.extend(token.headers.iter().map(|(name, _)| format!("with a header {name}")));
    if !said.is_empty() {
        lines.push(("code request", said.join(", ")));
    }
}

/// What a reply is where nothing is said of it.
fn standard(definition: &Definition) -> TokenReply {
    TokenReply { scope_separator: definition.authorize.scope_separator, ..TokenReply::default() }
}

fn reply(label: &'static str, reply: &TokenReply, standard: &TokenReply, lines: &mut Vec<Line>) {
    let mut said = Vec::new();
    if reply.format == Format::Form && standard.format != Format::Form {
        said.push("a form".to_owned());
    }
    let members = [
        ("the token", &reply.access_token, &standard.access_token),
        ("the refresh token", &reply.refresh_token, &standard.refresh_token),
        ("its end", &reply.expires, &standard.expires),
        ("the scopes", &reply.scope, &standard.scope),
    ];
    let moved = members.into_iter().filter(|(_, own, usual)| own != usual);
    said.extend(moved.map(|(what, own, _)| format!("{what} at {}", shown(own.as_str()))));
    if reply.expires_as != standard.expires_as {
        said.push(format!("its end in {}", expires(reply.expires_as)));
    }
    if let Some(lifetime) = reply.lifetime.filter(|_| reply.lifetime != standard.lifetime) {
        said.push(format!("a token lives {}", duration(lifetime)));
    }
    if reply.scope_separator != standard.scope_separator {
        said.push(format!("scopes with {} between two", between(reply.scope_separator)));
    }
    if reply.fields != standard.fields {
        said.push(format!("kept of it: {}", fields(&reply.fields)));
    }
    if !said.is_empty() {
        lines.push((label, said.join("; ")));
    }
}

fn expires(expires: Expires) -> &'static str {
    match expires {
        Expires::Seconds => "seconds",
        Expires::Milliseconds => "milliseconds",
        Expires::Unix => "seconds since 1970",
        Expires::UnixMilliseconds => "milliseconds since 1970",
        Expires::Time => "a time as in RFC 3339",
    }
}

fn refresh(definition: &Definition, lines: &mut Vec<Line>) {
    let refresh = &definition.refresh;
    let mut said = vec![rotation(refresh)];
    said.extend(refresh.endpoint.iter().map(|endpoint| format!("at {}", shown(endpoint.as_str()))));
    if refresh.method != Method::Post {
        said.push(format!("by {}", method(refresh.method)));
    }
    if refresh.request != definition.token.request {
        said.push(sent(refresh.request).to_owned());
    }
    if refresh.by == RefreshBy::AccessToken {
        said.push("the access token is what is sent".to_owned());
    }
    if refresh.grant_type != "refresh_token" {
        said.push(format!("grant_type={}", shown(&refresh.grant_type)));
    }
    if !refresh.parameters.is_empty() {
        said.push(format!("with {}", parameters(&refresh.parameters)));
    }
    let again =
        [(refresh.scope, "the scopes are sent again"), (refresh.redirect_uri, "the redirect URI is sent again")];
    said.extend(again.into_iter().filter(|(is_sent, _)| *is_sent).map(|(_, words)| words.to_owned()));
    said.extend(refresh.lifetime.map(|time| format!("a refresh token not used for {} is dead", duration(time))));
    if !refresh.keeps.is_empty() {
        said.push(format!("what stays as it was: {}", all(refresh.keeps.iter().map(String::as_str))));
    }
    lines.push(("refreshing", said.join("; ")));
    reply("refresh's reply", &refresh.reply, &definition.reply, lines);
}

fn rotation(refresh: &Refresh) -> String {
    match (refresh.rotation, refresh.grace) {
        (Rotation::Never, _) => "the refresh token stays".to_owned(),
        (Rotation::Possible, _) => "a new refresh token may come".to_owned(),
        (Rotation::Always, None) => "a new refresh token comes each time, and the old one is dead".to_owned(),
        (Rotation::Always, Some(grace)) => {
            format!("a new refresh token comes each time, and the old one is dead after {}", duration(grace))
        }
    }
}

fn errors(errors: &Errors, lines: &mut Vec<Line>) {
    let mut said = Vec::new();
    if errors.code != Errors::default().code {
        said.push(format!("at {}", shown(errors.code.as_str())));
    }
    for (codes, meaning) in
        [(&errors.dead, "connect anew"), (&errors.client, "our client is wrong"), (&errors.transient, "later again")]
    {
        if !codes.is_empty() {
            said.push(format!("{}: {meaning}", all(codes.iter().map(String::as_str))));
        }
    }
    if !said.is_empty() {
        lines.push(("errors", said.join("; ")));
    }
}

fn no_revocation() -> String {
    "the provider is not told: no way is documented".to_owned()
}

fn revocation(revocation: &Revocation) -> String {
    let what = match revocation.token {
        Revoked::RefreshToken => "the refresh token, or the access token where there is none",
        Revoked::AccessToken => "the access token",
    };
    let proof = match revocation.proof {
        Proof::Client => "as our client",
        Proof::ClientBasic => "as our client, by Basic",
        Proof::Bearer => "by the access token",
        Proof::Off => "by the token alone",
    };
    format!("{} {}, {what}, {proof}", method(revocation.method), shown(revocation.endpoint.as_str()))
}

fn call(call: &Call) -> String {
    format!("{} {}", method(call.method), shown(call.url.as_str()))
}

fn method(method: Method) -> &'static str {
    match method {
        Method::Post => "POST",
        Method::Get => "GET",
        Method::Delete => "DELETE",
    }
}

fn sent(sent: Sent) -> &'static str {
    match sent {
        Sent::Form => "as a form",
        Sent::Json => "as JSON",
        Sent::Query => "in the URL",
    }
}

fn between(separator: char) -> &'static str {
    match separator {
        ',' => "a comma",
        '+' => "a plus",
        _ => "a space",
    }
}

fn pair((name, value): &(String, String)) -> String {
    shown(&format!("{name}={value}"))
}

fn parameters(parameters: &[(String, String)]) -> String {
    parameters.iter().map(pair).collect::<Vec<_>>().join(", ")
}

fn fields(fields: &BTreeMap<String, Member>) -> String {
    let field = |(name, member): (&String, &Member)| format!("{name} at {}", shown(member.as_str()));
    fields.iter().map(field).collect::<Vec<_>>().join(", ")
}

fn all<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.map(shown).collect::<Vec<_>>().join(", ")
}

/// In the largest unit that it is a whole number of.
fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let units = [(24 * 3600, "days"), (3600, "hours"), (60, "minutes")];
    let found = units.into_iter().find(|(unit, _)| seconds >= 2 * unit && seconds.is_multiple_of(*unit));
    found.map_or_else(|| format!("{seconds} s"), |(unit, name)| format!("{} {name}", seconds / unit))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::config::definition::catalogue;

    const PLAIN: &str = "title = \"X\"\ndocumentation = [\"https://docs.example/oauth\"]\nread = \"2026-11-30\"\n\
                         authorization_endpoint = \"https://id.example/a\"\ntoken_endpoint = \"https://id.example/t\"\n";

    fn lines(more: &str) -> Vec<Line> {
        definition(&catalogue::parse(&format!("{PLAIN}{more}"), Path::new("providers/x.toml")).unwrap())
    }

    #[test]
    fn of_a_standard_provider_only_the_standard_is_said() {
        let labels: Vec<&str> = lines("").into_iter().map(|(label, _)| label).collect();
        assert_eq!(
            labels,
            [
                "people go to",
                "codes go to",
                "our client",
                "scopes",
                "PKCE",
                "refreshing",
                "disconnecting",
                "for templates"
            ]
        );
    }

    /// Whatever a definition says can be read.
    #[test]
    fn each_deviation_is_told() {
        let told = lines(
            r#"
            client_authentication = "client_secret_basic_plain"
            client_id_parameter = "app_id"
            public_clients = true
            issuer = "https://id.example"
            iss = "required"
            introspection_endpoint = "https://id.example/i"
            resource = "https://api.example"
            [authorize]
            scope_separator = ","
            scope_encoding = "raw"
            scope_parameter = "perms"
            pkce = "off"
            offline = { mode = "long" }
            offline_scopes = ["stay"]
            parameters = { audience = "api" }
            language = "lang"
            [callback]
            code = "ticket"
            declined = ["no_thanks"]
            fields = { realm_id = "realmId" }
            [token]
            request = "json"
            code_parameter = "ticket"
            parameters = { ttl = "60" }
            header = { X-Version = "2" }
            [reply]
            format = "form"
            access_token = "data.token"
            expires_as = "unix"
            lifetime = "2h"
            scope_separator = " "
            fields = { site = "data.site" }
            [refresh]
            endpoint = "https://id.example/r"
            method = "GET"
            by = "access_token"
            grant_type = "renew"
            parameters = { again = "1" }
            scope = true
            redirect_uri = true
            rotation = "always"
            grace = "90s"
            lifetime = "48h"
            keeps = ["scope"]
            [errors]
            code = "fault.code"
            dead = ["gone"]
            client = ["who"]
            transient = ["later"]
            [revocation]
            endpoint = "https://id.example/x/{client_id}"
            method = "DELETE"
            token = "access_token"
            proof = "bearer"
            [account]
            member = ["name", "id"]
            [lookup]
            url = "https://api.example/me"
            fields = { shop = "0.id" }
            "#,
        );
        let told = told.iter().map(|(label, said)| format!("{label}: {said}")).collect::<Vec<_>>().join("\n");
        for part in [
            "our client: sends its secret as Basic, not encoded",
            "or has none, and sends its id alone; its id is sent as app_id",
            "issuer: https://id.example; each reply has to name it as iss",
            "introspection: https://id.example/i",
            "resource: https://api.example",
            "scopes: sent as perms, with a comma between two, not encoded",
            "PKCE: not used",
            "to stay connected: mode=long, the scope stay",
            "asked with: audience=api",
            "language: sent as lang",
            "coming back: code is called ticket; a person's no is no_thanks; realm_id is realmId",
            "code request: as JSON, the code as ticket, with ttl=60, with a header x-version",
            "reply: a form; the token at data.token; its end in seconds since 1970; a token lives 2 hours; scopes with a space",
            "kept of it: site at data.site",
            "the old one is dead after 90 s; at https://id.example/r; by GET",
            "the access token is what is sent; grant_type=renew; with again=1",
            "the scopes are sent again; the redirect URI is sent again; a refresh token not used for 2 days is dead",
            "what stays as it was: scope",
            "errors: at fault.code; gone: connect anew; who: our client is wrong; later: later again",
            "disconnecting: DELETE https://id.example/x/{client_id}, the access token, by the access token",
            "connected as: name or id, of the token's reply",
            "looked up: shop at 0.id, of GET https://api.example/me",
            "for templates: access_token, site, realm_id, shop",
        ] {
            assert!(told.contains(part), "{part}:\n{told}");
        }
    }
}
