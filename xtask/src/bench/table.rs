//! The result as a Markdown table.

use super::estimates::{Measured, Unit};
use super::target::{Judged, Limit};

const HEAD: &str = "| benchmark | median | against | ratio | target | |\n|---|---:|---|---:|---|---|\n";

/// A row for each benchmark, in the order of the names; targets that were not measured come last.
pub(super) fn markdown(measured: &[Measured], judged: &[Judged]) -> String {
    let mut text = HEAD.to_owned();
    for one in measured {
        let judged = judged.iter().find(|judged| judged.name == one.name);
        text.push_str(&row(&one.name, &scaled(one.median, one.unit), judged));
    }
    for missing in judged.iter().filter(|judged| measured.iter().all(|one| one.name != judged.name)) {
        text.push_str(&row(missing.name, "", Some(missing)));
    }
    text
}

fn row(name: &str, median: &str, judged: Option<&Judged>) -> String {
    let (against, target) = match judged.map(|judged| judged.limit) {
        Some(Limit::Times { other, at_most }) => {
            (format!("`{other}`"), at_most.map_or(String::new(), |limit| format!("≤ {limit} ×")))
        }
        Some(Limit::More { other, at_most }) => {
            (format!("`{other}`"), format!("≤ {} more", whole(at_most, Unit::Bytes)))
        }
        Some(Limit::Below(limit)) => (String::new(), format!("< {}", whole(limit, Unit::Nanoseconds))),
        None => (String::new(), String::new()),
    };
    let ratio = judged.and_then(|judged| judged.ratio).map_or(String::new(), |ratio| format!("{ratio:.2}"));
    let verdict = judged.map_or("", |judged| judged.verdict.as_str());
    format!("| `{name}` | {median} | {against} | {ratio} | {target} | {verdict} |\n")
}

/// Three digits and a unit.
fn scaled(value: f64, of: Unit) -> String {
    let (number, unit) = unit(value, of);
    let digits = match number {
        number if number < 9.995 => 2,
        number if number < 99.95 => 1,
        _ => 0,
    };
    format!("{number:.digits$} {unit}")
}

/// A round number, as targets are.
fn whole(value: f64, of: Unit) -> String {
    let (number, unit) = unit(value, of);
    format!("{number} {unit}")
}

fn unit(value: f64, of: Unit) -> (f64, &'static str) {
    match of {
        Unit::Nanoseconds if value < 1e3 => (value, "ns"),
        Unit::Nanoseconds if value < 1e6 => (value / 1e3, "µs"),
        Unit::Nanoseconds if value < 1e9 => (value / 1e6, "ms"),
        Unit::Nanoseconds => (value / 1e9, "s"),
        Unit::Bytes => (value / 1024.0, "KiB"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::target::Verdict;
    use super::*;

    fn measured(name: &str, median: f64) -> Measured {
        Measured { name: name.to_owned(), unit: Unit::Nanoseconds, median, low: median, high: median }
    }

    #[test]
    fn times_have_three_digits_and_a_unit() {
        let table = [
            (0.5, "0.50 ns"),
            (12.34, "12.3 ns"),
            (612.5, "612 ns"),
            (1_234.0, "1.23 µs"),
            (99_960.0, "100 µs"),
            (9_999_000.0, "10.0 ms"),
            (2.5e9, "2.50 s"),
        ];
        for (nanoseconds, text) in table {
            assert_eq!(scaled(nanoseconds, Unit::Nanoseconds), text);
        }
    }

    #[test]
    fn memory_is_told_in_kibibytes() {
        assert_eq!(
            (scaled(22_016.0, Unit::Bytes), whole(4096.0, Unit::Bytes)),
            ("21.5 KiB".to_owned(), "4 KiB".to_owned())
        );
    }

    #[test]
    fn each_row_tells_its_own_and_missing_targets_come_last() {
        let times = Limit::Times { other: "a (other)", at_most: Some(0.25) };
        let judged = [
            Judged { name: "a", limit: times, ratio: Some(0.2), verdict: Verdict::Holds },
            Judged { name: "b", limit: Limit::Below(5_000.0), ratio: None, verdict: Verdict::Misses },
            Judged { name: "c", limit: Limit::Below(1_000.0), ratio: None, verdict: Verdict::NotMeasured },
        ];
        let measured = [measured("a", 10.0), measured("a (other)", 50.0), measured("b", 6_000.0)];
        assert_eq!(
            markdown(&measured, &judged).strip_prefix(HEAD).unwrap(),
            "| `a` | 10.0 ns | `a (other)` | 0.20 | ≤ 0.25 × | holds |\n\
             | `a (other)` | 50.0 ns |  |  |  |  |\n\
             | `b` | 6.00 µs |  |  | < 5 µs | **misses its target** |\n\
             | `c` |  |  |  | < 1 µs | not measured |\n"
        );
    }
}
