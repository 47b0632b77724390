use std::ffi::OsStr;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to start, and to stop.
const PATIENCE: Duration = Duration::from_secs(20);

/// A program that is measured, on a core of its own. It ends when this is dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    output: BufReader<ChildStdout>,
    /// Where it listens.
    pub address: SocketAddr,
}

impl Program {
    /// Starts `path` on `core`, which is to listen at `port`. Files may be open as many as the system allows.
    pub fn start<A: AsRef<OsStr>>(core: usize, path: &Path, arguments: &[A], port: u16) -> io::Result<Self> {
        let mut command = Command::new("sh");
        command.args(["-c", "ulimit -n \"$(ulimit -H -n)\"; exec taskset -c \"$0\" \"$@\""]).arg(core.to_string());
        command.arg(path).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn()?;
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        Ok(Self { child, output, address: SocketAddr::from(([127, 0, 0, 1], port)) })
    }

    /// Waits until somebody listens.
    pub fn listening(&mut self) -> io::Result<()> {
        let start = Instant::now();
        while std::net::TcpStream::connect(self.address).is_err() {
            if let Some(status) = self.child.try_wait()? {
                return Err(io::Error::other(format!("the program ended: {status}")));
            }
            if start.elapsed() > PATIENCE {
                return Err(io::ErrorKind::TimedOut.into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    /// The next line that it prints which `wanted` likes.
    pub fn line(&mut self, wanted: impl Fn(&str) -> bool) -> io::Result<String> {
        loop {
            let mut line = String::new();
            match self.output.read_line(&mut line)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                _ if wanted(&line) => return Ok(line),
                _ => {}
            }
        }
    }

    /// The processor time that its threads have had.
    pub fn cpu(&self) -> Duration {
        let folder = PathBuf::from(format!("/proc/{}/task", self.child.id()));
        let threads = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let of = |path: PathBuf| std::fs::read_to_string(path.join("schedstat")).ok();
        let nanoseconds = threads.filter_map(|thread| of(thread.path())?.split(' ').next()?.parse::<u64>().ok());
        Duration::from_nanos(nanoseconds.sum())
    }

    /// Its memory that is no file, in bytes.
    pub fn memory(&self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kibibytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kibibytes.unwrap_or(f64::NAN) * 1024.0
    }

    /// Asks it to stop, and waits until it has.
    pub fn stop(mut self) -> io::Result<()> {
        Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status()?;
        let start = Instant::now();
        while self.child.try_wait()?.is_none() {
            if start.elapsed() > PATIENCE {
                return Err(io::ErrorKind::TimedOut.into());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = io::stdout().flush();
    }
}
