//! The page about performance, and the part of it that is measured.

use crate::{Fault, workspace};

const PAGE: &str = "docs/performance.md";

/// Puts `text` between the two marks of `part`.
pub(super) fn write(part: &str, text: &str) -> Result<(), Fault> {
    let path = workspace::root().join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let [begin, end] = marks(part);
    let page =
        replaced(&page, part, text).ok_or_else(|| format!("{PAGE} needs the lines {begin}and {end}once each"))?;
    std::fs::write(&path, page).map_err(|error| format!("{}: {error}", path.display()))?;
    println!("{PAGE}: {part} is up to date");
    Ok(())
}

/// The lines around a measured part of the page.
fn marks(part: &str) -> [String; 2] {
    [format!("<!-- {part}: begin (cargo xtask bench --write {part}) -->\n"), format!("<!-- {part}: end -->\n")]
}

/// `page` with `text` between the marks of a part; `None` where they do not stand there once each, in order.
fn replaced(page: &str, part: &str, text: &str) -> Option<String> {
    let [begin, end] = marks(part);
    let (head, rest) = page.split_once(&begin)?;
    let (_, tail) = rest.split_once(&end)?;
    let once = !tail.contains(&begin) && !tail.contains(&end) && !head.contains(&end);
    once.then(|| format!("{head}{begin}\n{}\n\n{end}{tail}", text.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_changes() {
        let [begin, end] = marks("service");
        let page = format!("# Head\n\n{begin}old\n{end}\ntail\n");
        let new = replaced(&page, "service", "new\n").unwrap();
        assert_eq!(new, format!("# Head\n\n{begin}\nnew\n\n{end}\ntail\n"));
        assert_eq!(replaced(&new, "service", "new"), Some(new.clone()));
        assert_eq!(replaced(&new, "library", "new"), None);
    }

    #[test]
    fn the_page_of_this_repository_has_its_marks() {
        let page = std::fs::read_to_string(workspace::root().join(PAGE)).unwrap();
        assert!(["library", "service"].iter().all(|part| replaced(&page, part, "new").is_some()));
    }

    #[test]
    fn a_page_without_its_marks_stays_as_it_is() {
        let [begin, end] = marks("library");
        for page in ["", &begin, &end, &format!("{end}{begin}"), &format!("{begin}{end}{begin}{end}")] {
            assert_eq!(replaced(page, "library", "new"), None, "{page}");
        }
    }
}
