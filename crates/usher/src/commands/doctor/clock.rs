//! Whether the clock of this machine agrees with others: tokens, links and leases depend on it.

use jiff::{SignedDuration, Timestamp};

use super::finding::Finding;

/// More than a clock that is kept should be off.
const MOST: SignedDuration = SignedDuration::from_secs(30);

/// What somebody else's clock said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Sample {
    /// Whose clock it is.
    pub(super) of: String,
    /// How far it is ahead of ours.
    pub(super) ahead: SignedDuration,
}

impl Sample {
    /// A clock that said `theirs` between `before` and `after` by ours. What passed in between counts in our favour.
    pub(super) fn new(of: impl Into<String>, theirs: Timestamp, before: Timestamp, after: Timestamp) -> Self {
        let ahead = if theirs > after {
            theirs.duration_since(after)
        } else if theirs < before {
            theirs.duration_since(before)
        } else {
            SignedDuration::ZERO
        };
        Self { of: of.into(), ahead }
    }
}

pub(super) fn finding(samples: &[Sample]) -> Finding {
    let off: Vec<_> = samples
        .iter()
        .filter(|sample| sample.ahead.abs() > MOST)
        .map(|sample| {
            let direction = if sample.ahead.is_negative() { "behind" } else { "ahead of" };
            format!("{} is {} s {direction} this machine", sample.of, sample.ahead.abs().as_secs())
        })
        .collect();
    if !off.is_empty() {
        return Finding::warning("clock", off.join(", "), "set the clock that is wrong by NTP");
    }
    match samples {
        [] => Finding::ok("clock", "nobody's answer told the time, to compare with"),
        samples => {
            let names: Vec<_> = samples.iter().map(|sample| sample.of.as_str()).collect();
            Finding::ok("clock", format!("within {} s of {}", MOST.as_secs(), names.join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::finding::Verdict;

    #[test]
    fn a_clock_that_is_off_is_told_with_its_direction() {
        let at = |seconds| Timestamp::from_second(seconds).unwrap();
        let sample = |theirs| Sample::new("weather", at(theirs), at(1000), at(1010));
        for (theirs, found) in [
            (1005, "within 30 s of weather"),
            (970, "within 30 s of weather"),
            (1040, "within 30 s of weather"),
            (969, "weather is 31 s behind this machine"),
            (1041, "weather is 31 s ahead of this machine"),
        ] {
            let finding = finding(&[sample(theirs)]);
            assert_eq!(finding.found, found);
            assert_eq!(finding.verdict == Verdict::Warning, found.contains("machine"), "{found}");
        }
        assert_eq!(finding(&[]).verdict, Verdict::Ok);
    }
}
