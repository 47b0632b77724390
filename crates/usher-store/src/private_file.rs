//! Files for their owner alone, whole or not there (R-SEC-07).

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Result, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Makes a new file of mode 0600. It is on the disk when this returns, and a crash before that leaves none at `path`.
///
/// Fails with [`AlreadyExists`](ErrorKind::AlreadyExists) where there is something at `path`, which stays as it is.
/// Every other error is the operating system's.
pub fn create_private_file(path: &Path, bytes: &[u8]) -> Result<()> {
    // Before anything is written: a file that is there is found also in a folder that cannot be written to.
    if path.symlink_metadata().is_ok() {
        return Err(ErrorKind::AlreadyExists.into());
    }
    let (fresh, file) = temporary(path)?;
    let placed = fill(file, bytes).and_then(|()| place(&fresh, path, bytes));
    // What cannot be removed is whole, private and never read.
    let _ = fs::remove_file(&fresh);
    placed?;
    sync_folder(path)
}

/// Puts a file in the place of the one at `path`, whose owner, group and mode it gets. A reader sees the one or the other,
/// never a half, and so does whoever comes after a crash. It is on the disk when this returns.
pub(crate) fn replace_private_file(path: &Path, bytes: &[u8]) -> Result<()> {
    let (fresh, file) = temporary(path)?;
    let placed = like(&file, path).and_then(|()| fill(file, bytes)).and_then(|()| fs::rename(&fresh, path));
    if placed.is_err() {
        let _ = fs::remove_file(&fresh);
    }
    placed?;
    sync_folder(path)
}

/// A service that reads its file by its group, or as another user than the one who changes it, still does afterwards.
#[cfg(unix)]
fn like(file: &File, path: &Path) -> Result<()> {
    use std::os::unix::fs::{MetadataExt as _, fchown};

    let (before, now) = (fs::metadata(path)?, file.metadata()?);
    if (before.uid(), before.gid()) != (now.uid(), now.gid()) {
        fchown(file, Some(before.uid()), Some(before.gid()))?;
    }
    file.set_permissions(before.permissions())
}

#[cfg(not(unix))]
fn like(_: &File, _: &Path) -> Result<()> {
    Ok(())
}

/// A new file beside `path`. Its name is not taken from a process that runs elsewhere under the same number.
fn temporary(path: &Path) -> Result<(PathBuf, File)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().ok_or(ErrorKind::InvalidInput)?;
    loop {
        let mut fresh = OsString::from(".");
        fresh.push(name);
        fresh.push(format!(".{}-{}.new", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let fresh = path.with_file_name(fresh);
        match new_file(&fresh) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (fresh, file)),
        }
    }
}

fn new_file(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn fill(mut file: File, bytes: &[u8]) -> Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}

/// A link is made only where there is nothing: unlike renaming, it takes nobody's place.
fn place(fresh: &Path, path: &Path, bytes: &[u8]) -> Result<()> {
    match fs::hard_link(fresh, path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            // Some file systems have no links. Then at least nobody's file is overwritten.
            fill(new_file(path)?, bytes).inspect_err(|_| drop(fs::remove_file(path)))
        }
        linked => linked,
    }
}

/// The entry of the folder must last as well.
fn sync_folder(path: &Path) -> Result<()> {
    if cfg!(unix)
        && let Some(folder) = path.parent()
    {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;

    use super::*;
    use crate::token::random_text;

    struct Folder(PathBuf);

    impl Folder {
        fn new() -> Self {
            let path = std::env::temp_dir().join(format!("usher-private-{}", random_text(&SystemRandom)));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        fn names(&self) -> Vec<OsString> {
            let mut names: Vec<_> = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    /// R-SEC-07: local files are 0600.
    #[test]
    fn a_new_file_is_whole_and_alone() {
        let folder = Folder::new();
        let path = folder.0.join("keys");
        create_private_file(&path, b"one").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(folder.names(), ["keys"], "nothing is left over");
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let metadata = fs::metadata(&path).unwrap();
            assert_eq!(metadata.mode() & 0o777, 0o600);
            assert_eq!(metadata.nlink(), 1, "no second name");
        }
    }

    #[test]
    fn what_is_there_is_left_alone() {
        let folder = Folder::new();
        let path = folder.0.join("keys");
        fs::write(&path, "before").unwrap();
        assert_eq!(create_private_file(&path, b"after").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"before");
        // Also when it comes while the new one is being written.
        let (fresh, file) = temporary(&path).unwrap();
        fill(file, b"after").unwrap();
        assert_eq!(place(&fresh, &path, b"after").unwrap_err().kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"before");
    }

    /// A crash in the middle of the first start must not keep later ones from starting.
    #[test]
    fn what_was_written_before_a_crash_is_not_in_the_place() {
        let folder = Folder::new();
        let path = folder.0.join("keys");
        let (fresh, mut file) = temporary(&path).unwrap();
        file.write_all(b"ha").unwrap();
        drop(file);
        assert!(!path.exists() && fresh.exists());

        create_private_file(&path, b"whole").unwrap();

        assert_eq!(fs::read(&path).unwrap(), b"whole");
    }

    #[test]
    fn of_several_who_make_it_at_once_one_does() {
        let folder = Folder::new();
        let path = folder.0.join("keys");
        let made = std::thread::scope(|scope| {
            let makers: Vec<_> = (0..8_u8)
                .map(|number| {
                    let path = &path;
                    scope.spawn(move || create_private_file(path, &[number; 64]).is_ok().then_some(number))
                })
                .collect();
            makers.into_iter().filter_map(|maker| maker.join().unwrap()).collect::<Vec<_>>()
        });
        assert_eq!(made.len(), 1);
        assert_eq!(fs::read(&path).unwrap(), [made[0]; 64]);
        assert_eq!(folder.names(), ["keys"]);
    }

    /// A crash between writing and renaming leaves the old file whole, and the next change goes through.
    #[test]
    fn what_was_written_before_a_crash_replaces_nothing() {
        let folder = Folder::new();
        let path = folder.0.join("keys");
        create_private_file(&path, b"one").unwrap();
        let (fresh, file) = temporary(&path).unwrap();
        like(&file, &path).and_then(|()| fill(file, b"two")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"one");

        replace_private_file(&path, b"three").unwrap();

        assert_eq!(fs::read(&path).unwrap(), b"three");
        assert_eq!(fs::read(fresh).unwrap(), b"two", "left over: private, and never read");
        assert!(replace_private_file(&folder.0.join("none"), b"four").is_err(), "there is nothing to replace");
        assert_eq!(folder.names().len(), 2);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let folder = Folder::new();
        let error = create_private_file(&folder.0.join("none/keys"), b"one").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(create_private_file(Path::new("/"), b"one").is_err());
    }
}
