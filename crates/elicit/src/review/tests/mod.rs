mod addresses;
mod cost;
mod lookalikes;
mod names;
mod profiles;
mod properties;
mod raw;
mod reasons;
mod scripts;
mod shown;
mod tails;
mod unparseable;
mod vectors;

use super::{Profile, UrlReview, Verdict};

/// Each row is a URL, and its verdict with the findings in their order.
fn check(table: &[(&str, &str)]) {
    let profile = Profile::default();
    let wrong = table.iter().filter_map(|(url, expected)| {
        let found = summary(&UrlReview::of(url, &profile));
        (found != *expected).then(|| format!("{url:?}: {found}, not {expected}"))
    });
    let wrong: Vec<_> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The verdict, and the names of the findings.
fn summary(review: &UrlReview) -> String {
    let verdict = match review.verdict() {
        Verdict::Ok => "ok",
        Verdict::Warn => "warn",
        Verdict::Block => "block",
    };
    let names = review.findings().iter().map(ToString::to_string);
    std::iter::once(verdict.to_owned()).chain(names).collect::<Vec<_>>().join(" ")
}
