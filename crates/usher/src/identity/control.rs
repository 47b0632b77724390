//! How a command on this machine proves to the running service that its user may be signed in.
//!
//! The service writes a file for its owner alone (R-SEC-07) at each start: its address and a fresh token.
//! `usher login` presents the token and gets a one-time link (R-SEC-08). A file of an earlier run opens nothing.

use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

use elicit::Random;
use http::{Method, header};
use secrecy::{ExposeSecret, SecretString};
use subtle::ConstantTimeEq;
use toml::de::DeTable;
use zeroize::Zeroizing;

use super::tokens::{digest_of, new_token};
use crate::config::PublicUrl;
use crate::config::private_file::{self, ReadError, Readers};
use crate::egress::Egress;

/// The service's side: the token of this run.
pub struct ControlToken {
    digest: [u8; 32],
    path: PathBuf,
}

/// The commands' side: what the file says.
pub struct ControlFile {
    /// Where browsers and clients reach the service.
    pub url: PublicUrl,
    /// Where it listens on this machine. Commands ask there, so that the token goes through nothing that stands before the
    /// service.
    address: SocketAddr,
    /// What proves that the command may ask.
    pub token: SecretString,
}

/// Why the control file was not written or read. None of the texts shows the token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ControlError {
    /// There is no file: no service has run with this configuration.
    #[error("there is no {}: the service is not running; start it with usher serve", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be read or written.
    #[error("{} {reason}; run as the user that runs the service", path.display())]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Others than its owner can read the file, so its token may be known.
    #[error("{} can be read by others (mode {mode:03o}); restart the service, which writes a new one", path.display())]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file is not one of ours.
    #[error("{} is not the service's control file; restart the service, which writes a new one", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
    },
}

impl ControlToken {
    /// Makes the token of this run and writes the file, in the place of an earlier one. For the start of the
    /// service, once it listens: from then on a command may come.
    pub fn issue(
        path: &Path,
        url: &PublicUrl,
        listening: SocketAddr,
        random: &dyn Random,
    ) -> Result<Self, ControlError> {
        let token = new_token(random);
        let text = Zeroizing::new(format!(
            "# Written by the running service for commands of this machine. Keep this file to yourself.\n\
             url = \"{}\"\naddress = \"{}\"\ntoken = \"{}\"\n",
            url.origin(),
            reachable(listening),
            token.expose_secret(),
        ));
        private_file::replace(path, &text).map_err(|error| ControlError::Unusable {
            path: path.to_owned(),
            reason: format!("cannot be written: {error}"),
        })?;
        Ok(Self { digest: digest_of(token.expose_secret()), path: path.to_owned() })
    }

    /// Whether this is the token, in constant time.
    pub fn verify(&self, presented: &str) -> bool {
        digest_of(presented).ct_eq(&self.digest).into()
    }

    /// Removes the file when the service ends, unless another run has written its own by now. A file that
    /// cannot be removed is harmless: its token opens nothing any more.
    pub fn withdraw(&self) {
        if ControlFile::load(&self.path).is_ok_and(|file| self.verify(file.token.expose_secret())) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

impl fmt::Debug for ControlToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlToken").field("path", &self.path).finish_non_exhaustive()
    }
}

impl ControlFile {
    /// Reads the file that a running service has written.
    pub fn load(path: &Path) -> Result<Self, ControlError> {
        let path = path.to_owned();
        match private_file::read(&path, Readers::Owner) {
            Ok(text) => Self::parse(&text).ok_or(ControlError::Malformed { path }),
            Err(ReadError::Io(error)) if error.kind() == io::ErrorKind::NotFound => Err(ControlError::Missing { path }),
            Err(ReadError::Exposed { mode }) => Err(ControlError::Exposed { path, mode }),
            Err(error) => Err(ControlError::Unusable { path, reason: error.to_string() }),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let table = DeTable::parse(text).ok()?.into_inner();
        let text = |key: &str| table.get(key)?.get_ref().as_str();
        Some(Self {
            url: PublicUrl::parse(text("url")?).ok()?,
            address: text("address")?.parse().ok()?,
            token: SecretString::from(text("token")?),
        })
    }

    /// A request to the service on this machine, without the token. It names the host that the service answers to.
    pub fn request(&self, egress: &Egress, method: Method, path: &str) -> reqwest::RequestBuilder {
        let url = format!("http://{}{path}", self.address);
        egress.operator().request(method, url).header(header::HOST, self.url.authority())
    }

    /// The same with the token.
    pub fn command(&self, egress: &Egress, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.request(egress, method, path).bearer_auth(self.token.expose_secret())
    }

    /// Where the service is asked, in words.
    pub fn place(&self) -> String {
        if self.url.authority() == self.address.to_string() {
            return self.url.origin().to_owned();
        }
        format!("{} ({})", self.url.origin(), self.address)
    }
}

/// Where a program of this machine reaches what listens at this address.
fn reachable(listening: SocketAddr) -> SocketAddr {
    let ip = match listening.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, listening.port())
}

impl fmt::Debug for ControlFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlFile").field("url", &self.url.origin()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::folder::Folder;
    use elicit::SystemRandom;

    fn issue(path: &Path) -> ControlToken {
        let url = PublicUrl::parse("http://127.0.0.1:8420").unwrap();
        ControlToken::issue(path, &url, "127.0.0.1:8420".parse().unwrap(), &SystemRandom).unwrap()
    }

    /// R-SEC-08: the token leaves the machine by no way, whatever stands before the service.
    #[test]
    fn commands_ask_where_the_service_listens() {
        crate::commands::install_crypto_provider();
        let (folder, egress) = (Folder::new(), Egress::new().unwrap());
        let path = folder.path("usher.control");
        let url = PublicUrl::parse("https://usher.example").unwrap();
        for (listening, asked) in [
            ("0.0.0.0:8420", "http://127.0.0.1:8420/x"),
            ("[::]:8420", "http://[::1]:8420/x"),
            ("10.0.0.7:80", "http://10.0.0.7/x"),
            ("127.0.0.1:8420", "http://127.0.0.1:8420/x"),
        ] {
            ControlToken::issue(&path, &url, listening.parse().unwrap(), &SystemRandom).unwrap();
            let file = ControlFile::load(&path).unwrap();
            let request = file.command(&egress, Method::POST, "/x").build().unwrap();
            assert_eq!(request.url().as_str(), asked);
            assert_eq!(request.headers()["host"], "usher.example");
        }
    }

    /// R-SEC-07, R-SEC-08
    #[test]
    fn a_command_of_the_same_user_finds_the_address_and_the_token() {
        let folder = Folder::new();
        let path = folder.path("usher.control");
        let service = issue(&path);
        let file = ControlFile::load(&path).unwrap();
        assert_eq!(file.url.origin(), "http://127.0.0.1:8420");
        assert_eq!(file.place(), "http://127.0.0.1:8420");
        assert!(service.verify(file.token.expose_secret()));
        assert!(!service.verify(""));
        assert!(!service.verify(&file.token.expose_secret()[1..]));
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        }
    }

    /// R-SEC-08: a token is good for one run of the service.
    #[test]
    fn a_new_start_makes_the_old_token_stale() {
        let folder = Folder::new();
        let path = folder.path("usher.control");
        let earlier = issue(&path);
        let stale = ControlFile::load(&path).unwrap().token;
        let service = issue(&path);
        assert!(!service.verify(stale.expose_secret()));
        let fresh = ControlFile::load(&path).unwrap().token;
        assert!(service.verify(fresh.expose_secret()));

        earlier.withdraw();
        assert!(path.exists(), "the file belongs to the later run");
        service.withdraw();
        assert!(matches!(ControlFile::load(&path), Err(ControlError::Missing { .. })));
    }

    /// R-SEC-07
    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused_and_a_start_mends_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = Folder::new();
        let path = folder.path("usher.control");
        issue(&path);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let error = ControlFile::load(&path).unwrap_err();
        assert!(matches!(error, ControlError::Exposed { mode: 0o644, .. }));
        assert!(error.to_string().ends_with("restart the service, which writes a new one"), "{error}");
        issue(&path);
        assert!(ControlFile::load(&path).is_ok());
    }

    #[test]
    fn what_is_no_control_file_is_refused() {
        let folder = Folder::new();
        let path = folder.path("usher.control");
        for text in ["", "url = 1", "url = \"http://127.0.0.1:1\"", "url = \"x\"\ntoken = \"t\"", "\"", "token = \"t\""]
        {
            private_file::replace(&path, text).unwrap();
            assert!(matches!(ControlFile::load(&path), Err(ControlError::Malformed { .. })), "{text:?}");
        }
    }

    #[test]
    fn debug_shows_no_token() {
        let folder = Folder::new();
        let path = folder.path("usher.control");
        let service = issue(&path);
        let file = ControlFile::load(&path).unwrap();
        let debug = format!("{service:?} {file:?}");
        assert!(!debug.contains(file.token.expose_secret()), "{debug}");
    }
}
