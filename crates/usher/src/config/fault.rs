//! What is wrong with a configuration file, and how to mend it.

use std::fmt;
use std::path::{Path, PathBuf};

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The configuration file, as the operator named it.
    pub file: PathBuf,
    /// The line, from 1; 0 if the fault concerns the file as a whole.
    pub line: usize,
    /// The column in characters, from 1; 0 likewise.
    pub column: usize,
    /// The dotted path of the key, `upstream[0].fallback`; empty where there is none.
    pub path: String,
    /// What is wrong. Never shows a secret.
    pub message: String,
    /// What to do about it.
    pub fix: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.file.display())?;
        if self.line > 0 {
            write!(f, "{}:{}:", self.line, self.column)?;
        }
        if !self.path.is_empty() {
            write!(f, " {}:", self.path)?;
        }
        write!(f, " {}\n  fix: {}", self.message, self.fix)
    }
}

/// All faults of a file, sorted by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Faults(pub Vec<Fault>);

impl Faults {
    pub(super) fn unreadable(path: &Path, error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::IsADirectory => {
                let fix = format!("name the file: --config {}", path.join("usher.toml").display());
                Self::whole(path, "is a folder".to_owned(), &fix)
            }
            std::io::ErrorKind::NotFound => Self::whole(
                path,
                format!("cannot be read: {error}"),
                "write one (docs/usher.example.toml is a start), or name another with --config",
            ),
            _ => Self::whole(path, format!("cannot be read: {error}"), "let the user that runs the service read it"),
        }
    }

    pub(super) fn not_utf8(path: &Path, error: &std::string::FromUtf8Error) -> Self {
        let valid = error.utf8_error().valid_up_to();
        let line = error.as_bytes()[..valid].split(|byte| *byte == b'\n').count();
        let message = format!("is not UTF-8 from line {line} on");
        Self::whole(path, message, "save the file as UTF-8")
    }

    fn whole(path: &Path, message: String, fix: &str) -> Self {
        Self(vec![Fault {
            file: path.to_owned(),
            line: 0,
            column: 0,
            path: String::new(),
            message,
            fix: fix.to_owned(),
        }])
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{fault}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Faults {}
