//! JSON as people never write it, as text: no value of it passes through a number or a map.

use std::fmt::Write as _;

use proptest::prelude::*;

/// Numbers that no floating-point number holds, and all the ways to write one.
fn number() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec!["1e999", "9007199254740993", "-0", "0.0", "-1E-999", "1.10", "5.0e+00"]);
    prop_oneof![3 => "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?", 1 => odd.prop_map(String::from)]
}

/// What stands between the quotes of a string: every escape, characters of every length, and what means something elsewhere.
fn characters(half: u32) -> impl Strategy<Value = String> {
    let plain = any::<char>().prop_filter("written as it is", |one| !one.is_control() && !['"', '\\'].contains(one));
    let short = vec!["\\n", "\\r", "\\t", "\\b", "\\f", "\\/", "\\\\", "\\\""];
    let code = vec!["\\u00e9", "\\ud83d\\ude00", "\\u2028", "\\u0000", "\u{2028}", "\u{feff}", "😀", "长", "\u{85}"];
    let word = vec!["data: ", "id: 1", "event: x", ": ", "elicitation/create", "input_required", "-32042"];
    let pick = |from: Vec<&'static str>| prop::sample::select(from).prop_map(String::from);
    let piece = prop_oneof![
        8 => plain.prop_map(String::from),
        4 => pick(short),
        2 => pick(code),
        2 => pick(word),
        // Half a character, which JSON allows and few readers take.
        half => pick(vec!["\\ud800", "\\uDFFF\\ud800x"]),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn string() -> impl Strategy<Value = String> {
    let long = (characters(1), 1_usize..600).prop_map(|(some, times)| some.repeat(times));
    prop_oneof![80 => characters(1), 1 => long].prop_map(|inner| format!("\"{inner}\""))
}

/// Blanks between tokens.
fn blank() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(""), 2 => Just(" "), 1 => Just("\t "), 1 => Just("\n")]
}

/// Any value.
pub fn value() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec!["null", "true", "false"]).prop_map(String::from);
    let leaf = prop_oneof![3 => number(), 3 => string(), 1 => word];
    leaf.prop_recursive(6, 40, 6, |inner| {
        let array = (prop::collection::vec(inner.clone(), 0..6), blank())
            .prop_map(|(items, blank)| format!("[{blank}{}{blank}]", items.join(&format!("{blank},"))));
        prop_oneof![array, object(inner)]
    })
}

/// Keys in any order, also such as stand twice once they are read.
fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (prop::collection::vec((string(), inner), 0..6), blank()).prop_map(|(members, blank)| {
        let members: Vec<String> = members.iter().map(|(key, value)| format!("{key}{blank}:{value}")).collect();
        format!("{{{blank}{}{blank}}}", members.join(&format!(",{blank}")))
    })
}

/// An object nested far deeper than people write.
fn deep() -> impl Strategy<Value = String> {
    (1_usize..600, value()).prop_map(|(depth, inner)| {
        let mut text = String::new();
        for level in 0..depth {
            let _ = write!(text, "{{\"{}\":[", level % 3);
        }
        text + &inner + &"]}".repeat(depth)
    })
}

/// An object of any content.
pub fn document() -> impl Strategy<Value = String> {
    prop_oneof![12 => object(value()), 1 => deep()]
}

/// An object whose known members are filled in later: what stands beside them, in which order, and with which blanks.
#[derive(Debug, Clone)]
pub struct Draft {
    others: Vec<(String, String)>,
    places: Vec<usize>,
    blank: &'static str,
}

/// Members that nobody knows, under keys that are told apart.
pub fn draft() -> impl Strategy<Value = Draft> {
    let others = prop::collection::vec((characters(0), value()), 0..4);
    (others, prop::collection::vec(0_usize..12, 12), blank()).prop_map(|(others, places, blank)| {
        let key = |(place, (key, value)): (usize, (String, String))| (format!("\"x-{place}{key}\""), value);
        Draft { others: others.into_iter().enumerate().map(key).collect(), places, blank }
    })
}

impl Draft {
    /// The object with these members too: plain keys, and values as JSON text.
    pub fn with(&self, known: &[(&str, &str)]) -> String {
        let known = known.iter().map(|(key, value)| (format!("\"{key}\""), (*value).to_owned()));
        let mut members: Vec<String> = Vec::new();
        for ((key, value), place) in known.chain(self.others.iter().cloned()).zip(&self.places) {
            members.insert(place % (members.len() + 1), format!("{key}{0}:{0}{value}", self.blank));
        }
        format!("{{{0}{1}{0}}}", self.blank, members.join(&format!("{},", self.blank)))
    }
}

/// The text without blanks between tokens.
pub fn tight(text: &str) -> String {
    let (mut inside, mut escaped) = (false, false);
    let keeps = |one: &char| {
        let kept = inside || !matches!(one, ' ' | '\t' | '\n' | '\r');
        inside ^= *one == '"' && !escaped;
        escaped = inside && *one == '\\' && !escaped;
        kept
    };
    text.chars().filter(keeps).collect()
}
