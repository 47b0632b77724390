use std::collections::BTreeSet;

use serde_json::Value;

use crate::review::{Profile, UrlReview, Verdict};

const VECTORS: &str = include_str!("../../../tests/vectors/url_vectors.json");

/// R-URL-02, R-URL-06, R-URL-07, R-URL-08, R-URL-09
#[test]
fn every_vector_is_reviewed_as_it_says() {
    let vectors: Vec<Value> = serde_json::from_str(VECTORS).unwrap();
    assert_eq!(vectors.len(), 128);
    let profile = Profile::default();
    let mut wrong = Vec::new();
    for vector in &vectors {
        let url = vector["url"].as_str().unwrap();
        let review = UrlReview::of(url, &profile);
        let found = [
            ("verdict", Some(verdict(review.verdict()))),
            ("expected_host_unicode", review.host_unicode()),
            ("expected_host_ascii", review.host_ascii()),
            ("registrable_domain", review.registrable_domain()),
            ("serialized", review.serialized()),
        ];
        for (key, found) in found {
            if vector[key].as_str() != found {
                wrong.push(format!("{url:?}: {key} is {found:?}, not {}", vector[key]));
            }
        }
        let found: BTreeSet<String> = review.findings().iter().map(ToString::to_string).collect();
        let expected: BTreeSet<String> =
            vector["reasons"].as_array().unwrap().iter().map(|reason| reason.as_str().unwrap().to_owned()).collect();
        if found != expected {
            wrong.push(format!("{url:?}: found {found:?}, not {expected:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Ok => "ok",
        Verdict::Warn => "warn",
        Verdict::Block => "block",
    }
}
