use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use super::{Answer, Line, median};
use crate::within;

/// The longest time for one run.
const DEADLINE: Duration = Duration::from_mins(2);

/// What a run took.
#[derive(Debug)]
pub struct Run {
    /// From the first request to the last answer.
    pub elapsed: Duration,
    /// The median time of one call.
    pub typical: Duration,
}

/// Makes `calls` calls over `clients` connections, each with the request that `make` returns for its number and with an
/// answer that `good` likes. Panics at the first that it does not.
pub async fn drive<M, G>(address: SocketAddr, clients: usize, calls: usize, make: M, good: G) -> Run
where
    M: Fn(usize) -> Vec<u8> + Send + Sync + 'static,
    G: Fn(usize, &Answer) -> bool + Send + Sync + 'static,
{
    let shared = Arc::new((AtomicUsize::new(0), make, good));
    let mut tasks = JoinSet::new();
    let mut lines = Vec::new();
    for _ in 0..clients {
        lines.push(Line::open(address).await.expect("a connection"));
    }
    let start = Instant::now();
    for mut line in lines {
        let shared = Arc::clone(&shared);
        tasks.spawn(async move {
            let (next, make, good) = &*shared;
            let mut times = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= calls {
                    return times;
                }
                let request = make(number);
                let begun = Instant::now();
                let answer = line.call(&request).await.expect("an answer");
                times.push(begun.elapsed().as_secs_f64());
                assert!(good(number, &answer), "call {number}: {} {}", answer.head, answer.text());
            }
        });
    }
    let times = within(DEADLINE, "the load did not end", tasks.join_all()).await;
    let elapsed = start.elapsed();
    let mut times = times.concat();
    times.sort_by(f64::total_cmp);
    Run { elapsed, typical: Duration::from_secs_f64(median(&times)) }
}
