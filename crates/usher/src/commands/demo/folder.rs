//! The demo's own folder: for its owner alone, and gone at the end.

use std::{
    io,
    path::{Path, PathBuf},
};

use elicit::Random;

/// A folder that is removed with its value.
pub(super) struct Folder(PathBuf);

impl Folder {
    /// A new folder among the system's temporary ones, which nobody else can look into (R-SEC-07).
    pub(super) fn new(random: &dyn Random) -> io::Result<Self> {
        let mut bytes = [0; 8];
        random.fill(&mut bytes);
        let path = std::env::temp_dir().join(format!("usher-demo-{:016x}", u64::from_be_bytes(bytes)));
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        // Not with its parents: what is there already is not ours.
        builder.create(&path)?;
        Ok(Self(path))
    }

    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Whether `text` stands in any of its files as it is.
    pub(super) fn holds(&self, text: &str) -> io::Result<bool> {
        for entry in std::fs::read_dir(&self.0)? {
            let content = std::fs::read(entry?.path())?;
            if memchr::memmem::find(&content, text.as_bytes()).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;

    use super::*;

    /// R-SEC-07
    #[test]
    fn the_folder_is_for_its_owner_alone_and_goes_with_all_that_is_in_it() {
        let folder = Folder::new(&SystemRandom).unwrap();
        let path = folder.path().to_owned();
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        }
        std::fs::write(path.join("file"), "a secret here").unwrap();
        assert!(folder.holds("secret").unwrap());
        assert!(!folder.holds("nothing").unwrap());
        drop(folder);
        assert!(!path.exists());
    }
}
