//! Which benchmarks there are: the `[[bench]]` sections of the crates.

use crate::{Fault, workspace};

/// One benchmark program.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bench {
    pub(super) package: String,
    pub(super) name: String,
}

/// Every benchmark of the workspace, sorted.
pub(super) fn read() -> Result<Vec<Bench>, Fault> {
    let mut benches = Vec::new();
    for file in workspace::manifests()? {
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        benches.extend(parse(&text));
    }
    benches.sort();
    if benches.is_empty() { Err("no crate has a [[bench]]".to_owned()) } else { Ok(benches) }
}

/// The benchmarks of one manifest.
fn parse(manifest: &str) -> Vec<Bench> {
    let mut section = "";
    let mut package = "";
    let mut names = Vec::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line;
        } else if let Some(name) = workspace::quoted(line, "name") {
            match section {
                "[package]" => package = name,
                "[[bench]]" => names.push(name),
                _ => {}
            }
        }
    }
    names.into_iter().map(|name| Bench { package: package.to_owned(), name: name.to_owned() }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bench_is_named_with_its_package() {
        let manifest = "[package]\nname = \"elicit\"\n\n[[bin]]\nname = \"other\"\n\n[[bench]]\nname = \"one\"\nharness = false\n\
            [[bench]]\nharness = false\nname=\"two\"\n\n[dev-dependencies]\nname = \"1\"\n";
        let bench = |name: &str| Bench { package: "elicit".to_owned(), name: name.to_owned() };
        assert_eq!(parse(manifest), [bench("one"), bench("two")]);
        assert_eq!(parse("[package]\nname = \"none\"\n"), []);
    }
}
