//! Finding tests in Node sources: the title is the first argument of `test(…)` or `it(…)`.

use super::named::{Named, Place};
use super::number;

/// Every test in `text` whose title is written there.
pub(crate) fn scan(suite: &str, text: &str) -> Vec<Named> {
    let calls = ["test(", "it(", "test.skip(", "test.todo("];
    let mut found = Vec::new();
    for call in calls {
        for (start, _) in text.match_indices(call) {
            let before = text.get(..start).and_then(|head| head.chars().next_back());
            if before.is_some_and(|before| before.is_alphanumeric() || before == '_') {
                continue;
            }
            let rest = text.get(start + call.len()..).unwrap_or_default().trim_start();
            let Some(title) = literal(rest) else { continue };
            let numbers = number::find(&title.join(" "));
            let place = Place::Node { suite: suite.to_owned(), title };
            found.push(Named { numbers, certain: true, place });
        }
    }
    found
}

/// The fixed parts of the string literal that `text` starts with.
fn literal(text: &str) -> Option<Vec<String>> {
    let mut characters = text.chars();
    let quote = characters.next().filter(|quote| "'\"`".contains(*quote))?;
    let mut parts = vec![String::new()];
    let mut escaped = false;
    while let Some(character) = characters.next() {
        let part = parts.last_mut()?;
        if escaped {
            part.push(character);
            escaped = false;
        } else if character == '\\' {
            escaped = true;
        } else if character == quote {
            return Some(parts);
        } else if quote == '`' && character == '$' && characters.as_str().starts_with('{') {
            characters.by_ref().find(|end| *end == '}')?;
            parts.push(String::new());
        } else {
            part.push(character);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_read_with_the_gaps_of_templates() {
        let text = "test('R-URL-01: it\\'s absolute', async () => {});\n\
                    await t.test(`R-URL-02: ${era} client`, () => {});\nlatest('R-URL-03');\ntest(name, f);\n";
        let found: Vec<(String, usize)> =
            scan("interop", text).iter().map(|test| (test.show(), test.numbers.len())).collect();
        assert_eq!(
            found,
            [("interop R-URL-01: it's absolute".to_owned(), 1), ("interop R-URL-02: … client".to_owned(), 1)]
        );
    }
}
