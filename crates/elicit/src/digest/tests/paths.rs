//! Small texts are written at once, the others piece by piece, and nobody can tell which it was.

use super::super::large::Large;
use super::super::small::{MAX_BYTES, MAX_DEPTH, cost, write};
use super::super::stream::ROOM;
use super::*;

/// [`Digest::of_json`] of a text of any length, piece by piece.
pub(super) fn streamed(raw: &str) -> Result<Digest, DigestError> {
    if !json::is_valid(raw) {
        return Err(DigestError::NotJson);
    }
    let mut stream = Stream::new("elicit json 2\0");
    Large::at(raw, 0)?.write(&mut stream)?;
    Ok(stream.finish())
}

fn nested(depth: usize) -> String {
    r#"{"b":1,"a":"#.repeat(depth) + "[]" + &"}".repeat(depth)
}

/// A text of `length` bytes whose keys stand in no order.
fn of_length(length: usize) -> String {
    let text = r#"{"b":[1,{"d":"x","c":2.50}],"a":""#;
    format!(r#"{text}{}"}}"#, "y".repeat(length - text.len() - 2))
}

#[test]
fn on_either_side_of_what_is_small_a_text_has_the_digest_of_the_model() {
    let texts = [
        (of_length(MAX_BYTES), true),
        (of_length(MAX_BYTES + 1), false),
        (nested(MAX_DEPTH - 1), true),
        (nested(MAX_DEPTH), false),
    ];
    for (text, small) in texts {
        assert_eq!(write(&text, 0).is_some(), small, "{}", text.len());
        assert_eq!(Digest::of_json(&text), model::of_json(&text), "{}", text.len());
        assert_eq!(streamed(&text), model::of_json(&text), "{}", text.len());
    }
}

/// A small parameter of a long request, and the other way round.
#[test]
fn a_request_has_one_digest_however_long_the_rest_of_it_is() {
    let arguments = r#"{"b":{"d":"\u00e9","c":2},"a":[true,{}]}"#;
    let short = request_digest("tools/call", Some(&format!(r#"{{"name":"x","arguments":{arguments}}}"#)));
    let long = format!(r#"{{"arguments":{arguments},"_meta":"{}","name":"x"}}"#, "y".repeat(MAX_BYTES));
    assert!(short.is_ok());
    assert_eq!(request_digest("tools/call", Some(&long)), short);
}

/// How the pieces fall on the room that they are kept in does not matter.
#[test]
fn a_piece_may_end_anywhere_in_the_room() {
    let piece = |length: usize| format!(r#"[1,"{}",[2],{{"b":3,"a":"z"}},4]"#, "x".repeat(length));
    for length in (ROOM - 100..ROOM + 50).chain([2 * ROOM, 5 * ROOM]) {
        assert_eq!(streamed(&piece(length)), model::of_json(&piece(length)), "{length}");
    }
}

/// Keys are compared by their first eight bytes before all else.
#[test]
fn keys_alike_at_the_beginning_are_put_in_order() {
    let keys =
        ["", "\\u0000", "a", "a\\u0000", "abcdefgh", "abcdefg", "abcdefghi", "abcdefgh\\u0000", "\u{ff}", "\u{10000}"];
    let object = |keys: &[&str]| {
        let members: Vec<String> = keys.iter().map(|key| format!(r#""{key}":[{}]"#, key.len())).collect();
        format!("{{{}}}", members.join(","))
    };
    for turn in 0..keys.len() {
        let mut turned = keys;
        turned.rotate_left(turn);
        assert!(write(&object(&turned), 0).is_some());
        assert_eq!(Digest::of_json(&object(&turned)), model::of_json(&object(&keys)));
    }
}

#[test]
fn a_small_text_costs_at_most_thirty_times_its_limit() {
    let many = |member: &dyn Fn(usize) -> String| {
        let mut text = String::from("{");
        let mut index = 0;
        while text.len() < MAX_BYTES - 40 {
            text += &member(index);
            index += 1;
        }
        text.pop();
        text + "}"
    };
    let texts = [
        many(&|index| format!("\"{:x}\":1,", index ^ 1)),
        many(&|index| format!("\"{:x}\":\"\",", index ^ 1)),
        many(&|index| format!("\"{index}\":{{\"b\":\"\",\"a\":\"\"}},")),
        format!(r#"{{"b":[{}1],"a":1}}"#, r#""","#.repeat(MAX_BYTES / 3 - 10)),
    ];
    for text in texts {
        assert!(text.len() <= MAX_BYTES);
        let bytes = cost(&text).unwrap();
        assert!(bytes <= 30 * MAX_BYTES, "{bytes} for {}", &text[..40]);
    }
}
