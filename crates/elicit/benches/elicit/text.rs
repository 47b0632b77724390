//! Cleaning a server's text before it is drawn.

use std::hint::black_box;

use criterion::Criterion;
use elicit::text;

pub(crate) fn measure(criterion: &mut Criterion) {
    let sentence = "Who is the table for, and would they rather sit inside or outside? ";
    let scripts = "Für wen ist der Tisch? 桌子是给谁的？ Для кого столик? ";
    let hostile = "\u{1b}[2J\u{202e}txt.exe\u{200b}\u{7}e\u{301}\u{301}\u{301}\u{301}\u{301}\u{e0041}\t";
    let texts = [("clean 1 KiB", sentence), ("clean 1 KiB of scripts", scripts), ("clean 1 KiB of tricks", hostile)];
    let mut group = criterion.benchmark_group("text");
    for (name, part) in texts {
        let mut text = part.repeat(1024 / part.len());
        text.extend(std::iter::repeat_n('.', 1024 - text.len()));
        group.bench_function(name, |bencher| bencher.iter(|| text::clean(black_box(&text))));
    }
    group.finish();
}
