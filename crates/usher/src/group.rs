//! Process groups: a program and whatever it started.

use rustix::process::{Pid, kill_process_group};

pub(crate) use rustix::process::Signal;

/// Signals the whole group of a process that was started as its own group. One that is gone needs none.
pub(crate) fn signal(group: u32, signal: Signal) {
    // 1 is the system's, and 0 would be our own.
    let group = i32::try_from(group).ok().filter(|group| *group > 1).and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, signal);
    }
}
