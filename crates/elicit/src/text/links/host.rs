//! Names that could be hosts.

/// The longest host name in its textual form.
const LONGEST_HOST: usize = 253;

/// Top-level domains that nobody uses as another word, which are found wherever they stand.
const PLAIN: &[&str] = &["com", "edu", "gov", "net", "org"];

/// Top-level domains with which the names of files end, sorted.
const FILES: &[&str] = &[
    "as",
    "bz",
    "cab",
    "cat",
    "cc",
    "map",
    "md",
    "mk",
    "ml",
    "mov",
    "mp",
    "nc",
    "pl",
    "pm",
    "properties",
    "ps",
    "pub",
    "py",
    "rs",
    "sc",
    "sh",
    "so",
    "st",
    "tf",
    "vi",
    "zip",
];

/// Top-level domains that are usual words after the dot of a field or a permission, sorted.
const FIELDS: &[&str] = &[
    "boo", "call", "city", "country", "data", "date", "email", "events", "fail", "host", "id", "name", "now", "open",
    "phone", "prof", "read", "select", "style", "you",
];

/// Top-level domains with which the names of packages begin, sorted.
const PACKAGES: &[&str] = &["app", "com", "dev", "edu", "gov", "io", "net", "org"];

/// Products are named so: `ASP.NET`, `VB.NET`.
const LONGEST_PRODUCT: usize = 3;

/// Whether `name` is a host name that would be clickable before `after`.
pub(super) fn is_host(name: &str, after: &str) -> bool {
    let ended = name.ends_with(['.', '-', '_', '+']);
    let name = name.trim_matches(['.', '-', '_', '+']);
    let Some((labels, top)) = name.rsplit_once('.') else {
        return false;
    };
    if name.len() > LONGEST_HOST || !labels.split('.').all(is_label) || !top.starts_with(char::is_alphabetic) {
        return false;
    }
    let mut following = after.chars();
    let goes_on = match following.next().filter(|_| !ended) {
        Some('/') => true,
        Some('?' | '#') => following.next().is_some_and(char::is_alphanumeric),
        Some(':') => following.next().is_some_and(|next| next.is_ascii_digit()),
        _ => false,
    };
    let lower = name.to_lowercase();
    let Some(suffix) = psl::suffix(lower.as_bytes()).filter(psl::Suffix::is_known) else {
        return false;
    };
    let divided = suffix.as_bytes().contains(&b'.');
    goes_on || is_bare_host(name, labels, top, divided)
}

/// Whether a name under a known top-level domain is clickable by itself, and no file, field, product or package.
/// `divided` says that its public suffix has several labels.
fn is_bare_host(name: &str, labels: &str, top: &str, divided: bool) -> bool {
    let is_in = |list: &[&str], text: &str| list.binary_search(&text).is_ok();
    let lower = top.to_lowercase();
    let plain = is_in(PLAIN, &lower);
    let capitals = top.contains(char::is_uppercase);
    if capitals && (!plain || lower == "net") {
        // All in capitals, or a word that begins a sentence without a space before it.
        let shouted = !name.contains(char::is_lowercase);
        return shouted && labels.len() > LONGEST_PRODUCT && !is_in(FILES, &lower);
    }
    if plain {
        return true;
    }
    let first = labels.split('.').next().unwrap_or_default();
    let package = first.len() < labels.len() && is_in(PACKAGES, first);
    // `example.co.id` is no field of `example.co`.
    labels.contains(char::is_alphabetic) && !package && (divided || !(is_in(FILES, &lower) || is_in(FIELDS, &lower)))
}

fn is_label(label: &str) -> bool {
    !label.is_empty() && label.chars().all(|character| character.is_alphanumeric() || matches!(character, '-' | '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_top_level_domains() {
        for list in [PLAIN, FILES, FIELDS, PACKAGES] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
            let unknown: Vec<_> = list
                .iter()
                .filter(|top| !psl::suffix(top.as_bytes()).is_some_and(|suffix| suffix.is_known()))
                .collect();
            assert!(unknown.is_empty(), "{unknown:?}");
        }
    }
}
