//! Which fuzz targets there are: a binary in `fuzz/fuzz_targets`, and a folder with seeds beside the tests of a crate.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::{Fault, workspace};

/// One fuzz target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) name: String,
    /// The crate whose test `fuzz` runs it on stable Rust.
    pub(super) package: String,
    /// The folder of its seeds, from the root.
    pub(super) seeds: PathBuf,
}

/// Every target, in the order of crates and names. A binary without seeds, or seeds without a binary, is an error.
pub(super) fn read() -> Result<Vec<Target>, Fault> {
    let mut targets = Vec::new();
    for manifest in workspace::manifests()? {
        let text = std::fs::read_to_string(&manifest).map_err(|error| format!("{}: {error}", manifest.display()))?;
        let package = text.lines().find_map(|line| workspace::quoted(line, "name")).unwrap_or_default();
        let corpus = manifest.with_file_name("tests").join("corpus");
        if corpus.is_dir() {
            targets.extend(workspace::folders(&corpus)?.iter().filter_map(|folder| target(package, folder)));
        }
    }
    let folder = workspace::root().join("fuzz/fuzz_targets");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let binaries: BTreeSet<String> =
        entries.filter_map(|entry| Some(entry.ok()?.path().file_stem()?.to_string_lossy().into_owned())).collect();
    paired(&targets, &binaries)?;
    Ok(targets)
}

fn target(package: &str, seeds: &Path) -> Option<Target> {
    let name = seeds.file_name()?.to_string_lossy().into_owned();
    let seeds = seeds.strip_prefix(workspace::root()).unwrap_or(seeds).to_path_buf();
    Some(Target { name, package: package.to_owned(), seeds })
}

fn paired(targets: &[Target], binaries: &BTreeSet<String>) -> Result<(), Fault> {
    if let Some(target) = targets.iter().find(|target| !binaries.contains(&target.name)) {
        return Err(format!("{} has no fuzz/fuzz_targets/{}.rs", target.seeds.display(), target.name));
    }
    match binaries.iter().find(|binary| targets.iter().all(|target| target.name != **binary)) {
        Some(binary) => Err(format!("no crate has seeds for {binary} in tests/corpus/{binary}")),
        None => Ok(()),
    }
}

/// Those of `targets` that are in `names`; all where there are no names.
pub(super) fn chosen(targets: Vec<Target>, names: &[String]) -> Result<Vec<Target>, Fault> {
    if let Some(name) = names.iter().find(|name| targets.iter().all(|target| target.name != **name)) {
        let known: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        return Err(format!("fuzz: there is no target {name:?}; there are {}", known.join(", ")));
    }
    Ok(targets.into_iter().filter(|target| names.is_empty() || names.contains(&target.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(names: &[&str]) -> Vec<Target> {
        let target = |name: &&str| Target {
            name: (*name).to_owned(),
            package: "elicit".to_owned(),
            seeds: PathBuf::from(format!("crates/elicit/tests/corpus/{name}")),
        };
        names.iter().map(target).collect()
    }

    #[test]
    fn names_choose_and_no_name_chooses_all() {
        let all = targets(&["form", "url"]);
        assert_eq!(chosen(all.clone(), &[]), Ok(all.clone()));
        assert_eq!(chosen(all.clone(), &["url".to_owned()]), Ok(targets(&["url"])));
        assert!(chosen(all, &["from".to_owned()]).is_err_and(|fault| fault.ends_with("there are form, url")));
    }

    #[test]
    fn each_binary_has_seeds_and_each_folder_a_binary() {
        let binaries = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        assert_eq!(paired(&targets(&["form"]), &binaries(&["form"])), Ok(()));
        assert!(paired(&targets(&["form"]), &binaries(&[])).is_err());
        assert!(paired(&targets(&[]), &binaries(&["form"])).is_err());
    }

    #[test]
    fn the_targets_of_this_repository_are_found() {
        let targets = read().unwrap();
        let state = targets.iter().find(|target| target.name == "state").unwrap();
        assert_eq!(
            (state.package.as_str(), state.seeds.to_str()),
            ("elicit", Some("crates/elicit/tests/corpus/state"))
        );
    }
}
