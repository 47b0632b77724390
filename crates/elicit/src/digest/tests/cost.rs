//! What a digest costs at most, since it is made of texts that nobody has vouched for.

use std::fmt::Write as _;

use proptest::prelude::*;

use super::super::large::cost;
use super::any_json;

const MEBIBYTE: usize = 1 << 20;

/// An object of about one mebibyte: `value` under many keys, each after `prefix`.
fn object(prefix: &str, value: &str) -> String {
    let mut text = String::from("{");
    let mut index = 0_u32;
    while text.len() < MEBIBYTE {
        // A multiplication by an odd number, so that the keys differ and come in no order.
        write!(text, "\"{prefix}{:x}\":{value},", index.wrapping_mul(0x9e37_79b1) >> 8).unwrap();
        index += 1;
    }
    text.pop();
    text + "}"
}

fn array(item: &str) -> String {
    let items = vec![item; MEBIBYTE / (item.len() + 1)];
    format!("[{}]", items.join(","))
}

fn nested(depth: usize, open: &str, close: &str) -> String {
    open.repeat(depth) + "1" + &close.repeat(depth)
}

#[test]
fn arrays_cost_no_memory() {
    for text in [array("1"), array("\"a\""), array("[]"), array("[[1]]"), array("{}")] {
        assert_eq!(cost(&text).0, 0, "{}", &text[..20]);
    }
}

/// Objects in a row share what they need.
#[test]
fn an_array_of_objects_costs_what_its_largest_costs() {
    assert!(cost(&array(r#"{"a":1,"b":"2","\u0063":null}"#)).0 <= 128);
}

/// The most that a member costs: 16 bytes, the key once more, 8 bytes for an array or object; and vectors double.
#[test]
fn no_text_costs_more_than_six_times_its_length() {
    let chain = nested(127, r#"{"":"#, "}");
    let texts = [
        object("", "1"),
        object("", "[]"),
        object("", "{}"),
        object("\\u0061", "1"),
        object("\\n", "[]"),
        object("key with a long name ", "[1,{\"a\":[]}]"),
        array(&chain),
        chain,
    ];
    for text in texts {
        let (bytes, _) = cost(&text);
        // Vectors begin with four items.
        assert!(bytes <= 6 * text.len() + 256, "{bytes} for {}: {}", text.len(), &text[..40]);
    }
}

/// Nothing is read once for each level around it: 127 levels of eight kibibytes each.
#[test]
fn depth_costs_no_time() {
    let padding = "x".repeat(8192);
    let level = format!(r#"{{"b":"{padding}","a":"#);
    let text = nested(127, &level, "}");
    let (_, walked) = cost(&text);
    assert!(walked <= 2 * text.len(), "{walked} for {}", text.len());
}

proptest! {
    /// Once to look an object over, and once to write it.
    #[test]
    fn no_byte_is_walked_over_more_than_twice(value in any_json()) {
        for text in [value.plain(), value.odd()] {
            let (_, walked) = cost(&text);
            prop_assert!(walked <= 2 * text.len(), "{walked} for {text}");
        }
    }
}
