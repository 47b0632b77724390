//! The real service as a process that stands still at a fail point and is killed there.

use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::Child,
    sync::{Arc, Mutex},
};

use tokio::sync::watch;
use usher_store::FailPoint;
use usher_testkit::{DEADLINE, within};

use crate::serve_command::{greeting, link_in, usher};

/// A running `usher serve`; killed with the test.
pub(crate) struct Process {
    child: Child,
    /// A sign-in link that nobody has used.
    pub(crate) link: String,
    reached: watch::Receiver<bool>,
    log: Arc<Mutex<String>>,
}

impl Process {
    /// Starts it in a folder, to stand still at a point.
    pub(crate) async fn start(folder: &Path, point: Option<FailPoint>) -> Self {
        let mut command = usher(folder, &["serve", "--show-token"]);
        if let Some(point) = point {
            command.env("USHER_FAIL_POINT", point.as_str());
        }
        let mut child = command.spawn().unwrap();
        let stderr = child.stderr.take().unwrap();
        let log = Arc::new(Mutex::new(String::new()));
        let (sender, reached) = watch::channel(false);
        let written = Arc::clone(&log);
        std::thread::spawn(move || {
            let announced = point.map(|point| format!("fail point reached: {}", point.as_str()));
            for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                if Some(&line) == announced.as_ref() {
                    sender.send_replace(true);
                }
                let mut log = written.lock().unwrap();
                log.push_str(&line);
                log.push('\n');
            }
        });
        let welcome = greeting(child.stdout.take().unwrap()).await;
        Self { child, link: link_in(&welcome), reached, log }
    }

    /// Waits until it stands still, and kills it there.
    pub(crate) async fn crash(mut self) {
        let mut reached = self.reached.clone();
        let waited = tokio::time::timeout(DEADLINE, reached.wait_for(|reached| *reached)).await;
        let log = self.log.lock().unwrap().clone();
        assert!(matches!(waited, Ok(Ok(_))), "the point was not reached:\n{log}");
        // SIGKILL.
        self.child.kill().unwrap();
        let gone = tokio::task::spawn_blocking(move || self.child.wait().map(|_| self));
        drop(within(DEADLINE, "it does not die", gone).await);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
