//! Changing a key file: adding, activating and taking out keys, one command at a time.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use elicit::Random;
use jiff::Timestamp;
use zeroize::Zeroizing;

use super::file::{NewKey, read_text};
use super::line::{KeyRole, Line};
use super::{KeyFile, KeyFileError, KeyWrap as _};
use crate::private_file::replace_private_file;

/// Most bytes that a change adds to the text.
const ROOM: usize = 512;

/// A key file that is being changed. Nobody else changes it as long as this is held: a lock on `….lock` beside it, which
/// stays behind.
///
/// Each change is in the file as a whole or not at all, whenever the process ends, and on the disk when the call
/// returns. The file keeps its owner, group and mode.
pub struct KeyFileEdit {
    path: PathBuf,
    text: Zeroizing<String>,
    keys: KeyFile,
    _lock: File,
}

impl KeyFileEdit {
    /// Reads a key file for a change.
    pub fn begin(path: &Path) -> Result<Self, KeyFileError> {
        let fault = |source| KeyFileError::File { path: path.to_owned(), source };
        // A link stays a link, and one file with two names has one lock.
        let path = path.canonicalize().map_err(fault)?;
        let lock = lock(&path)?;
        let text = read_text(&path)?;
        let keys = KeyFile::parse(&text)?;
        Ok(Self { path, text, keys, _lock: lock })
    }

    /// The keys before the change.
    pub fn keys(&self) -> &KeyFile {
        &self.keys
    }

    /// Adds a new key as the active one; the one before becomes older. Returns the new key's id.
    pub fn rotate(self, random: &dyn Random, now: Timestamp) -> Result<String, KeyFileError> {
        let key = self.new_key(random);
        let mut text = self.with_roles(|id| (id == self.keys.active_id()).then_some(KeyRole::Older), now)?;
        text.push_str(&key.line(KeyRole::Active, now));
        text.push('\n');
        self.save(&text, None)?;
        Ok(key.id)
    }

    /// Adds a new key that does not seal yet, to be known everywhere before it does. Returns its id.
    pub fn add(self, random: &dyn Random, now: Timestamp) -> Result<String, KeyFileError> {
        let key = self.new_key(random);
        let mut text = self.with_roles(|_| None, now)?;
        text.push_str(&key.line(KeyRole::Next, now));
        text.push('\n');
        self.save(&text, None)?;
        Ok(key.id)
    }

    /// Makes a next key the active one; the one before becomes older. False if it is active already.
    pub fn activate(self, id: &str, now: Timestamp) -> Result<bool, KeyFileError> {
        match self.find(id)? {
            KeyRole::Active => return Ok(false),
            KeyRole::Older => return Err(KeyFileError::WasActive { id: id.to_owned() }),
            KeyRole::Next => {}
        }
        let active = self.keys.active_id();
        let role = |line: &str| match line {
            line if line == id => Some(KeyRole::Active),
            line if line == active => Some(KeyRole::Older),
            _ => None,
        };
        let text = self.with_roles(role, now)?;
        self.save(&text, None)?;
        Ok(true)
    }

    /// Takes a key out of the file, for ever. Whoever calls this has made sure that nothing needs it.
    pub fn remove(self, id: &str) -> Result<(), KeyFileError> {
        if self.find(id)? == KeyRole::Active {
            return Err(KeyFileError::IsActive { id: id.to_owned() });
        }
        let mut text = self.room();
        for line in self.text.lines() {
            if !matches!(Line::parse(line), Ok(Some(line)) if line.id == id) {
                text.push_str(line);
                text.push('\n');
            }
        }
        self.save(&text, Some(id))
    }

    fn find(&self, id: &str) -> Result<KeyRole, KeyFileError> {
        let missing = || KeyFileError::NoSuchKey { id: id.to_owned(), known: self.keys.key_ids() };
        self.keys.entry(id).map(|entry| entry.role).ok_or_else(missing)
    }

    /// A key whose id is not in the file.
    fn new_key(&self, random: &dyn Random) -> NewKey {
        loop {
            let key = NewKey::make(random);
            if self.keys.entry(&key.id).is_none() {
                return key;
            }
        }
    }

    /// Room at once: a growing string would leave copies of the keys behind.
    fn room(&self) -> Zeroizing<String> {
        Zeroizing::new(String::with_capacity(self.text.len() + ROOM))
    }

    /// The text with other roles for some keys, all else as it was.
    fn with_roles(
        &self,
        role: impl Fn(&str) -> Option<KeyRole>,
        now: Timestamp,
    ) -> Result<Zeroizing<String>, KeyFileError> {
        let mut text = self.room();
        for (index, raw) in self.text.lines().enumerate() {
            let parsed = Line::parse(raw).map_err(|what| KeyFileError::Line { line: index + 1, what })?;
            match parsed.and_then(|line| role(line.id).map(|role| (line, role))) {
                Some((mut line, role)) => {
                    line.until = (role == KeyRole::Older).then_some(now);
                    line.role = role;
                    // Writing into a string cannot fail.
                    let _ = writeln!(text, "{line}");
                }
                None => {
                    text.push_str(raw);
                    text.push('\n');
                }
            }
        }
        Ok(text)
    }

    /// Puts the text in the file's place, if it can be read and no other key than `removed` is missing.
    fn save(&self, text: &str, removed: Option<&str>) -> Result<(), KeyFileError> {
        let fault = |source| KeyFileError::File { path: self.path.clone(), source };
        let fresh = KeyFile::parse(text)?;
        if self.keys.key_ids().iter().any(|id| fresh.entry(id).is_none() && removed != Some(id.as_str())) {
            return Err(fault(Error::other("a key would have been lost, so nothing was changed")));
        }
        // Not everywhere does a lock keep others away, and nothing keeps away a person with an editor.
        if *read_text(&self.path)? != *self.text {
            return Err(KeyFileError::Busy { path: self.path.clone() });
        }
        replace_private_file(&self.path, text.as_bytes()).map_err(fault)
    }
}

fn lock(path: &Path) -> Result<File, KeyFileError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".lock");
    let name = PathBuf::from(name);
    let fault = |source| KeyFileError::File { path: name.clone(), source };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(&name).map_err(fault)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(KeyFileError::Busy { path: path.to_owned() }),
        // A file system without locks: what was read is compared before it is replaced.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => Ok(file),
        Err(TryLockError::Error(error)) => Err(fault(error)),
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
