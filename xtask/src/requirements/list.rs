//! The list itself: `docs/requirements.md`.

use super::number::Number;
use crate::{Fault, workspace};

/// One row of the list.
pub(crate) struct Requirement {
    pub(crate) number: Number,
}

/// Every requirement, in the list's order.
pub(crate) fn read() -> Result<Vec<Requirement>, Fault> {
    let path = workspace::root().join("docs/requirements.md");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let requirements = parse(&text);
    if requirements.is_empty() { Err(format!("{} lists no requirement", path.display())) } else { Ok(requirements) }
}

/// The rows `| R-URL-01 | … |`.
fn parse(text: &str) -> Vec<Requirement> {
    text.lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next())
        .filter_map(Number::parse)
        .map(|number| Requirement { number })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_requirements_and_mentions_are_not() {
        let text = "| No. | Side | Rule |\n|---|---|---|\n| R-GW-01 | any era (R-URL-01) |\nsee R-GW-02\n";
        let numbers: Vec<String> = parse(text).iter().map(|row| row.number.to_string()).collect();
        assert_eq!(numbers, ["R-GW-01"]);
    }
}
