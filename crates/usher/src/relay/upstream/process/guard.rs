//! The guard: a small process beside the service that outlives it by a moment. When the service is killed, its end of a pipe
//! closes, and the guard ends every process group that it was told of. So no server is left behind after any kind of stop.

use std::{
    io::Write as _,
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, PoisonError},
};

/// The service's side of the guard. Cheap to clone; the guard ends when the last one is dropped.
#[derive(Clone, Default)]
pub(in crate::relay) struct Guard {
    child: Option<Arc<Watching>>,
}

struct Watching(Mutex<Child>);

/// The hidden command of our own program that the guard runs.
pub(crate) const COMMAND: &str = "guard";

impl Guard {
    /// Starts it, from our own `program`. Without one, servers that ignore the end of their standard input outlive a killed
    /// service.
    pub(super) fn start(program: Option<&Path>) -> Self {
        let Some(program) = program else { return Self::default() };
        let mut command = Command::new(program);
        command.arg(COMMAND).env_clear().stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        // A Ctrl-C in the terminal is for the service; the guard has work to do after it.
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        match command.spawn() {
            Ok(child) => Self { child: Some(Arc::new(Watching(Mutex::new(child)))) },
            Err(error) => {
                tracing::warn!(%error, "no guard: servers that do not heed the end of their input outlive a killed service");
                Self::default()
            }
        }
    }

    /// Watches a process group from now on.
    pub(super) fn watch(&self, group: u32) {
        self.say('+', group);
    }

    /// The group is gone.
    pub(super) fn release(&self, group: u32) {
        self.say('-', group);
    }

    fn say(&self, what: char, group: u32) {
        let Some(watching) = &self.child else { return };
        let mut child = watching.0.lock().unwrap_or_else(PoisonError::into_inner);
        let told = child.stdin.as_mut().map(|stdin| writeln!(stdin, "{what}{group}"));
        if let Some(Err(error)) = told {
            tracing::warn!(%error, "the guard is gone");
        }
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let child = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        // It reads to the end, and has nothing left to do.
        drop(child.stdin.take());
        let _ = child.wait();
    }
}
