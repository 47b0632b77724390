//! One service a SQLite file: a lock beside it, held as long as the service runs.

use std::{
    fs::{DirBuilder, File, OpenOptions, TryLockError},
    io,
    path::{Path, PathBuf},
};

/// Held for the life of a service. It goes with the value, and with the process however that ends.
#[derive(Debug)]
pub(super) struct StoreLock {
    _file: File,
}

/// Why there is no lock.
#[derive(Debug)]
pub(super) enum LockError {
    /// Another service holds it.
    Taken,
    /// The folder or the file beside the store cannot be made or locked.
    Unusable(PathBuf, io::Error),
}

impl StoreLock {
    /// Locks the store at `database` by the file `….lock` beside it, which stays behind: to remove it would let two services
    /// lock two files of one name. The folder is made where there is none, for its owner alone (R-SEC-07).
    pub(super) fn take(database: &Path) -> Result<Self, LockError> {
        if let Some(folder) = database.parent() {
            make(folder).map_err(|error| LockError::Unusable(folder.to_owned(), error))?;
        }
        // One file may have two names.
        let real = database.canonicalize().unwrap_or_else(|_| database.to_owned());
        let mut path = real.into_os_string();
        path.push(".lock");
        let path = PathBuf::from(path);
        let unusable = |error| LockError::Unusable(path.clone(), error);
        let file = open(&path).map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(LockError::Taken),
            Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                tracing::warn!(
                    path = %path.display(),
                    "this file system knows no locks: see to it that no other service uses the store"
                );
            }
            Err(TryLockError::Error(error)) => return Err(unusable(error)),
        }
        Ok(Self { _file: file })
    }
}

fn make(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)?;
    tracing::info!(path = %folder.display(), "made a folder for the store");
    Ok(())
}

fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::folder::Folder;

    /// One lock a store, by whatever name, and none that outlives its service.
    #[test]
    fn a_store_is_locked_once_at_a_time() {
        let folder = Folder::new();
        let database = folder.path("state/deep/usher.db");
        let held = StoreLock::take(&database).unwrap();
        assert!(matches!(StoreLock::take(&database), Err(LockError::Taken)));
        assert!(StoreLock::take(&folder.path("other.db")).is_ok(), "another store is another's");
        drop(held);
        StoreLock::take(&database).unwrap();
    }

    /// R-SEC-07
    #[cfg(unix)]
    #[test]
    fn what_is_made_is_for_its_owner_alone() {
        use std::os::unix::fs::MetadataExt;
        let folder = Folder::new();
        let database = folder.path("state/usher.db");
        std::fs::create_dir(folder.path("real")).unwrap();
        let _lock = StoreLock::take(&database).unwrap();
        let mode = |path: &str| std::fs::metadata(folder.path(path)).unwrap().mode() & 0o777;
        assert_eq!((mode("state"), mode("state/usher.db.lock")), (0o700, 0o600));

        std::fs::write(&database, "").unwrap();
        std::os::unix::fs::symlink(&database, folder.path("link.db")).unwrap();
        assert!(matches!(StoreLock::take(&folder.path("link.db")), Err(LockError::Taken)));
    }

    #[test]
    fn a_folder_that_cannot_be_made_is_named() {
        let folder = Folder::new();
        std::fs::write(folder.path("file"), "").unwrap();
        let Err(LockError::Unusable(path, _)) = StoreLock::take(&folder.path("file/usher.db")) else { panic!() };
        assert_eq!(path, folder.path("file"));
    }
}
