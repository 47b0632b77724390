//! Finding tests in Rust sources: a doc comment, attributes, a function.

use super::named::Named;

/// Every documented function, and every test, in `text`.
pub(crate) fn scan(package: &str, file: &str, text: &str) -> Vec<Named> {
    let mut found = Vec::new();
    let mut comment = String::new();
    let mut is_test = false;
    // Round and square brackets of an attribute that is not closed yet.
    let mut open = 0_i32;
    for line in text.lines() {
        let line = line.trim();
        if open > 0 {
            open += balance(line);
        } else if let Some(words) = line.strip_prefix("///") {
            comment.push_str(words);
            comment.push('\n');
        } else if line.starts_with("#[") {
            is_test |= is_test_attribute(line);
            open = balance(line);
            // An attribute and its function may share a line.
            if open == 0
                && let Some(function) = line.rsplit_once(']').and_then(|(_, rest)| function(rest.trim()))
            {
                found.push(Named::rust(package, file, function, &comment, is_test));
                (comment, is_test) = (String::new(), false);
            }
        } else if let Some(function) = function(line) {
            if is_test || !comment.is_empty() {
                found.push(Named::rust(package, file, function, &comment, is_test));
            }
            (comment, is_test) = (String::new(), false);
        } else if !line.starts_with("//") {
            (comment, is_test) = (String::new(), false);
        }
    }
    found
}

/// `#[test]`, `#[tokio::test(…)]`, `#[test_case(…)]`, `#[rstest]`.
fn is_test_attribute(line: &str) -> bool {
    let path: String =
        line.trim_start_matches("#[").chars().take_while(|c| c.is_alphanumeric() || "_:".contains(*c)).collect();
    path.rsplit("::").next().is_some_and(|last| ["test", "test_case", "rstest", "sqlx_test"].contains(&last))
}

fn balance(line: &str) -> i32 {
    line.chars()
        .map(|c| match c {
            '[' | '(' => 1,
            ']' | ')' => -1,
            _ => 0,
        })
        .sum()
}

/// The name in `pub(crate) async fn name(…`.
fn function(line: &str) -> Option<&str> {
    let mut rest = line;
    for word in ["pub(crate) ", "pub(super) ", "pub ", "const ", "async ", "unsafe "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let name = rest.strip_prefix("fn ")?;
    let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
    name.get(..end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str) -> Vec<(String, usize, bool)> {
        scan("elicit", "a.rs", text).iter().map(|test| (test.show(), test.numbers.len(), test.certain)).collect()
    }

    #[test]
    fn a_comment_belongs_to_the_test_below_it() {
        let text = "\
/// R-URL-01: absolute,
/// and R-URL-02.
#[tokio::test(
    flavor = \"multi_thread\"
)]
// why
async fn is_absolute() {
    let x = 1;
}

#[test]
fn r_url_03_has_no_credential() {}
";
        assert_eq!(
            show(text),
            [
                ("elicit a::is_absolute".to_owned(), 2, true),
                ("elicit a::r_url_03_has_no_credential".to_owned(), 1, true)
            ]
        );
    }

    #[test]
    fn a_documented_function_is_only_perhaps_a_test() {
        let text = "/// Checks (R-URL-02).\npub(crate) fn check(a: u8) {}\nfn plain() {}\n";
        assert_eq!(show(text), [("elicit a::check".to_owned(), 1, false)]);
    }

    #[test]
    fn a_comment_on_something_else_is_not_carried_on() {
        let text = "/// R-URL-02\nstruct A;\n\n#[test] fn works() {}\n";
        assert_eq!(show(text), [("elicit a::works".to_owned(), 0, true)]);
    }
}
