//! The page about performance, and the part of it that is measured.

use crate::{Fault, workspace};

const PAGE: &str = "docs/performance.md";
const BEGIN: &str = "<!-- measured: begin (cargo xtask bench --write) -->\n";
const END: &str = "<!-- measured: end -->\n";

/// Puts `text` between the two marks of the page.
pub(super) fn write(text: &str) -> Result<(), Fault> {
    let path = workspace::root().join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let page = replaced(&page, text).ok_or_else(|| format!("{PAGE} needs the lines {BEGIN}and {END}once each"))?;
    std::fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{PAGE} is up to date");
    Ok(())
}

/// `page` with `text` between its marks; `None` where they do not stand there once each, in order.
fn replaced(page: &str, text: &str) -> Option<String> {
    let (head, rest) = page.split_once(BEGIN)?;
    let (_, tail) = rest.split_once(END)?;
    let once = !tail.contains(BEGIN) && !tail.contains(END) && !head.contains(END);
    once.then(|| format!("{head}{BEGIN}\n{}\n\n{END}{tail}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let page = format!("# Head\n\n{BEGIN}old\n{END}\ntail\n");
        let new = replaced(&page, "new\n").unwrap();
        assert_eq!(new, format!("# Head\n\n{BEGIN}\nnew\n\n{END}\ntail\n"));
        assert_eq!(replaced(&new, "new"), Some(new));
    }

    #[test]
    fn the_page_of_this_repository_has_its_marks() {
        let page = std::fs::read_to_string(workspace::root().join(PAGE)).unwrap();
        assert!(replaced(&page, "new").is_some());
    }

    #[test]
    fn a_page_without_its_marks_stays_as_it_is() {
        for page in ["", BEGIN, END, &format!("{END}{BEGIN}"), &format!("{BEGIN}{END}{BEGIN}{END}")] {
            assert_eq!(replaced(page, "new"), None, "{page}");
        }
    }
}
