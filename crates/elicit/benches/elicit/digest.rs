//! The digest of a call, which every round of it needs.

use std::hint::black_box;

use criterion::Criterion;
use elicit::request_digest;

pub(crate) fn measure(criterion: &mut Criterion) {
    // Numbers, escapes, and keys out of order: about 1 KiB.
    let seat = r#"{"row":"\u00e9","number":12.50,"adult":true,"note":"by the window, if there is one"}"#;
    let arguments = format!(r#"{{"seats":[{}],"day":"2026-11-30","city":"Oslo"}}"#, [seat; 11].join(","));
    let params = format!(r#"{{"name":"book","arguments":{arguments}}}"#);
    assert!((960..1088).contains(&params.len()), "{} bytes", params.len());

    let mut group = criterion.benchmark_group("digest");
    group.bench_function("request 1 KiB", |bencher| {
        bencher.iter(|| request_digest("tools/call", Some(black_box(&params))).expect("a digest"));
    });
    group.finish();
}
