//! Local files that only their owner may read (R-SEC-07): made with mode 0600, refused with more.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The most that a file of ours, or a secret, can hold.
const LIMIT: u64 = 64 * 1024;

/// Who may read a file that holds a secret. Nobody but the owner may ever write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readers {
    /// The owner alone.
    Owner,
    /// The owner and a group, as mounted secrets often are.
    Group,
}

/// Why a private file was not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("cannot be read: {0}")]
    Io(#[from] io::Error),
    #[error("can be {} (mode {mode:03o})", if mode & 0o022 == 0 { "read by others" } else { "written by others" })]
    Exposed { mode: u32 },
    #[error("is longer than 64 KiB")]
    TooLong,
    #[error("is not UTF-8")]
    NotUtf8,
}

/// Reads a text file, after a look at its mode through the open file, so that it cannot be exchanged in between.
pub(crate) fn read(path: &Path, readers: Readers) -> Result<zeroize::Zeroizing<String>, ReadError> {
    let file = File::open(path)?;
    check_mode(&file, readers)?;
    let length = usize::try_from(file.metadata()?.len().min(LIMIT)).unwrap_or_default();
    let mut bytes = zeroize::Zeroizing::new(Vec::with_capacity(length + 1));
    file.take(LIMIT + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LIMIT {
        return Err(ReadError::TooLong);
    }
    let text = str::from_utf8(&bytes).map_err(|_| ReadError::NotUtf8)?;
    Ok(zeroize::Zeroizing::new(text.to_owned()))
}

#[cfg(unix)]
fn check_mode(file: &File, readers: Readers) -> Result<(), ReadError> {
    use std::os::unix::fs::MetadataExt;
    let mode = file.metadata()?.mode() & 0o777;
    let forbidden = match readers {
        Readers::Owner => 0o077,
        Readers::Group => 0o027,
    };
    if mode & forbidden == 0 { Ok(()) } else { Err(ReadError::Exposed { mode }) }
}

#[cfg(not(unix))]
fn check_mode(_: &File, _: Readers) -> Result<(), ReadError> {
    // Elsewhere the folder's access list decides; a user's own folders are private there.
    Ok(())
}

/// Writes a new file with mode 0600, whole or not at all; fails with `AlreadyExists` if there is one.
pub(crate) fn create(path: &Path, text: &str) -> io::Result<()> {
    usher_store::create_private_file(path, text.as_bytes())
}

/// Puts a file with mode 0600 in the place of whatever was there; a reader sees the old one or the new one, never a half.
pub(crate) fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let fresh = path.with_file_name(name);
    // Left over from a process of the same number that was killed in this very place.
    match std::fs::remove_file(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    create(&fresh, text)?;
    std::fs::rename(&fresh, path)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    use super::*;
    use crate::config::folder::Folder;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o777
    }

    /// R-SEC-07: files of ours are readable for their owner alone, whatever was there before.
    #[test]
    fn files_are_made_for_their_owner_alone() {
        let folder = Folder::new();
        let path = folder.path("private");
        create(&path, "one").unwrap();
        assert_eq!(mode(&path), 0o600);
        assert_eq!(create(&path, "two").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(*read(&path, Readers::Owner).unwrap(), "one");
        assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 1, "nothing is left over");

        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        replace(&path, "three").unwrap();
        assert_eq!(mode(&path), 0o600);
        assert_eq!(*read(&path, Readers::Owner).unwrap(), "three");
        assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 1, "nothing is left over");
    }

    /// R-SEC-07
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        let folder = Folder::new();
        let path = folder.path("private");
        create(&path, "secret").unwrap();
        for (mode, owner, group) in [
            (0o600, true, true),
            (0o400, true, true),
            (0o640, false, true),
            (0o604, false, false),
            (0o660, false, false),
            (0o620, false, false),
            (0o644, false, false),
        ] {
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read(&path, Readers::Owner).is_ok(), owner, "{mode:o}");
            let shared = read(&path, Readers::Group);
            assert_eq!(shared.is_ok(), group, "{mode:o}");
            if let Err(error) = shared {
                let written = mode & 0o022 != 0;
                assert_eq!(error.to_string().contains("written by others"), written, "{error}");
                assert_eq!(error.to_string().contains("read by others"), !written, "{error}");
            }
        }
    }

    #[test]
    fn what_is_no_short_text_is_refused() {
        let folder = Folder::new();
        let path = folder.path("private");
        replace(&path, &"x".repeat(64 * 1024)).unwrap();
        assert!(read(&path, Readers::Owner).is_ok());
        replace(&path, &"x".repeat(64 * 1024 + 1)).unwrap();
        assert!(matches!(read(&path, Readers::Owner), Err(ReadError::TooLong)));
        std::fs::write(&path, [0xff]).unwrap();
        assert!(matches!(read(&path, Readers::Owner), Err(ReadError::NotUtf8)));
    }
}
