//! A PostgreSQL of our own for one test run: made from installed programs, thrown away at the end.

use std::fmt::Write as _;
use std::io::Read as _;
use std::net::TcpListener;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::apt;
use crate::{Fault, process, workspace};

/// What a test server gives up: it may lose everything when the machine stops.
const SETTINGS: &str = "fsync = off\nsynchronous_commit = off\nfull_page_writes = off\n\
                        listen_addresses = '127.0.0.1'\nmax_connections = 300\nshared_buffers = 64MB\n";

/// Ends the server and removes its folder when our end of its standard input closes, so also when we are
/// killed. `$1` is `pg_ctl`, `$2` the folder.
const WATCHDOG: &str =
    "cat >/dev/null; \"$1\" -D \"$2/data\" -m immediate -w -t 20 stop >/dev/null 2>&1; rm -rf \"$2\"";

/// The programs of an installed PostgreSQL.
pub(crate) struct Programs {
    folder: PathBuf,
    /// Another user that the server runs as: it refuses to run as root.
    user: Option<Account>,
}

/// Numbers of a user and its group.
struct Account {
    user: String,
    group: String,
}

/// A running server. It stops when this is dropped, and when our process ends in any way.
pub(crate) struct Server {
    url: String,
    watchdog: Child,
}

/// Finds PostgreSQL, or installs it where we may.
pub(crate) fn install() -> Result<Programs, Fault> {
    let missing = "PostgreSQL (the server: initdb, pg_ctl, postgres)";
    let folder = if let Some(folder) = find() {
        folder
    } else {
        apt::install("postgresql", missing)?;
        find().ok_or_else(|| format!("{missing} is still missing after its installation"))?
    };
    let user = if workspace::is_root() { Some(other_user()?) } else { None };
    Ok(Programs { folder, user })
}

fn find() -> Option<PathBuf> {
    let named = process::output(Command::new("pg_config").arg("--bindir")).ok();
    let mut folders: Vec<PathBuf> = named.iter().map(|line| PathBuf::from(line.trim())).collect();
    let mut versions: Vec<(u32, PathBuf)> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .collect();
    versions.sort();
    folders.extend(versions.into_iter().rev().map(|(_, folder)| folder));
    folders.extend(workspace::program(&["initdb"]).and_then(|path| path.parent().map(Path::to_path_buf)));
    folders.into_iter().find(|folder| ["initdb", "pg_ctl", "postgres"].iter().all(|name| folder.join(name).is_file()))
}

fn other_user() -> Result<Account, Fault> {
    let id = |flag: &str, name: &str| {
        process::output(Command::new("id").args([flag, name])).map(|number| number.trim().to_owned())
    };
    ["postgres", "nobody"]
        .into_iter()
        .find_map(|name| Some(Account { user: id("-u", name).ok()?, group: id("-g", name).ok()? }))
        .ok_or_else(|| "PostgreSQL refuses to run as root, and there is no user postgres or nobody".to_owned())
}

impl Programs {
    /// Starts a fresh server on a free loopback port.
    pub(crate) fn start(&self) -> Result<Server, Fault> {
        // Somebody may take the port between our look and the server's start.
        let mut last = Fault::new();
        for _ in 0..3 {
            match self.try_start() {
                Ok(server) => return Ok(server),
                Err(fault) => last = fault,
            }
        }
        Err(format!("PostgreSQL did not start: {last}"))
    }

    fn try_start(&self) -> Result<Server, Fault> {
        let start = Instant::now();
        let folder = self.folder()?;
        let watchdog = self
            .command("sh")
            .args(["-c", WATCHDOG, "sh"])
            .arg(self.folder.join("pg_ctl"))
            .arg(&folder)
            .stdin(Stdio::piped())
            // Ctrl-C goes to our whole process group; this one must outlive it to clean up.
            .process_group(0)
            .spawn()
            .map_err(|error| format!("sh cannot be run: {error}"))?;
        let port = free_port()?;
        let password = password()?;
        let server = Server { url: format!("postgres://usher:{password}@127.0.0.1:{port}/postgres"), watchdog };
        let data = folder.join("data");
        let secret = folder.join("password");
        self.write(&secret, &password)?;
        process::output(
            self.command(self.folder.join("initdb"))
                .args(["--no-sync", "--encoding=UTF8", "--locale=C", "--username=usher", "--auth=scram-sha-256"])
                .arg(format!("--pwfile={}", secret.display()))
                .arg(format!("--pgdata={}", data.display())),
        )?;
        let settings = format!("{SETTINGS}port = {port}\nunix_socket_directories = '{}'\n", folder.display());
        self.write(&data.join("postgresql.auto.conf"), &settings)?;
        process::output(
            self.command(self.folder.join("pg_ctl"))
                .args(["-w", "-t", "60", "start"])
                .arg(format!("--pgdata={}", data.display()))
                .arg(format!("--log={}", folder.join("log").display())),
        )?;
        eprintln!("PostgreSQL runs on port {port} (started in {:.1} s)", start.elapsed().as_secs_f64());
        Ok(server)
    }

    /// A new temporary folder that belongs to the server's user. Its path is short: a socket's may have 107 bytes.
    fn folder(&self) -> Result<PathBuf, Fault> {
        let own = std::env::temp_dir();
        let bases = [own.as_path(), Path::new("/tmp")];
        let mut last = Fault::new();
        for base in bases.into_iter().filter(|base| base.as_os_str().len() <= 60) {
            match process::output(self.command("mktemp").arg("-d").arg(base.join("usher-pg.XXXXXX"))) {
                Ok(path) => return Ok(PathBuf::from(path.trim())),
                Err(fault) => last = fault,
            }
        }
        Err(last)
    }

    /// Writes a file as the server's user, readable by it alone.
    fn write(&self, path: &Path, text: &str) -> Result<(), Fault> {
        let mut child = self
            .command("sh")
            .args(["-c", "umask 077 && cat >\"$1\"", "sh"])
            .arg(path)
            .stdin(Stdio::piped())
            .spawn()
            .map_err(|error| format!("sh cannot be run: {error}"))?;
        if let Some(mut input) = child.stdin.take() {
            std::io::Write::write_all(&mut input, text.as_bytes())
                .map_err(|error| format!("{}: {error}", path.display()))?;
        }
        match child.wait() {
            Ok(status) if status.success() => Ok(()),
            _ => Err(format!("{} cannot be written", path.display())),
        }
    }

    /// `program` as the server's user, in a folder that this user can read.
    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = match &self.user {
            Some(Account { user, group }) => {
                let mut command = Command::new("setpriv");
                command.arg(format!("--reuid={user}")).arg(format!("--regid={group}"));
                command.args(["--clear-groups", "--"]).arg(program);
                command
            }
            None => Command::new(program),
        };
        command.current_dir("/").env("LC_ALL", "C").env_remove("PGDATA").env_remove("PGPORT");
        command
    }
}

impl Server {
    /// Where it listens; the user may create databases.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.watchdog.stdin.take());
        let start = Instant::now();
        while matches!(self.watchdog.try_wait(), Ok(None)) && start.elapsed() < Duration::from_secs(25) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn free_port() -> Result<u16, Fault> {
    TcpListener::bind(("127.0.0.1", 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|error| format!("no free port: {error}"))
}

/// 128 random bits: other users of the machine can reach the port.
fn password() -> Result<String, Fault> {
    let mut bytes = [0_u8; 16];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(|error| format!("/dev/urandom: {error}"))?;
    let mut password = String::new();
    for byte in bytes {
        write!(password, "{byte:02x}").ok();
    }
    Ok(password)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_long_and_never_the_same() {
        let (one, other) = (password().unwrap(), password().unwrap());
        assert_eq!(one.len(), 32);
        assert_ne!(one, other);
    }
}
