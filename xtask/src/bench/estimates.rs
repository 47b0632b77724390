//! What criterion measured: a folder for each benchmark, with its name and its estimates as JSON.

use std::path::Path;

use crate::Fault;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Nanoseconds,
    Bytes,
}

/// The median of one benchmark.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) unit: Unit,
    pub(super) median: f64,
    /// The lower end of the 95 % confidence interval.
    pub(super) low: f64,
    /// The upper end.
    pub(super) high: f64,
}

/// Everything below `folder`, sorted by name.
pub(super) fn read(folder: &Path) -> Result<Vec<Measured>, Fault> {
    let mut measured = Vec::new();
    collect(folder, &mut measured)?;
    measured.sort_by(|left, right| left.name.cmp(&right.name));
    Ok(measured)
}

fn collect(folder: &Path, measured: &mut Vec<Measured>) -> Result<(), Fault> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    let (name, estimates) = (folder.join("benchmark.json"), folder.join("estimates.json"));
    if folder.ends_with("new") && name.is_file() && estimates.is_file() {
        let text = |file: &Path| std::fs::read_to_string(file).map_err(fault);
        let one = parse(&text(&name)?, &text(&estimates)?);
        measured.push(one.ok_or_else(|| format!("{}: not what criterion 0.8 writes", folder.display()))?);
        return Ok(());
    }
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if path.is_dir() {
            collect(&path, measured)?;
        }
    }
    Ok(())
}

fn parse(benchmark: &str, estimates: &str) -> Option<Measured> {
    let name = after(benchmark, "full_id")?.strip_prefix('"')?.split_once('"')?.0;
    // Names are ours, and need no escapes.
    if name.contains('\\') {
        return None;
    }
    let median = after(estimates, "median")?;
    Some(Measured {
        name: name.to_owned(),
        unit: Unit::Nanoseconds,
        median: number(median, "point_estimate")?,
        low: number(median, "lower_bound")?,
        high: number(median, "upper_bound")?,
    })
}

/// What follows the first `"key":`.
fn after<'a>(json: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = json.split_once(&format!("\"{key}\""))?;
    Some(rest.trim_start().strip_prefix(':')?.trim_start())
}

fn number(json: &str, key: &str) -> Option<f64> {
    let rest = after(json, key)?;
    let end = rest.find([',', '}', ' ', '\n', '\r', '\t'])?;
    rest.get(..end)?.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    const BENCHMARK: &str = r#"{"group_id":"form","function_id":"parse + check","value_str":null,"throughput":null,"full_id":"form/parse + check","directory_name":"form/parse + check","title":"form/parse + check"}"#;
    const ESTIMATES: &str = r#"{"mean":{"confidence_interval":{"confidence_level":0.95,"lower_bound":1.0,"upper_bound":2.0},"point_estimate":1.5,"standard_error":0.1},"median":{"confidence_interval":{"confidence_level":0.95,"lower_bound":611.25,"upper_bound":1.5e3},"point_estimate":612.5,"standard_error":0.5},"median_abs_dev":{"confidence_interval":{"confidence_level":0.95,"lower_bound":3.0,"upper_bound":4.0},"point_estimate":3.5,"standard_error":0.1},"slope":null}"#;

    #[test]
    fn the_median_is_read_with_its_interval() {
        assert_eq!(
            parse(BENCHMARK, ESTIMATES),
            Some(Measured {
                name: "form/parse + check".to_owned(),
                unit: Unit::Nanoseconds,
                median: 612.5,
                low: 611.25,
                high: 1_500.0
            })
        );
    }

    #[test]
    fn white_space_makes_no_difference() {
        let spaced = ESTIMATES.replace(':', " : ").replace(',', " ,\n");
        assert_eq!(parse(&BENCHMARK.replace(':', ": "), &spaced), parse(BENCHMARK, ESTIMATES));
    }

    #[test]
    fn what_is_not_there_is_not_made_up() {
        assert_eq!(parse(BENCHMARK, "{}"), None);
        assert_eq!(parse(BENCHMARK, &ESTIMATES.replace("\"median\"", "\"middle\"")), None);
        assert_eq!(parse(BENCHMARK, &ESTIMATES.replace("612.5", "null")), None);
        assert_eq!(parse("{}", ESTIMATES), None);
    }
}
