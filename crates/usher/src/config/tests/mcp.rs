//! Providers of kind `mcp`, and the servers that need them.

use super::{faults, parse};

const PROVIDER: &str = "[[provider]]\nname = \"notes\"\nkind = \"mcp\"\n";
const SERVER: &str = "[[upstream]]\nname = \"notes\"\nurl = \"https://mcp.notes.example/mcp\"\n";
const NEED: &str = "[[upstream.needs]]\nprovider = \"notes\"\n";

#[test]
fn a_server_that_demands_its_own_sign_in_takes_few_lines() {
    let config = parse(&format!("{PROVIDER}{SERVER}{NEED}")).unwrap();
    let provider = config.provider("notes").unwrap();
    let (upstream, url) = config.protected(provider).unwrap();
    assert_eq!((upstream.name.as_str(), url.as_str()), ("notes", "https://mcp.notes.example/mcp"));
    assert_eq!(config.chosen_origins(provider).len(), 1);
    assert_eq!(upstream.needs[0].headers[0].0, "authorization");
    let pinned = format!("{PROVIDER}issuer = \"https://id.internal\"\nclient_id = \"x\"\n{SERVER}{NEED}");
    let config = parse(&pinned).unwrap();
    assert_eq!(config.chosen_origins(config.provider("notes").unwrap()).len(), 2);
}

/// R-OAUTH-05: a client is good at one authorization server, and a token at one server.
#[test]
fn a_client_has_an_issuer_and_a_provider_has_one_server() {
    let client = format!("{PROVIDER}client_id = \"x\"\nclient_secret = \"s\"\n{SERVER}{NEED}");
    assert_eq!(
        faults(parse(&client)),
        "1:1 provider[0].issuer: is missing, and a client_id is given, which is good at one authorization server alone"
    );
    let other = SERVER.replace("\"notes\"", "\"other\"");
    assert_eq!(
        faults(parse(&format!("{PROVIDER}{SERVER}{NEED}{other}{NEED}"))),
        "13:12 upstream[1].needs[0].provider: the provider notes is of kind mcp, and the server notes needs it already"
    );
    let command = "[[upstream]]\nname = \"notes\"\ncommand = [\"notes\"]\n";
    let need = format!("{NEED}env = {{ TOKEN = \"{{access_token}}\" }}\n");
    assert_eq!(
        faults(parse(&format!("{PROVIDER}{command}{need}"))),
        "8:12 upstream[0].needs[0].provider: the provider notes is of kind mcp, which is for servers at a URL that demand it"
    );
}
