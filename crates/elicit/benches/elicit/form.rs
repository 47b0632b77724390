//! A form of ten fields and its answer, beside a general validator of JSON Schema.

use std::hint::black_box;

use criterion::Criterion;
use elicit::{Answer, Form};
use jsonschema::Validator;
use serde_json::Value;

const FORM: &str = include_str!("../../tests/vectors/bench_form.json");
const CONTENT: &str = include_str!("../../tests/vectors/bench_answer.json");

pub(crate) fn measure(criterion: &mut Criterion) {
    let answer_text = format!(r#"{{"action":"accept","content":{}}}"#, CONTENT.trim());
    let form = Form::parse(FORM).expect("a form");
    let answer = Answer::parse(&answer_text).expect("an answer");
    form.check(&answer).expect("the answer fits");

    let schema = json(FORM);
    let content = json(CONTENT);
    let validator = build(&schema);
    validator.validate(&content).expect("the answer fits");

    let mut group = criterion.benchmark_group("form");
    // Both from values that were parsed before.
    group.bench_function("check", |bencher| bencher.iter(|| form.check(black_box(&answer)).is_ok()));
    group.bench_function("check (jsonschema)", |bencher| bencher.iter(|| validator.is_valid(black_box(&content))));

    // Ours begins with the text of the form, theirs with its parsed value; for theirs from the text see the next.
    group.bench_function("parse + check", |bencher| {
        bencher.iter(|| Form::parse(black_box(FORM)).expect("a form").check(&answer).is_ok());
    });
    group.bench_function("build + validate (jsonschema)", |bencher| {
        bencher.iter(|| build(black_box(&schema)).is_valid(&content));
    });
    group.bench_function("parse + build + validate (jsonschema)", |bencher| {
        bencher.iter(|| build(&json(black_box(FORM))).is_valid(&content));
    });

    // The texts of form and answer, as they come from the wire.
    group.bench_function("from texts", |bencher| {
        bencher.iter(|| {
            let answer = Answer::parse(black_box(&answer_text)).expect("an answer");
            Form::parse(black_box(FORM)).expect("a form").check(&answer).is_ok()
        });
    });
    group.bench_function("from texts (jsonschema)", |bencher| {
        bencher.iter(|| {
            let answer = json(black_box(&answer_text));
            build(&json(black_box(FORM))).is_valid(&answer["content"])
        });
    });
    group.finish();
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn build(schema: &Value) -> Validator {
    jsonschema::options().should_validate_formats(true).build(schema).expect("a schema")
}
