//! `usher guard`, which the service runs for itself: ends what the service leaves behind when it is killed.

use std::{collections::BTreeSet, io::BufRead, process::ExitCode, time::Duration};

use crate::group::{self, Signal};

/// How long process groups have to end by themselves.
const TERMINATED: Duration = Duration::from_secs(2);

/// Reads `+group` and `-group`, a line each, until the service is gone; then ends the groups that remain.
pub(super) fn run(lines: impl BufRead) -> ExitCode {
    let groups = remaining(lines);
    if groups.is_empty() {
        return ExitCode::SUCCESS;
    }
    signal_all(&groups, Signal::TERM);
    #[allow(clippy::disallowed_methods, reason = "there is no condition to wait for, and no runtime")]
    std::thread::sleep(TERMINATED);
    signal_all(&groups, Signal::KILL);
    ExitCode::SUCCESS
}

fn signal_all(groups: &BTreeSet<u32>, signal: Signal) {
    for group in groups {
        group::signal(*group, signal);
    }
}

fn remaining(lines: impl BufRead) -> BTreeSet<u32> {
    let mut groups = BTreeSet::new();
    for line in lines.lines().map_while(Result::ok) {
        if let Some(group) = line.strip_prefix('+').and_then(|group| group.parse().ok()) {
            groups.insert(group);
        } else if let Some(group) = line.strip_prefix('-').and_then(|group| group.parse().ok()) {
            groups.remove(&group);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_told_and_not_taken_back_remains() {
        let lines = b"+10\n+11\n-10\n+-5\nx\n+12\n" as &[u8];
        assert_eq!(remaining(lines), BTreeSet::from([11, 12]));
    }
}
