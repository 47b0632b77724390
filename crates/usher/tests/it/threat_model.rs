//! `docs/threat-model.md` names the tests that prove it: each of them is there, and is a test.

use std::{fs, path::PathBuf};

/// How the document shortens the places of tests.
const PLACES: [(&str, &str); 6] = [
    ("it/", "crates/usher/tests/it/"),
    ("src/", "crates/usher/src/"),
    ("contract/", "crates/usher-store/tests/contract/"),
    ("store/", "crates/usher-store/src/"),
    ("elicit/", "crates/elicit/src/"),
    ("tests/", "tests/"),
];

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// One row of a table about attacks.
struct Row<'d> {
    line: usize,
    attack: &'d str,
    stops: &'d str,
    proof: &'d str,
}

fn rows(document: &str) -> Vec<Row<'_>> {
    let mut rows = Vec::new();
    let mut within = false;
    for (number, text) in document.lines().enumerate() {
        let cells: Vec<&str> = text.split(" | ").collect();
        match cells[..] {
            [attack, stops, proof] if text.starts_with("| ") => {
                let row = Row {
                    line: number + 1,
                    attack: attack.trim_start_matches("| "),
                    stops,
                    proof: proof.trim_end_matches('|').trim(),
                };
                match row.attack {
                    "attack" => within = true,
                    _ if within => rows.push(row),
                    _ => {}
                }
            }
            _ if text.starts_with('|') => {}
            _ => within = false,
        }
    }
    rows
}

/// A file with tests, by the name that the document gives it.
fn source(name: &str) -> Option<(String, String)> {
    let is_tests = [".rs", ".mjs"].iter().any(|end| name.ends_with(end));
    let (short, long) = PLACES.iter().find(|(short, _)| is_tests && name.starts_with(short))?;
    let path = format!("{long}{}", &name[short.len()..]);
    let text = fs::read_to_string(root().join(&path)).unwrap_or_else(|fault| panic!("{name}: {fault}"));
    Some((path, text))
}

/// Whether `text` has a test of this name. Those of the contract are named in one list, which makes tests of them; a macro
/// makes tests of lines such as `name => story;`.
fn has_test(path: &str, text: &str, name: &str) -> bool {
    if text.contains("macro_rules!") && text.contains(&format!("\n    {name} => ")) {
        return true;
    }
    let Some(at) = text.find(&format!("fn {name}(")) else { return false };
    if path.contains("/contract/") {
        let list = fs::read_to_string(root().join("crates/usher-store/tests/contract/main.rs")).unwrap();
        return list.lines().any(|line| line.trim() == format!("{name},"));
    }
    let before = text[..at].rsplit("\n\n").next().unwrap_or_default();
    ["#[test]", "#[tokio::test"].iter().any(|mark| before.contains(mark))
}

/// Whether it may be the name of a test.
fn is_name(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// What stands between backticks, and what follows each until the next.
fn quoted(cell: &str) -> Vec<(&str, &str)> {
    let parts: Vec<&str> = cell.split('`').collect();
    (1..parts.len()).step_by(2).map(|at| (parts[at], parts.get(at + 1).copied().unwrap_or_default())).collect()
}

/// Faults of one row: names of tests that there are not. Files that stand together share the names that follow.
fn faults(row: &Row<'_>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut files: Vec<(String, String)> = Vec::new();
    let mut named = true;
    for (word, after) in quoted(row.proof) {
        if let Some(file) = source(word) {
            if named {
                files.clear();
            }
            named = false;
            for number in after.split([' ', ',', ';', '.']).filter(|part| part.starts_with("R-")) {
                named = true;
                if !file.1.contains(number) {
                    faults.push(format!("line {}: {word} has no test with {number}", row.line));
                }
            }
            files.push(file);
        } else if is_name(word) {
            named = true;
            if files.is_empty() {
                faults.push(format!("line {}: {word} stands behind no file", row.line));
            }
            for (path, _) in files.iter().filter(|(path, text)| !has_test(path, text, word)) {
                faults.push(format!("line {}: {path} has no test {word}", row.line));
            }
        }
    }
    faults
}

/// A document that names a test which nobody runs would prove nothing.
#[test]
fn every_test_of_the_threat_model_exists() {
    let document = fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    let rows = rows(&document);
    assert!(rows.len() > 100, "the tables were found: {}", rows.len());
    let faults: Vec<String> = rows.iter().flat_map(faults).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Each attack is stopped by something that a test shows, or the document says that nothing stops it.
#[test]
fn every_attack_has_a_proof_or_says_that_nothing_stops_it() {
    let document = fs::read_to_string(root().join("docs/threat-model.md")).unwrap();
    for Row { line, attack, stops, proof } in rows(&document) {
        assert!(!attack.is_empty() && !stops.is_empty(), "line {line}");
        let words = quoted(proof);
        let proved = words.iter().any(|(word, after)| match source(word) {
            Some((path, _)) => path.starts_with("tests/") && after.trim_start().starts_with("R-"),
            None => is_name(word),
        });
        assert!(proved || stops.contains("**nothing**"), "line {line}: {attack}: no test is named");
    }
}

#[test]
fn a_name_that_is_wrong_is_told() {
    let row = |proof| Row { line: 7, attack: "a", stops: "b", proof };
    let told = |proof| faults(&row(proof)).join("; ");
    assert_eq!(told("`it/threat_model.rs` `a_name_that_is_wrong_is_told`"), "");
    assert!(told("`it/threat_model.rs` `faults`").contains("has no test faults"), "a function that is no test");
    assert!(told("`it/threat_model.rs` `nothing_like_it`").contains("has no test nothing_like_it"));
    assert!(told("`nothing_like_it`").contains("behind no file"));
    assert!(told("`tests/browser/connect.test.mjs` R-NONE-01").contains("no test with R-NONE-01"));
    assert_eq!(told("`contract/race.rs` `of_two_submissions_one_is_done`"), "");
    assert!(told("`contract/main.rs` `of_two_submissions_one_is_done`").contains("has no test"));
}
