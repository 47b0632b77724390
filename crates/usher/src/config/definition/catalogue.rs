//! The catalogue: the files of `providers/`, which are part of the program.

use std::path::Path;
use std::sync::Arc;

use super::{Definition, read};
use crate::config::Faults;
use crate::config::reader::{Document, Reader, Secrets};

/// Name and text of each file, by name.
const FILES: &[(&str, &str)] = &[];

/// The names in the catalogue, in order.
pub fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Whether a name is in the catalogue.
pub fn has(name: &str) -> bool {
    names().any(|known| known == name)
}

/// The definition of this name. `None` if there is none; faults only while somebody edits a file.
pub fn find(name: &str) -> Option<Result<Arc<Definition>, Faults>> {
    let (_, text) = FILES.iter().find(|(known, _)| *known == name)?;
    Some(parse(text, Path::new(&format!("providers/{name}.toml"))).map(Arc::new))
}

/// Reads the text of a file of the catalogue: the keys of an own definition at its top, with `title`, `documentation` and
/// `read` among them. `path` is what its faults name.
pub fn parse(text: &str, path: &Path) -> Result<Definition, Faults> {
    let document = Document::parse(text);
    let reader = Reader::new(path, text, &|_| None, Secrets::Needed);
    // Its keys are those of a [[provider]], and so are the hints about them.
    let definition = document.read_as(&reader, "provider", |table| {
        for (key, example) in [
            ("title", "title = \"Weather\""),
            ("documentation", "documentation = [\"https://docs.example/oauth\"]"),
            ("read", "read = \"2026-11-30\", the day on which that was read"),
        ] {
            table.require(key, example);
        }
        read(table)
    });
    reader.finish(definition)
}
