//! What was measured, as lines for `cargo xtask bench`.

use usher_testkit::load::Sample;

/// What is wanted, and where it goes.
pub(crate) struct Report {
    filters: Vec<String>,
}

impl Report {
    pub(crate) fn new(filters: &[&str]) -> Self {
        Self { filters: filters.iter().map(|&filter| filter.to_owned()).collect() }
    }

    /// Whether any of these rows is wanted.
    pub(crate) fn wants(&self, names: &[&str]) -> bool {
        let chosen = |name: &&str| self.filters.iter().any(|filter| name.contains(filter.as_str()));
        self.filters.is_empty() || names.iter().any(|name| chosen(name))
    }

    /// One row, in nanoseconds.
    pub(crate) fn time(&mut self, name: &str, seconds: &Sample) {
        let (median, low, high) = seconds.summary();
        self.row(name, "ns", median * 1e9, low * 1e9, high * 1e9);
    }

    /// One row, in bytes.
    pub(crate) fn bytes(&mut self, name: &str, bytes: &Sample) {
        let (median, low, high) = bytes.summary();
        self.row(name, "B", median, low, high);
    }

    fn row(&mut self, name: &str, unit: &str, median: f64, low: f64, high: f64) {
        println!("row\t{name}\t{unit}\t{median}\t{low}\t{high}");
    }
}
