//! Who takes part: the measured programs on one core, the upstream and this very program on another.

use std::path::{Path, PathBuf};

use usher_testkit::free_port;
use usher_testkit::load::{Answer, Program, Run, Setup, drive};

/// How often each cell is measured.
pub(crate) const SAMPLES: usize = 7;
/// Calls of one sample: 21,000 a cell.
pub(crate) const CALLS: usize = 3_000;
/// Connections of the load.
pub(crate) const CLIENTS: usize = 32;

/// The core of what is measured.
const MEASURED: usize = 0;
/// The core of all else.
const OTHERS: usize = 1;

/// Where everything is.
pub(crate) struct Stage {
    usher: PathBuf,
    folder: PathBuf,
    own: PathBuf,
    upstream: Program,
}

impl Stage {
    pub(crate) fn new(usher: &Path, folder: &Path) -> Self {
        let own = std::env::current_exe().expect("its own path");
        let port = free_port();
        let upstream = ["serve".to_owned(), "echo".to_owned(), port.to_string()];
        let mut upstream = Program::start(OTHERS, &own, &upstream, port).expect("the upstream");
        upstream.listening().expect("the upstream");
        Self { usher: usher.to_owned(), folder: folder.to_owned(), own, upstream }
    }

    pub(crate) fn upstream(&self) -> String {
        format!("http://{}", self.upstream.address)
    }

    /// A folder of this name.
    pub(crate) fn folder(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// One of our own programs, measured.
    pub(crate) fn program(&self, name: &str, more: &[&str]) -> Program {
        let port = free_port();
        let port_text = port.to_string();
        let arguments: Vec<&str> = ["serve", name, &port_text].iter().chain(more).copied().collect();
        let mut program = Program::start(MEASURED, &self.own, &arguments, port).expect("a program");
        program.listening().expect("a program");
        program
    }

    /// How the service is set up.
    pub(crate) fn setup(&self, name: &str, clients: usize, providers: usize) -> Setup {
        Setup {
            path: self.usher.clone(),
            core: MEASURED,
            folder: self.folder(name),
            upstream: self.upstream(),
            clients,
            providers,
            issuer: None,
            accounts: None,
        }
    }
}

/// What one sample took.
pub(crate) struct Taken {
    /// Processor time of a call, in seconds.
    pub(crate) cpu: f64,
    /// The typical time of a call, in seconds.
    pub(crate) typical: f64,
}

/// One sample: processor time of `program` over `calls` calls.
pub(crate) async fn sample<M, G>(program: &Program, clients: usize, calls: usize, make: M, good: G) -> Taken
where
    M: Fn(usize) -> Vec<u8> + Send + Sync + 'static,
    G: Fn(usize, &Answer) -> bool + Send + Sync + 'static,
{
    let before = program.cpu();
    let Run { typical, .. } = drive(program.address, clients, calls, make, good).await;
    let cpu = program.cpu().saturating_sub(before).as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "some thousand calls")]
    Taken { cpu: cpu / calls as f64, typical: typical.as_secs_f64() }
}
