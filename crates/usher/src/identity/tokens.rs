//! The bearer tokens of MCP clients on this machine (identity mode local; R-SEC-08).
//!
//! A file with one line per client, `name = "token"`, readable for its owner alone (R-SEC-07). The name is
//! the client's verified identity; what a client says about itself is not.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use aws_lc_rs::digest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use elicit::{ClientId, Random, UserId};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use toml::de::DeTable;
use zeroize::Zeroizing;

use crate::config::is_name;
use crate::config::private_file::{self, ReadError, Readers};

/// The client of a file that was made at first start.
const FIRST_CLIENT: &str = "default";

/// The fewest characters of a token: 32 of base64url are 192 bits.
const SHORTEST: usize = 32;

/// The tokens of a file, in its order; at least one.
pub struct Tokens {
    first: Token,
    others: Vec<Token>,
}

struct Token {
    client: ClientId,
    secret: SecretString,
    digest: [u8; 32],
}

/// Why there are no tokens. None of the texts shows one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokensError {
    /// The file can be neither read nor made.
    #[error("{} {reason}; let the user that runs the service read and write it", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Others than its owner can read the file.
    #[error("{path} can be read by others (mode {mode:03o}); run: chmod 600 {path}", path = path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// A line is not `name = "token"` with a good name and a long token.
    #[error("{}:{line}: {reason}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong and what to do.
        reason: String,
    },
    /// The file names no client.
    #[error("{path} holds no token; add a line default = \"…\" or delete the file to have one made", path = path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl Tokens {
    /// Reads the file at `path`, or makes one with a single token for the client `default`.
    pub fn load_or_create(path: &Path, random: &dyn Random) -> Result<Self, TokensError> {
        let text = format!(
            "# Bearer tokens of MCP clients, one line each: name = \"token\". Keep this file to yourself (mode 0600).\n\
             {FIRST_CLIENT} = \"{}\"\n",
            new_token(random).expose_secret(),
        );
        match private_file::create(path, &Zeroizing::new(text)) {
            Ok(()) => {
                tracing::info!(path = %path.display(), "made a file with the tokens of hosts");
                Self::load(path)
            }
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                let reason = format!("cannot be made: {error}");
                Err(TokensError::Unusable { path: path.to_owned(), reason })
            }
            // There before, or made by another process in this moment: what it holds counts.
            Err(_) => Self::load(path),
        }
    }

    /// Reads the file at `path`.
    pub(crate) fn load(path: &Path) -> Result<Self, TokensError> {
        let text = private_file::read(path, Readers::Owner).map_err(|error| match error {
            ReadError::Exposed { mode } => TokensError::Exposed { path: path.to_owned(), mode },
            error => TokensError::Unusable { path: path.to_owned(), reason: error.to_string() },
        })?;
        Self::parse(&text, path)
    }

    fn parse(text: &str, path: &Path) -> Result<Self, TokensError> {
        let wrong = |start: usize, reason: &str| TokensError::Line {
            path: path.to_owned(),
            line: 1 + text.get(..start).unwrap_or(text).matches('\n').count(),
            reason: reason.to_owned(),
        };
        let table = DeTable::parse(text).map_err(|error| {
            // Only what was expected: the error's own display quotes the line, which holds a token.
            let span = error.span().unwrap_or_default();
            let reason = if error.message() == "duplicate key" {
                match text.get(span.clone()).filter(|name| is_name(name)) {
                    Some(name) => format!("the name {name} stands twice; give each host its own"),
                    None => "this name stands twice; give each host its own".to_owned(),
                }
            } else if has_spaced_name(text, span.start) {
                "a name takes no spaces: write it with hyphens, name-of-host = \"token\"".to_owned()
            } else {
                format!("{}; write name = \"token\"", error.message())
            };
            wrong(span.start, &reason)
        })?;
        let mut entries: Vec<_> = table.get_ref().iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut tokens: Vec<Token> = Vec::new();
        for (key, value) in entries {
            let start = key.span().start;
            let name: &str = key.get_ref();
            if !is_name(name) {
                let reason = "a client's name has 1 to 64 lower-case letters, digits and hyphens, and no spaces";
                return Err(wrong(start, reason));
            }
            let client = ClientId::new(name).map_err(|error| wrong(start, &error.to_string()))?;
            let secret =
                value.get_ref().as_str().ok_or_else(|| wrong(start, "a token is a string: write name = \"token\""))?;
            if secret.len() < SHORTEST || !is_bearer_token(secret) {
                return Err(wrong(
                    start,
                    "a token has at least 32 letters, digits and -._~+/, without spaces; openssl rand -hex 32 makes one",
                ));
            }
            let digest = digest_of(secret);
            if tokens.iter().any(|token| token.digest == digest) {
                return Err(wrong(start, "the token is another client's: give each its own"));
            }
            tokens.push(Token { client, secret: SecretString::from(secret), digest });
        }
        let mut tokens = tokens.into_iter();
        let Some(first) = tokens.next() else {
            return Err(TokensError::Empty { path: path.to_owned() });
        };
        Ok(Self { first, others: tokens.collect() })
    }

    /// The client whose token this is. Compares digests with all tokens in constant time, so that neither the
    /// time taken nor a common beginning tells anything about a token.
    pub fn verify(&self, presented: &str) -> Option<ClientId> {
        let presented = digest_of(presented);
        let mut found = None;
        for token in self.all() {
            if bool::from(token.digest.ct_eq(&presented)) {
                found = Some(&token.client);
            }
        }
        found.cloned()
    }

    /// The first client of the file and its token, for the host configuration printed at start.
    pub fn first(&self) -> (&ClientId, &SecretString) {
        (&self.first.client, &self.first.secret)
    }

    /// All clients, in the order of the file.
    pub fn clients(&self) -> impl Iterator<Item = &ClientId> {
        self.all().map(|token| &token.client)
    }

    fn all(&self) -> impl Iterator<Item = &Token> {
        std::iter::once(&self.first).chain(&self.others)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.clients()).finish()
    }
}

/// The one user of identity mode local (R-ID-01): issuer `urn:usher:local`, subject `owner`.
pub fn local_user() -> UserId {
    static USER: std::sync::LazyLock<Option<UserId>> =
        std::sync::LazyLock::new(|| UserId::new("urn:usher:local", "owner").ok());
    match &*USER {
        Some(user) => user.clone(),
        // Two constants that keep the rules for names; a test holds this.
        None => unreachable!("the local user's names are valid"),
    }
}

/// A new token for a client, a browser session, a sign-in link or a command: 256 random bits in base64url.
pub(crate) fn new_token(random: &dyn Random) -> SecretString {
    let mut bytes = Zeroizing::new([0_u8; 32]);
    random.fill(&mut *bytes);
    SecretString::from(URL_SAFE_NO_PAD.encode(*bytes))
}

/// Whether the text can be a token of ours: 43 base64url characters.
pub(crate) fn is_token(text: &str) -> bool {
    text.len() == 43 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
}

/// Whether the line around the byte `at` begins with a name of several words and `=`.
fn has_spaced_name(text: &str, at: usize) -> bool {
    let start = text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |end| end + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or_default();
    line.split_once('=').is_some_and(|(name, _)| {
        let mut words = name.split_whitespace();
        words.next().is_some() && words.next().is_some() && !name.contains(['"', '\'', '#'])
    })
}

/// The SHA-256 of a token.
pub(super) fn digest_of(token: &str) -> [u8; 32] {
    let mut bytes = [0; 32];
    bytes.copy_from_slice(digest::digest(&digest::SHA256, token.as_bytes()).as_ref());
    bytes
}

/// The `b64token` of RFC 6750, section 2.1: what can stand in an `Authorization` header.
fn is_bearer_token(text: &str) -> bool {
    let text = text.trim_end_matches('=');
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::folder::Folder;
    use elicit::SystemRandom;

    const CURSOR: &str = "cursor-token-0123456789-0123456789-0123456789";
    const EDITOR: &str = "editor-token-0123456789-0123456789-0123456789";

    fn parse(text: &str) -> Result<Tokens, String> {
        Tokens::parse(text, Path::new("usher.tokens")).map_err(|error| error.to_string())
    }

    /// R-SEC-07, R-SEC-08: a first start leaves one token, which only its owner can read.
    #[test]
    fn a_first_start_makes_one_token() {
        let folder = Folder::new();
        let path = folder.path("usher.tokens");
        let made = Tokens::load_or_create(&path, &SystemRandom).unwrap();
        let (client, token) = made.first();
        assert_eq!(client.as_str(), "default");
        assert_eq!(token.expose_secret().len(), 43, "256 bits");
        assert_eq!(made.verify(token.expose_secret()), Some(client.clone()));
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        }

        let again = Tokens::load_or_create(&path, &SystemRandom).unwrap();
        assert_eq!(again.first().1.expose_secret(), token.expose_secret(), "later starts keep it");
    }

    /// R-ID-01: the token tells the client, and one client is not another.
    #[test]
    fn each_token_is_one_client() {
        let tokens = parse(&format!("# hosts\neditor = \"{EDITOR}\"\ncursor = '{CURSOR}'\n")).unwrap();
        assert_eq!(tokens.verify(CURSOR).unwrap().as_str(), "cursor");
        assert_eq!(tokens.verify(EDITOR).unwrap().as_str(), "editor");
        assert_eq!(tokens.first().0.as_str(), "editor", "the order of the file");
        let clients: Vec<_> = tokens.clients().map(ClientId::as_str).collect();
        assert_eq!(clients, ["editor", "cursor"]);
    }

    /// R-SEC-08
    #[test]
    fn a_foreign_token_is_nobody() {
        let tokens = parse(&format!("cursor = \"{CURSOR}\"")).unwrap();
        for foreign in ["", "cursor", &CURSOR[1..], &CURSOR[..44], &format!("{CURSOR} "), &CURSOR.to_uppercase()] {
            assert_eq!(tokens.verify(foreign), None, "{foreign:?}");
        }
    }

    /// R-SEC-07
    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused_with_the_command_that_mends_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new();
        let path = folder.path("usher.tokens");
        Tokens::load_or_create(&path, &SystemRandom).unwrap();
        for mode in [0o640, 0o604, 0o644] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = Tokens::load_or_create(&path, &SystemRandom).unwrap_err();
            assert!(matches!(error, TokensError::Exposed { mode: found, .. } if found == mode));
            assert!(error.to_string().contains(&format!("chmod 600 {}", path.display())), "{error}");
        }
    }

    #[test]
    fn faults_name_the_line_and_show_no_token() {
        for (text, expected) in [
            (format!("a = \"{CURSOR}\"\nb = {EDITOR}\n"), "usher.tokens:2: "),
            (format!("a = \"{CURSOR}\"\n\nA = \"{EDITOR}\"\n"), "usher.tokens:3: a client's name"),
            (
                "a = \"short\"".to_owned(),
                "usher.tokens:1: a token has at least 32 letters, digits and -._~+/, without spaces; openssl rand -hex 32",
            ),
            (format!("a = \"{CURSOR} {EDITOR}\""), "usher.tokens:1: a token has at least 32"),
            ("a = \"================================\"".to_owned(), "usher.tokens:1: a token has at least 32"),
            (format!("a = \"{CURSOR}\"\nb = \"{CURSOR}\""), "usher.tokens:2: the token is another client's"),
            (
                format!("a = \"{CURSOR}\"\na = \"{EDITOR}\""),
                "usher.tokens:2: the name a stands twice; give each host its own",
            ),
            (format!("a = \"{CURSOR}\"\nmy editor = \"{EDITOR}\""), "usher.tokens:2: a name takes no spaces"),
            (format!("\"my editor\" = \"{EDITOR}\""), "usher.tokens:1: a client's name"),
            ("a = 1".to_owned(), "usher.tokens:1: a token is a string"),
            ("[a]\nb = 1".to_owned(), "usher.tokens:1: a token is a string"),
            ("# nobody\n".to_owned(), "usher.tokens holds no token"),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
            assert!(!error.contains("0123456789"), "{error}");
        }
    }

    #[test]
    fn only_what_can_be_a_token_is_taken_for_one() {
        assert!(is_token(new_token(&SystemRandom).expose_secret()));
        for text in ["", "short", &"<".repeat(43), &"t".repeat(44)] {
            assert!(!is_token(text), "{text}");
        }
    }

    #[test]
    fn debug_shows_clients_and_no_token() {
        let tokens = parse(&format!("cursor = \"{CURSOR}\"")).unwrap();
        let debug = format!("{tokens:?}");
        assert!(debug.contains("cursor") && !debug.contains("0123"), "{debug}");
    }

    #[test]
    fn the_local_user_is_always_the_same() {
        assert_eq!(local_user(), local_user());
        assert_eq!((local_user().issuer(), local_user().subject()), ("urn:usher:local", "owner"));
    }
}
