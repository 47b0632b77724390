//! The library reaches nothing outside of itself.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// R-URL-04, R-URL-09: no code here could fetch a URL, open it, or hand it to a shell, before consent or after it.
#[test]
fn no_source_uses_network_files_or_processes() {
    let mut files = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 80, "the sources were not found");
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        for word in
            ["TcpStream", "TcpListener", "UdpSocket", "ToSocketAddrs", "std::fs", "std::process", "std::env", "std::os"]
        {
            assert!(!text.contains(word), "{} uses {word}", file.display());
        }
    }
}

/// R-URL-04: nor does a library that it is built with. Each of these computes; whatever joins them is looked at first.
#[test]
fn no_dependency_could_do_it_either() {
    let manifest = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml")).unwrap();
    let (_, dependencies) = manifest.split_once("\n[dependencies]\n").unwrap();
    let (dependencies, _) = dependencies.split_once("\n[").unwrap();
    let names: Vec<&str> = dependencies
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|name| !name.is_empty())
        .collect();
    let known = [
        "aws-lc-rs",
        "base64",
        "idna",
        "psl",
        "regex",
        "schemars",
        "serde",
        "serde_json",
        "thiserror",
        "unicode-normalization",
        "unicode-security",
        "url",
        "zeroize",
    ];
    assert_eq!(names, known);
}
