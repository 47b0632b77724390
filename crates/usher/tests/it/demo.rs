//! `usher demo --auto`, as a person runs it.

use std::{
    path::PathBuf,
    process::{Command, Output, Stdio},
    sync::atomic::{AtomicU32, Ordering},
};

/// A folder for what the demo makes, which is removed with its value.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("demo-{}-{count}", std::process::id()));
        // Left by a test process of the same number that was killed.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn is_empty(&self) -> bool {
        std::fs::read_dir(&self.0).unwrap().next().is_none()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the demo. Everything that it waits for has a deadline of its own.
fn demo(arguments: &[&str], folder: &Folder) -> Output {
    Command::new(env!("CARGO_BIN_EXE_usher"))
        .arg("demo")
        .args(arguments)
        .env_remove("USHER_LOG")
        .env("TMPDIR", &folder.0)
        .stdin(Stdio::null())
        .output()
        .unwrap()
}

/// R-OAUTH-01, R-GW-03: a missing key leads to a question in either era, the call goes on after it, and the client never
/// sees the key.
#[test]
fn the_demo_finds_everything_in_order_in_both_eras_and_leaves_nothing() {
    let folder = Folder::new();
    let output = demo(&["--auto"], &folder);
    let (text, log) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert_eq!(output.status.code(), Some(0), "{text}\n{log}");
    assert_eq!(log, "", "nothing went wrong on the way");
    assert!(!text.contains("failed"), "{text}");
    for era in ["2026-07-28", "2025-11-25"] {
        let part = text.split(&format!("An app that speaks {era}\n")).nth(1).unwrap().split("\n\n").next().unwrap();
        for check in [
            "the weather server gets the right key, once, and no other",
            "the same call brings the forecast",
            "all of it in this order: call, question, consent, page, wrong key, right key, tool, forecast",
        ] {
            assert!(part.contains(&format!("  ok      {check}\n")), "{era}: {check}\n{part}");
        }
        let last = part.lines().last().unwrap();
        assert!(last.starts_with("  ok      the key is in none of the "), "{era}: {last}");
    }
    let checks = text.matches("\n  ok ").count();
    assert!(text.ends_with(&format!("\n\nAll {checks} checks are ok.\n")), "{text}");
    #[cfg(unix)]
    assert!(folder.is_empty(), "the demo's folder is gone");
}

#[test]
fn without_a_terminal_the_demo_says_how_to_run_it() {
    let folder = Folder::new();
    let output = demo(&[], &folder);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(output.stdout, b"");
    let log = String::from_utf8(output.stderr).unwrap();
    assert!(log.contains("usher demo --auto"), "{log}");
    assert!(folder.is_empty());
}
