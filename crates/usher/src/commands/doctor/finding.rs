//! One line of what was found.

use std::{fmt, process::ExitCode};

use serde_json::{Value, json};

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::commands) struct Finding {
    pub(in crate::commands) verdict: Verdict,
    pub(in crate::commands) subject: String,
    pub(in crate::commands) found: String,
    /// What to do, where something is to be done.
    pub(in crate::commands) todo: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::commands) enum Verdict {
    Ok,
    /// It works, and somebody should know.
    Warning,
    /// It does not work.
    Fault,
}

impl Verdict {
    fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }
}

impl Finding {
    pub(in crate::commands) fn ok(subject: impl Into<String>, found: impl Into<String>) -> Self {
        Self::new(Verdict::Ok, subject, found, None)
    }

    pub(in crate::commands) fn warning(
        subject: impl Into<String>,
        found: impl Into<String>,
        todo: impl Into<String>,
    ) -> Self {
        Self::new(Verdict::Warning, subject, found, Some(todo.into()))
    }

    pub(in crate::commands) fn fault(
        subject: impl Into<String>,
        found: impl Into<String>,
        todo: impl Into<String>,
    ) -> Self {
        Self::new(Verdict::Fault, subject, found, Some(todo.into()))
    }

    /// A fault whose error says what to do itself.
    pub(in crate::commands) fn error(subject: impl Into<String>, error: &dyn fmt::Display) -> Self {
        Self::new(Verdict::Fault, subject, error.to_string(), None)
    }

    fn new(verdict: Verdict, subject: impl Into<String>, found: impl Into<String>, todo: Option<String>) -> Self {
        Self { verdict, subject: subject.into(), found: line(&found.into()), todo: todo.map(|todo| line(&todo)) }
    }

    pub(in crate::commands) fn to_json(&self) -> Value {
        json!({ "verdict": self.verdict.as_str(), "check": self.subject, "found": self.found, "todo": self.todo })
    }
}

/// On one line, without anything that moves a terminal's cursor: some of it comes from servers.
fn line(text: &str) -> String {
    let visible: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    visible.split_whitespace().collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:7}  {:20}  {}", self.verdict.as_str(), self.subject, self.found)?;
        self.todo.as_ref().map_or(Ok(()), |todo| write!(f, "; {todo}"))
    }
}

/// Prints findings. A command fails if something is wrong; a warning is no failure.
pub(in crate::commands) fn tell(findings: &[Finding], as_json: bool) -> ExitCode {
    if as_json {
        let all: Vec<_> = findings.iter().map(Finding::to_json).collect();
        println!("{:#}", json!({ "findings": all }));
    } else {
        for finding in findings {
            println!("{finding}");
        }
    }
    if findings.iter().any(|finding| finding.verdict == Verdict::Fault) {
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_is_one_line_that_moves_no_cursor() {
        let finding = Finding::warning("clock", "two\nlines\u{1b}[2J", "wait");
        assert_eq!(finding.to_string(), "warning  clock                 two lines [2J; wait");
        assert_eq!(finding.to_json()["todo"], "wait");
        assert_eq!(Finding::ok("keys", "there").to_string(), "ok       keys                  there");
    }
}
