use std::fmt::Write as _;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Program;
use crate::free_port;
use crate::idp::CLIENT;
use crate::oauth::{self, Endpoint, Provider};
use crate::person::Person;

/// What the service is set up for.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The program.
    pub path: PathBuf,
    /// The core that it runs on.
    pub core: usize,
    /// Its folder, which is made, and holds its store.
    pub folder: PathBuf,
    /// The origin of the upstream (see [`echo`](super::echo)).
    pub upstream: String,
    /// Verified clients: `c0` and so on.
    pub clients: usize,
    /// Upstreams with a provider each: `p0` and so on, beside `plain`, which needs nothing.
    pub providers: usize,
    /// Whose access tokens clients have (see [`Idp`](crate::idp::Idp)); without one the mode is local.
    pub issuer: Option<String>,
    /// Where people have the account that the upstream `account` needs; without it there is no such upstream.
    pub accounts: Option<Arc<Provider>>,
}

/// What the token of each client begins with.
pub(super) const OF_A_CLIENT: &str = "token-of-the-client-";

/// The running service.
#[derive(Debug)]
pub struct Usher {
    /// Its process.
    pub program: Program,
    /// Somebody who is signed in.
    pub person: Person,
}

/// More than any load: what is measured is not how it refuses.
const LIMITS: &str = "[limits]\nclient_questions_per_minute = 1000000\nuser_questions_per_minute = 1000000\n\
    upstream_questions_per_minute = 1000000\nuser_open_questions = 1000000\nclient_open_questions = 1000000\n\
    client_held_calls = 999999\n\
    user_held_calls = 1000000\nheld_calls = 1000000\nclient_sessions = 1000000\nuser_sessions = 1000000\n\
    client_requests = 1000000\nclient_memory = \"1GiB\"\nmemory = \"2GiB\"\n";

impl Setup {
    /// The token of a client.
    pub fn token(client: usize) -> String {
        format!("{OF_A_CLIENT}{client:032}")
    }

    /// Writes the files of a service at a free port, which is returned.
    pub fn write(&self) -> io::Result<u16> {
        let port = free_port();
        std::fs::create_dir_all(&self.folder)?;
        let mut text =
            format!("public_url = \"http://127.0.0.1:{port}\"\n[listen]\naddress = \"127.0.0.1:{port}\"\n{LIMITS}");
        if let Some(issuer) = &self.issuer {
            let _ = write!(text, "[identity]\nmode = \"oidc\"\nissuer = \"{issuer}\"\nclient_id = \"{CLIENT}\"\n");
        }
        for number in 0..self.providers {
            let _ = write!(
                text,
                "[[provider]]\nname = \"p{number}\"\ntitle = \"Weather\"\nkind = \"secret\"\n[[provider.field]]\nname = \"api_key\"\n\
                 label = \"API key\"\n[[upstream]]\nname = \"p{number}\"\ntitle = \"Weather\"\nhold = \"10m\"\nurl = \"{}/keyed\"\n\
                 [[upstream.needs]]\nprovider = \"p{number}\"\nheader = {{ X-Api-Key = \"{{api_key}}\" }}\n",
                self.upstream
            );
        }
        if let Some(accounts) = &self.accounts {
            text.push_str(&self.account(accounts));
        }
        let _ = write!(text, "[[upstream]]\nname = \"plain\"\nurl = \"{}/mcp\"\n", self.upstream);
        std::fs::write(self.config(), text)?;
        let mut tokens = String::new();
        for client in 0..self.clients {
            let _ = writeln!(tokens, "c{client} = \"{}\"", Self::token(client));
        }
        let file = self.folder.join("usher.tokens");
        std::fs::write(&file, tokens)?;
        std::fs::set_permissions(file, Permissions::from_mode(0o600))?;
        Ok(port)
    }

    fn account(&self, accounts: &Provider) -> String {
        format!(
            "[[provider]]\nname = \"hub\"\ntitle = \"Hub\"\nkind = \"oauth\"\nissuer = \"{}\"\nauthorization_endpoint = \"{}\"\n\
             token_endpoint = \"{}\"\nclient_id = \"{}\"\nclient_secret = \"{}\"\nscopes = [\"read\"]\n\
             [[upstream]]\nname = \"account\"\nurl = \"{}/granted\"\n[[upstream.needs]]\nprovider = \"hub\"\n\
             header = {{ Authorization = \"Bearer {{access_token}}\" }}\n",
            accounts.issuer(),
            accounts.url(Endpoint::Authorization),
            accounts.url(Endpoint::Token),
            oauth::CLIENT,
            oauth::CLIENT_SECRET,
            self.upstream
        )
    }

    fn config(&self) -> PathBuf {
        self.folder.join("usher.toml")
    }

    /// Starts the program on files that are written.
    pub fn program(&self, port: u16) -> io::Result<Program> {
        let config = self.config();
        let arguments = [Path::new("serve"), Path::new("--show-token"), Path::new("--config"), &config];
        Program::start(self.core, &self.path, &arguments, port)
    }

    /// Starts the service, and signs somebody in.
    pub async fn start(&self) -> io::Result<Usher> {
        let port = self.write()?;
        let mut program = self.program(port)?;
        let welcome = program.line(|line| line.contains("Sign in"))?;
        let link = welcome.split_whitespace().find(|word| word.starts_with("http://")).unwrap_or_default();
        let person = Person::new(format!("http://127.0.0.1:{port}")).language("en");
        person.sign_in(link).await;
        Ok(Usher { program, person })
    }
}
