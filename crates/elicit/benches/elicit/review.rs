//! Reviewing a URL before a person sees it.

use std::hint::black_box;

use criterion::Criterion;
use elicit::review::{Profile, UrlReview};

pub(crate) fn measure(criterion: &mut Criterion) {
    let profile = Profile::default();
    let long = format!("https://auth.example.com/connect?state={}", "a1b2c3d4".repeat(230));
    let urls = [
        ("ordinary", "https://auth.example.com/mcp/elicit/550e8400-e29b-41d4-a716-446655440000"),
        ("lookalike", "https://p\u{430}ypal.com/signin?redirect_uri=https%3A%2F%2Fexample.net"),
        ("address", "https://0x7f.1:8443/"),
        ("2 KB", &long),
    ];
    let mut group = criterion.benchmark_group("review");
    for (name, url) in urls {
        group.bench_function(name, |bencher| bencher.iter(|| UrlReview::of(black_box(url), &profile)));
    }
    group.finish();
}
