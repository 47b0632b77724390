//! Sealing and opening the state of a round.

use std::hint::black_box;

use criterion::Criterion;
use elicit::{Binding, ClientId, Principal, StateKey, StateKeys, SystemRandom, UserId, request_digest};

const NOW: u64 = 1_800_000_000;

pub(crate) fn measure(criterion: &mut Criterion) {
    let keys = StateKeys::new(StateKey::new("2026-11", [7; 32])).with(StateKey::new("2026-10", [6; 32]));
    let binding = Binding {
        principal: Principal {
            user: UserId::new("https://id.example.com", "7f3a0c52").expect("a user"),
            client: ClientId::new("editor").expect("a client"),
        },
        upstream: "weather".to_owned(),
        method: "tools/call".to_owned(),
        digest: request_digest("tools/call", Some(r#"{"name":"forecast"}"#)).expect("a digest"),
    };
    let payload = vec![0x5a; 1024];
    let seal = |payload: &[u8]| keys.seal(&binding, payload, NOW + 900, &SystemRandom).expect("it fits");
    let sealed = seal(&payload);

    let mut group = criterion.benchmark_group("state");
    group.bench_function("seal + open 1 KiB", |bencher| {
        bencher.iter(|| keys.open(&seal(black_box(&payload)), &binding, NOW).expect("it opens"));
    });
    group.bench_function("seal 1 KiB", |bencher| bencher.iter(|| seal(black_box(&payload))));
    group.bench_function("open 1 KiB", |bencher| {
        bencher.iter(|| keys.open(black_box(&sealed), &binding, NOW).expect("it opens"));
    });
    group.finish();
}
