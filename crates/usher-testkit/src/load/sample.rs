/// One number, measured several times.
#[derive(Clone, Debug, Default)]
pub struct Sample(Vec<f64>);

impl Sample {
    /// Adds a measurement.
    pub fn add(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The median, the least and the largest: of six or more, the true median lies between these with over 95 %.
    pub fn summary(&self) -> (f64, f64, f64) {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        (median(&sorted), *sorted.first().unwrap_or(&f64::NAN), *sorted.last().unwrap_or(&f64::NAN))
    }

    /// What was measured.
    pub fn values(&self) -> &[f64] {
        &self.0
    }
}

/// The median of what is sorted.
pub fn median(sorted: &[f64]) -> f64 {
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        length if length % 2 == 1 => sorted[half],
        _ => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}
