//! What the demo prints.

use std::fmt::Display;

use serde_json::Value;

/// Strings longer than this are cut where JSON is shown to a person, in characters.
const SHOWN: usize = 200;

/// Checks, each printed as it is made.
#[derive(Debug, Default)]
pub(super) struct Checks {
    made: usize,
    failed: usize,
}

impl Checks {
    /// Prints whether `what` holds, and counts it.
    pub(super) fn check(&mut self, what: impl Display, holds: bool) {
        self.made += 1;
        self.failed += usize::from(!holds);
        println!("  {:<7} {what}", if holds { "ok" } else { "failed" });
    }

    /// Whether all held.
    pub(super) fn all_hold(&self) -> bool {
        self.failed == 0
    }

    /// The last line.
    pub(super) fn verdict(&self) -> String {
        match self.failed {
            0 => format!("All {} checks are ok.", self.made),
            failed => format!("{failed} of {} checks failed.", self.made),
        }
    }
}

/// Prints a paragraph, indented, after an empty line.
pub(super) fn say(text: impl Display) {
    println!("\n{}", indented(&text.to_string()));
}

/// Prints the beginning of a step.
pub(super) fn begin(number: u8, text: impl Display) {
    println!("\n{number}. {text}");
}

/// Prints what went over the wire.
pub(super) fn wire(value: &Value) {
    println!("\n{}", indented(&indented(&format!("{:#}", shortened(value)))));
}

fn indented(text: &str) -> String {
    text.lines()
        .map(|line| if line.is_empty() { "\n".to_owned() } else { format!("   {line}\n") })
        .collect::<String>()
        .trim_end()
        .to_owned()
}

/// The same with long strings cut.
fn shortened(value: &Value) -> Value {
    match value {
        Value::String(text) if text.chars().count() > SHOWN => {
            let start: String = text.chars().take(24).collect();
            format!("{start}… ({} characters)", text.chars().count()).into()
        }
        Value::Array(items) => items.iter().map(shortened).collect(),
        Value::Object(members) => members.iter().map(|(key, value)| (key.clone(), shortened(value))).collect(),
        other => other.clone(),
    }
}

/// A text of the other side, for a terminal: without characters that steer it.
pub(super) fn clean(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn one_failed_check_is_enough() {
        let mut checks = Checks::default();
        checks.check("a", true);
        assert!(checks.all_hold());
        assert_eq!(checks.verdict(), "All 1 checks are ok.");
        checks.check("b", false);
        checks.check("c", true);
        assert!(!checks.all_hold());
        assert_eq!(checks.verdict(), "1 of 3 checks failed.");
    }

    #[test]
    fn long_strings_are_cut_and_nothing_else_changes() {
        let value = json!({ "state": "x".repeat(500), "list": ["y", 1e3, null], "a": { "b": true } });
        let expected = json!({
            "state": format!("{}… (500 characters)", "x".repeat(24)), "list": ["y", 1e3, null], "a": { "b": true }
        });
        assert_eq!(shortened(&value), expected);
    }

    #[test]
    fn a_text_cannot_steer_the_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\r\nc"), "a[2Jbc");
    }
}
