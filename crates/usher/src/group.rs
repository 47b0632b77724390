//! Process groups: a program and whatever it started.

use std::{io, process::Stdio};

use rustix::process::{Pid, kill_process_group};

pub(crate) use rustix::process::Signal;
use secrecy::{ExposeSecret as _, SecretString};

use crate::config::Command;

/// A server's program, ready to be started in a group of its own. Its environment is what the configuration names, and these
/// variables, and nothing else. Its input and output are pipes.
pub(crate) fn program(command: &Command, more: &[(String, SecretString)]) -> io::Result<tokio::process::Command> {
    let (program, arguments) = command.argv.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut spawn = tokio::process::Command::new(program);
    spawn
        .args(arguments)
        .env_clear()
        .envs(command.env.iter().chain(more).map(|(name, value)| (name, value.expose_secret())))
        .current_dir(&command.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    Ok(spawn)
}

/// Signals the whole group of a process that was started as its own group. One that is gone needs none.
pub(crate) fn signal(group: u32, signal: Signal) {
    // 1 is the system's, and 0 would be our own.
    let group = i32::try_from(group).ok().filter(|group| *group > 1).and_then(Pid::from_raw);
    if let Some(group) = group {
        let _ = kill_process_group(group, signal);
    }
}
