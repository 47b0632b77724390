//! What a process writes to its standard error, in our log: bounded, cleaned, and without what it was given.

use std::time::Duration;

use secrecy::{ExposeSecret, SecretString};
use tokio::{
    io::{AsyncRead, BufReader},
    time::Instant,
};

use crate::mcp::lines::{Line, next_line};

/// The longest line that is kept, in bytes and in characters of the log.
const LINE: usize = 8 * 1024;
const SHOWN: usize = 500;
/// Lines in a row, and how often that many may come.
const LINES: u32 = 50;
const EVERY: Duration = Duration::from_secs(10);
/// A shorter value is no secret, and would tear holes into every line.
const SECRET_AT_LEAST: usize = 6;

/// Logs each line until the end.
pub(super) async fn log(stderr: impl AsyncRead + Unpin, upstream: String, pid: u32, mut secrets: Vec<SecretString>) {
    // A secret may stand within another value: the longer one goes first.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
    let mut reader = BufReader::new(stderr);
    let (mut since, mut count, mut left_out) = (Instant::now(), 0_u32, 0_u64);
    while let Ok(line) = next_line(&mut reader, LINE).await {
        let text = match &line {
            Line::End => break,
            Line::Whole(bytes) => clean(bytes, &secrets),
            Line::TooLong => "a line that is too long".to_owned(),
        };
        if since.elapsed() >= EVERY {
            if left_out > 0 {
                tracing::info!(upstream, pid, lines = left_out, "lines of its standard error were left out");
            }
            (since, count, left_out) = (Instant::now(), 0, 0);
        }
        count += 1;
        if count > LINES {
            left_out += 1;
        } else if !text.is_empty() {
            tracing::info!(upstream, pid, line = text, "standard error");
        }
    }
}

fn clean(bytes: &[u8], secrets: &[SecretString]) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    for secret in secrets.iter().map(ExposeSecret::expose_secret).filter(|secret| secret.len() >= SECRET_AT_LEAST) {
        if text.contains(secret) {
            text = text.replace(secret, "[secret]");
        }
    }
    elicit::text::line(&text, SHOWN).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-OAUTH-01: what a program was given does not reach the log by its own words.
    #[test]
    fn a_line_is_cleaned_and_tells_no_secret() {
        let secrets = [SecretString::from("sk-12345"), SecretString::from("a")];
        let text = clean(b"\x1b[31mkey sk-12345 refused\x07\xff", &secrets);
        assert!(text.contains("key [secret] refused") && !text.contains('\u{1b}') && !text.contains('\u{7}'), "{text}");
    }
}
