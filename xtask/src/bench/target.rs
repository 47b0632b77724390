//! How fast each has to be.

use super::estimates::Measured;

/// What a benchmark's median is held against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    /// Less than so many nanoseconds.
    Below(f64),
    /// At most so many bytes more than another one of the same run.
    More {
        /// The name of the other one.
        other: &'static str,
        /// The largest difference that holds, in bytes.
        at_most: f64,
    },
    /// At most so many times another benchmark of the same run; without a number it is only compared.
    Times {
        /// The name of the other one.
        other: &'static str,
        /// The highest ratio that holds.
        at_most: Option<f64>,
    },
}

const MICROSECOND: f64 = 1_000.0;
const MILLISECOND: f64 = 1_000.0 * MICROSECOND;
const KIB: f64 = 1024.0;

/// Every target, and every comparison. What is not in the list is measured and not judged.
const TARGETS: &[(&str, Limit)] = &[
    ("form/check", Limit::Times { other: "form/check (jsonschema)", at_most: Some(1.0) }),
    ("form/parse + check", Limit::Times { other: "form/build + validate (jsonschema)", at_most: Some(0.25) }),
    ("form/from texts", Limit::Times { other: "form/from texts (jsonschema)", at_most: None }),
    ("review/ordinary", Limit::Below(5.0 * MICROSECOND)),
    ("state/seal + open 1 KiB", Limit::Below(5.0 * MICROSECOND)),
    ("text/clean 1 KiB", Limit::Below(MICROSECOND)),
    ("service/call, modern", Limit::Times { other: "service/call, modern (proxy)", at_most: Some(1.5) }),
    ("service/call, legacy", Limit::Times { other: "service/call, legacy (proxy)", at_most: Some(1.5) }),
    ("service/call, modern, credential", Limit::Times { other: "service/call, modern (proxy)", at_most: Some(1.5) }),
    ("service/call, legacy, credential", Limit::Times { other: "service/call, legacy (proxy)", at_most: Some(1.5) }),
    ("service/call, modern, account", Limit::Times { other: "service/call, modern (proxy)", at_most: Some(1.5) }),
    ("service/call, legacy, account", Limit::Times { other: "service/call, legacy (proxy)", at_most: Some(1.5) }),
    ("service/grant from memory", Limit::Below(20.0 * MICROSECOND)),
    ("service/call, modern p50", Limit::Times { other: "service/call, modern (proxy) p50", at_most: None }),
    ("service/call, legacy p50", Limit::Times { other: "service/call, legacy (proxy) p50", at_most: None }),
    ("service/round", Limit::Times { other: "service/round (by hand, with its commit)", at_most: None }),
    ("service/round beside its commit", Limit::Times { other: "service/round (by hand)", at_most: Some(3.0) }),
    ("service/token check from memory", Limit::Below(20.0 * MICROSECOND)),
    ("service/page, portal p50", Limit::Below(2.0 * MILLISECOND)),
    ("service/page, question p50", Limit::Below(2.0 * MILLISECOND)),
    ("service/start to first answer", Limit::Below(100.0 * MILLISECOND)),
    (
        "service/waiting, modern, memory",
        Limit::More { other: "service/waiting (open stream of axum)", at_most: 4.0 * KIB },
    ),
    (
        "service/waiting, legacy, memory",
        Limit::More { other: "service/waiting (open stream of axum)", at_most: 4.0 * KIB },
    ),
    (
        "service/waiting, modern, wake",
        Limit::Times { other: "service/waiting, modern, wake of few", at_most: Some(1.5) },
    ),
    (
        "service/waiting, legacy, wake",
        Limit::Times { other: "service/waiting, legacy, wake of few", at_most: Some(1.5) },
    ),
];

/// Whether a target is met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// There is no number to meet.
    Compared,
    Holds,
    /// The median is over the limit, and the confidence interval is not.
    Noise,
    Misses,
    /// It did not run, or what it is compared with did not.
    NotMeasured,
}

impl Verdict {
    /// Whether `--check` fails.
    pub(super) fn fails(self) -> bool {
        matches!(self, Self::Misses | Self::NotMeasured)
    }

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Compared => "",
            Self::Holds => "holds",
            Self::Noise => "misses its target, within noise",
            Self::Misses => "**misses its target**",
            Self::NotMeasured => "not measured",
        }
    }
}

/// A target, and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Judged {
    pub(super) name: &'static str,
    pub(super) limit: Limit,
    /// How many times the other one, where there is another one.
    pub(super) ratio: Option<f64>,
    pub(super) verdict: Verdict,
}

impl Judged {
    /// One line for the terminal.
    pub(super) fn show(&self) -> String {
        format!("{}: {}", self.name, self.verdict.as_str().replace('*', ""))
    }
}

/// Judges what was measured; a target that was not measured is named too where `whole` says so.
pub(super) fn judge(measured: &[Measured], whole: impl Fn(&str) -> bool) -> Vec<Judged> {
    judge_by(TARGETS, measured, whole)
}

fn judge_by(targets: &[(&'static str, Limit)], measured: &[Measured], whole: impl Fn(&str) -> bool) -> Vec<Judged> {
    let find = |name: &str| measured.iter().find(|measured| measured.name == name);
    let judged = targets.iter().map(|&(name, limit)| {
        let (ratio, verdict) = match (limit, find(name)) {
            (Limit::Below(limit), Some(own)) => (None, verdict(own.median < limit, own.low < limit)),
            (Limit::Times { other, at_most }, Some(own)) => match (find(other), at_most) {
                (None, _) => (None, Verdict::NotMeasured),
                (Some(other), None) => (Some(own.median / other.median), Verdict::Compared),
                (Some(other), Some(limit)) => {
                    let ratio = own.median / other.median;
                    (Some(ratio), verdict(ratio <= limit, own.low / other.high <= limit))
                }
            },
            (Limit::More { other, at_most }, Some(own)) => match find(other) {
                None => (None, Verdict::NotMeasured),
                Some(other) => {
                    let holds = |own: f64, other: f64| own - other <= at_most;
                    (
                        Some(own.median / other.median),
                        verdict(holds(own.median, other.median), holds(own.low, other.high)),
                    )
                }
            },
            (_, None) => (None, Verdict::NotMeasured),
        };
        Judged { name, limit, ratio, verdict }
    });
    judged.filter(|judged| whole(judged.name) || judged.verdict != Verdict::NotMeasured).collect()
}

fn verdict(median_holds: bool, may_hold: bool) -> Verdict {
    match (median_holds, may_hold) {
        (true, _) => Verdict::Holds,
        (false, true) => Verdict::Noise,
        (false, false) => Verdict::Misses,
    }
}

#[cfg(test)]
mod tests {
    use super::super::estimates::Unit;
    use super::*;

    fn measured(name: &str, low: f64, median: f64, high: f64) -> Measured {
        Measured { name: name.to_owned(), unit: Unit::Nanoseconds, median, low, high }
    }

    fn verdicts(limit: Limit, measured: &[Measured]) -> Vec<Verdict> {
        judge_by(&[("own", limit)], measured, |_| true).iter().map(|judged| judged.verdict).collect()
    }

    #[test]
    fn a_time_holds_below_its_limit_and_misses_beyond_noise() {
        let limit = Limit::Below(100.0);
        assert_eq!(verdicts(limit, &[measured("own", 98.0, 99.0, 101.0)]), [Verdict::Holds]);
        assert_eq!(verdicts(limit, &[measured("own", 99.0, 100.0, 102.0)]), [Verdict::Noise]);
        assert_eq!(verdicts(limit, &[measured("own", 101.0, 102.0, 103.0)]), [Verdict::Misses]);
        assert_eq!(verdicts(limit, &[]), [Verdict::NotMeasured]);
    }

    #[test]
    fn a_ratio_is_of_two_medians_and_its_noise_of_both() {
        let limit = Limit::Times { other: "other", at_most: Some(1.0) };
        let other = measured("other", 95.0, 100.0, 105.0);
        assert_eq!(verdicts(limit, &[measured("own", 99.0, 100.0, 101.0), other.clone()]), [Verdict::Holds]);
        assert_eq!(verdicts(limit, &[measured("own", 104.0, 106.0, 107.0), other.clone()]), [Verdict::Noise]);
        assert_eq!(verdicts(limit, &[measured("own", 106.0, 107.0, 108.0), other]), [Verdict::Misses]);
        assert_eq!(verdicts(limit, &[measured("own", 1.0, 1.0, 1.0)]), [Verdict::NotMeasured]);
    }

    #[test]
    fn memory_holds_by_what_it_takes_more() {
        let limit = Limit::More { other: "other", at_most: 10.0 };
        let other = measured("other", 20.0, 20.0, 20.0);
        assert_eq!(verdicts(limit, &[measured("own", 30.0, 30.0, 30.0), other.clone()]), [Verdict::Holds]);
        assert_eq!(verdicts(limit, &[measured("own", 31.0, 31.0, 31.0), other]), [Verdict::Misses]);
        assert_eq!(verdicts(limit, &[measured("own", 1.0, 1.0, 1.0)]), [Verdict::NotMeasured]);
    }

    #[test]
    fn a_comparison_without_a_number_is_no_target() {
        let limit = Limit::Times { other: "other", at_most: None };
        let both = [measured("own", 9.0, 9.0, 9.0), measured("other", 3.0, 3.0, 3.0)];
        let judged = judge_by(&[("own", limit)], &both, |_| true);
        assert_eq!(judged, [Judged { name: "own", limit, ratio: Some(3.0), verdict: Verdict::Compared }]);
    }

    #[test]
    fn a_filtered_run_is_judged_by_what_ran() {
        assert_eq!(judge_by(&[("own", Limit::Below(1.0))], &[], |_| false), []);
        assert!(Verdict::NotMeasured.fails() && Verdict::Misses.fails());
        assert!(!Verdict::Noise.fails() && !Verdict::Holds.fails() && !Verdict::Compared.fails());
    }

    #[test]
    fn no_name_has_two_targets() {
        for (index, (name, _)) in TARGETS.iter().enumerate() {
            assert!(TARGETS[index + 1..].iter().all(|(other, _)| other != name), "{name}");
        }
    }
}
