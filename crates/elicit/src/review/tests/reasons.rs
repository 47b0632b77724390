use std::collections::BTreeSet;

use insta::assert_snapshot;

use crate::review::reason::ROWS;
use crate::review::{Profile, Reason, UrlReview, Verdict};

#[test]
fn every_reason_has_a_name_of_its_own() {
    let names: BTreeSet<&str> = ROWS.iter().map(|(name, ..)| *name).collect();
    // `digit_lookalike` stands with and without a domain.
    assert_eq!(names.len(), ROWS.len() - 1);
    assert!(names.iter().all(|name| name.bytes().all(|b| b == b'_' || b.is_ascii_lowercase() || b.is_ascii_digit())));
    let count = |verdict| ROWS.iter().filter(|(_, found, _)| *found == verdict).count();
    assert_eq!((count(Verdict::Block), count(Verdict::Warn), count(Verdict::Ok)), (33, 36, 2));
}

/// R-URL-08
#[test]
fn every_reason_is_explained_in_one_short_sentence() {
    for (name, _, message) in ROWS {
        let one_sentence = message.ends_with('.') && !message.contains(". ") && !message.contains('\n');
        assert!(one_sentence && message.len() <= 120, "{name}: {} {message}", message.len());
    }
}

/// R-URL-08
#[test]
fn a_finding_tells_a_person_what_to_do() {
    let review = UrlReview::of("https://paypa1.com:22/", &Profile::default());
    let told: Vec<_> = review
        .findings()
        .iter()
        .map(|finding| format!("{finding} ({}, {:?}): {}", finding.name(), finding.verdict(), finding.message()))
        .collect();
    assert_snapshot!(told.join("\n"), @r"
    skeleton_match:paypal.com (skeleton_match, Warn): The host looks like paypal.com but is another one; go to paypal.com yourself if that is where you want to be.
    non_default_port (non_default_port, Warn): The link names an unusual port; open it only if you expect that of this host.
    suspicious_port (suspicious_port, Warn): The port belongs to another service than the web; better do not open the link.
    ");
    assert_eq!(review.findings()[0].reason().data(), Some("paypal.com"));
    assert_eq!(Reason::Userinfo.data(), None);
}
