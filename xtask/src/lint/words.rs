//! No file of the repository names what must not be in it.

use crate::{Fault, workspace};

/// What must not stand in any text of the repository, with the reason. Each is written in two halves, so that
/// this file may be searched as well.
const FORBIDDEN: &[(&str, &str, &str)] = &[
    ("/wo", "rk/", "an absolute path of one machine"),
    ("/ro", "ot/", "an absolute path of one machine"),
    ("/ho", "me/", "an absolute path of one machine"),
    ("/Us", "ers/", "an absolute path of one machine"),
    ("registry.npm", "js.org", "a registry's host: lock files must work with any mirror"),
    ("registry.yarn", "pkg.com", "a registry's host: lock files must work with any mirror"),
    ("index.cra", "tes.io", "a registry's host: builds must work with any mirror"),
    ("static.cra", "tes.io", "a registry's host: builds must work with any mirror"),
    ("files.python", "hosted.org", "a registry's host: builds must work with any mirror"),
    ("deb.deb", "ian.org", "a registry's host: builds must work with any mirror"),
    ("proxy.gol", "ang.org", "a registry's host: builds must work with any mirror"),
];

/// Names file, line and word of every find.
pub(crate) fn check() -> Result<(), Fault> {
    let mut faults = Vec::new();
    for file in workspace::files()? {
        let bytes =
            std::fs::read(workspace::root().join(&file)).map_err(|error| format!("{}: {error}", file.display()))?;
        // A NUL byte makes it no text.
        if bytes.contains(&0) {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        faults.extend(finds(&text).map(|(line, fault)| format!("{}:{line}: {fault}", file.display())));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.join("\n")) }
}

/// Line number and complaint of every find in `text`.
fn finds(text: &str) -> impl Iterator<Item = (usize, Fault)> {
    text.lines().enumerate().flat_map(|(index, line)| {
        FORBIDDEN.iter().filter_map(move |(head, tail, reason)| {
            let word = format!("{head}{tail}");
            stands_in(line, &word).then(|| (index + 1, format!("{word}: {reason}")))
        })
    })
}

/// Whether `word` stands in `line`; a path only where it starts, not inside a longer path or an address.
fn stands_in(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(start, _)| {
        let before = line.get(..start).and_then(|head| head.chars().next_back());
        !word.starts_with('/') || !before.is_some_and(|before| before.is_alphanumeric() || "._-}/".contains(before))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_path_is_found_with_its_line() {
        let text = format!("first\nsee {}main\n", ["/wo", "rk/"].concat());
        let found: Vec<usize> = finds(&text).map(|(line, _)| line).collect();
        assert_eq!(found, [2]);
    }

    #[test]
    fn the_same_letters_inside_a_longer_path_are_no_machine_path() {
        let part = ["/ho", "me/"].concat();
        assert_eq!(finds(&format!("https://example.com{part}page ./a{part}b")).count(), 0);
        assert_eq!(finds(&format!("\"{part}somebody\"")).count(), 1);
    }

    #[test]
    fn a_registry_is_found_inside_an_address() {
        let line = ["\"resolved\": \"https://registry.npm", "js.org/a/-/a-1.tgz\""].concat();
        assert_eq!(finds(&line).count(), 1);
    }
}
