//! Tables at the terminal.

/// Rows as lines, the first of them the head: each column as wide as its widest value, with two spaces between.
pub(super) fn text<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: [usize; COLUMNS] = std::array::from_fn(width);
    let mut text = String::new();
    for row in rows {
        let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_they_need_to_be() {
        let rows = [["ID", "NAME"], ["long-id", "天气"], ["x", ""]].map(|row| row.map(str::to_owned));
        assert_eq!(text(&rows), "ID       NAME\nlong-id  天气\nx\n");
    }
}
