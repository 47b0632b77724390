//! "Did you mean …?"

/// The known word closest to `word`, if one is close enough to be meant.
pub(crate) fn closest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    known
        .map(|candidate| (distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= 1.max(candidate.chars().count() / 3))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edits (insert, delete, replace, swap of neighbours) that lead from `a` to `b`, case aside.
fn distance(a: &str, b: &str) -> usize {
    // A misspelt key is short; the cost is the product of both lengths.
    let a: Vec<char> = a.to_lowercase().chars().take(64).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(64).collect();
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replace = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replace.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_the_nearest_known_one() {
        let known = ["public_url", "listen", "store", "keys", "provider", "upstream"];
        let closest = |word| closest(word, known.into_iter());
        assert_eq!(closest("upstreams"), Some("upstream"));
        assert_eq!(closest("Provdier"), Some("provider"));
        assert_eq!(closest("publicurl"), Some("public_url"));
        assert_eq!(closest("telemetry"), None);
        assert_eq!(closest(""), None);
    }
}
