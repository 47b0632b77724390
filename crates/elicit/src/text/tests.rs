use std::collections::HashSet;
use std::sync::LazyLock;

use proptest::prelude::*;
use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::character::{Kind, is_hidden, is_in_inversion_list, kind};
use super::hostile::{LINES, TEXTS};
use super::pictographs::PICTOGRAPHS;
use super::*;

const SMALL: Limits = Limits { characters: 64, lines: 4, line: 40 };

/// R-SEC-02, R-FORM-09: hostile text is made visible, and legitimate text is left alone.
#[test]
fn each_text_becomes_what_its_entry_says() {
    for (name, text, expected) in TEXTS {
        assert_eq!(clean(text), *expected, "{name}");
        assert_eq!(clean(expected), *expected, "{name}, once more");
        assert_eq!(matches!(clean(text), Cow::Borrowed(_)), text == expected, "{name}");
    }
}

/// R-SEC-02: a name cannot become two lines, nor pad itself.
#[test]
fn each_line_becomes_what_its_entry_says() {
    for (name, text, expected) in LINES {
        assert_eq!(line(text, 12), *expected, "{name}");
        assert_eq!(line(expected, 12), *expected, "{name}, once more");
        assert_eq!(matches!(line(text, 12), Cow::Borrowed(_)), text == expected, "{name}");
    }
}

/// R-SEC-02: what is left out is counted.
#[test]
fn long_texts_are_cut_where_it_shows() {
    let cut = |text: &str| clean_with(text, &SMALL).into_owned();
    insta::assert_snapshot!(cut(&"a".repeat(41)), @"aaaaaaaaaaaaaaaa…‹+25›");
    insta::assert_snapshot!(cut(&format!("{}\nb", "a".repeat(50))), @r"
    aaaaaaaaaaaaaaaa…‹+34›
    b
    ");
    insta::assert_snapshot!(cut("1\n2\n3\n4\n5\n6"), @r"
    1
    2
    3
    4…‹+4›
    ");
    insta::assert_snapshot!(cut(&"123456789\n".repeat(3)), @r"
    123456789
    123456789
    123456789
    ");
    insta::assert_snapshot!(cut(&"a234567890123456789 1234567890\n".repeat(3)), @r"
    a234567890123456789 1234567890
    a23456789…‹+53›
    ");
    insta::assert_snapshot!(cut(&"\x1b".repeat(100)), @"‹U+001B›‹U+001B›…‹+98›");
    insta::assert_snapshot!(cut(&format!("a{}b", "\u{301}".repeat(100))), @"á\u{301}\u{301}\u{301}\u{301}‹+95›b");
    insta::assert_snapshot!(cut(&"é".repeat(1_000_000)), @"éééééééééééééééé…‹+999984›");
    // Within the default limits nothing of this is cut.
    for text in ["a".repeat(2_048), "a\n".repeat(199), "a\n".repeat(2_048).split_off(4_000)] {
        assert_eq!(clean(&text), text);
    }
    assert!(clean(&"a".repeat(2_049)).ends_with("…‹+25›"));
    assert!(clean(&"a\n".repeat(200)).ends_with("a…‹+1›"));
}

/// Limits too small for a notice are widened, not obeyed to the letter.
#[test]
fn no_limit_is_too_small() {
    let none = Limits { characters: 0, lines: 0, line: 0 };
    assert_eq!(clean_with("short", &none), "short");
    assert_eq!(clean_with("a\nb", &none), "a…‹+2›");
    assert_eq!(clean_with(&"a".repeat(33), &none), "aaaaaaaa…‹+25›");
    assert_eq!(line("ab", 0), "…");
    assert_eq!(line("a", 0), "a");
    assert_eq!(line("", 0), "");
    let all = Limits { characters: usize::MAX, lines: usize::MAX, line: usize::MAX };
    assert_eq!(clean_with("a\tb", &all), "a   b");
    assert_eq!(line("a\tb", usize::MAX), "a b");
}

/// R-SEC-02: a quarter of a million of anything is cut early.
#[test]
fn huge_texts_end_soon() {
    for part in
        ["\u{301}", "\u{315}\u{316}", "\x1b", "\u{200d}", "\u{1161}", "👩\u{200d}", "\n", "\t", " ", "\u{e0041}", "a"]
    {
        let text = part.repeat(1 << 18);
        assert!(clean(&text).chars().count() <= 4_096, "{part:?}");
        assert!(line(&text, 80).chars().count() <= 80, "{part:?}");
    }
}

/// Whether a code point may differ from its neighbours: of planes with nothing in them, and of those for private use,
/// only the ends do.
fn is_telling(code: u32) -> bool {
    let (plane, within) = (code >> 16, code & 0xFFFF);
    let blank = matches!(plane, 4..=13 | 15..) || (plane == 14 && within >= 0x2000);
    !(blank || (0xE100..0xF800).contains(&code)) || !(0x80..0xFF80).contains(&within)
}

/// The tables against the data of the regex crate (Unicode 16).
#[test]
fn the_tables_are_those_of_unicode() {
    let all: String = ('\0'..=char::MAX).filter(|character| is_telling(u32::from(*character))).collect();
    let set = |pattern: &str| -> HashSet<char> {
        let runs = Regex::new(&format!("{pattern}+")).unwrap();
        runs.find_iter(&all).flat_map(|run| run.as_str().chars()).collect()
    };
    let hidden = set(concat!(
        r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}\p{Bidi_Control}",
        r"\p{Noncharacter_Code_Point}\u{FFFC}\u{16FE4}\u{1D159}]--\p{Prepended_Concatenation_Mark}]",
    ));
    let (room, spacing, mark) = (set(r"[\p{Zs}\u{2800}]"), set(r"\p{Mc}"), set(r"\p{M}"));
    let pictograph = set(r"\p{Extended_Pictographic}");
    for character in all.chars() {
        let code = u32::from(character);
        assert_eq!(is_hidden(character), hidden.contains(&character), "U+{code:04X}");
        assert_eq!(kind(character) == Kind::Space || character == ' ', room.contains(&character), "U+{code:04X}");
        assert_eq!(is_in_inversion_list(&PICTOGRAPHS, character), pictograph.contains(&character), "U+{code:04X}");
        if mark.contains(&character) {
            assert!(is_combining_mark(character), "U+{code:04X}");
            assert_eq!(kind(character) == Kind::Spacing, spacing.contains(&character), "U+{code:04X}");
        }
    }
}

/// What a cleaned text must not hold, told without the code under test: characters that no glyph stands for; joiners,
/// selectors and marks with nothing to hold on to; piles of marks.
static UNCLEAN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"[[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}\u{FFFC}]--",
        r"[\n\u{200C}\u{200D}\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}\u{180B}-\u{180F}\p{Prepended_Concatenation_Mark}]]",
        r"|(?:^|[\n\x20-~‹›\u{200C}\u{200D}])[\u{200C}\u{200D}\u{FE00}-\u{FE0E}\u{E0100}-\u{E01EF}\u{180B}-\u{180F}]",
        r"|(?:^|\n)\p{M}",
        r"|[\p{Mn}\p{Me}--[\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}\u{180B}-\u{180F}]]{5}",
    ))
    .unwrap()
});

/// The tags of the flags of England, Scotland and Wales.
static FLAGS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r"🏴\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})",
        r"\u{E007F}",
    ))
    .unwrap()
});

fn is_clean(text: &str) -> bool {
    !UNCLEAN.is_match(&FLAGS.replace_all(text, "🏴"))
}

/// Characters that are likely to meet each other in interesting ways.
fn text() -> impl Strategy<Value = String> {
    let picked = prop::sample::select(
        "ab1#* \t\r\n‹›…+◌é\u{0}\u{1b}\u{7f}\u{9b}\u{ad}\u{300}\u{301}\u{316}\u{327}\u{338}\u{34f}\u{20e3}\u{e47}\u{e48}\
         ابه\u{64b}\u{651}\u{61c}क्षा\u{93c}\u{94d}\u{9c7}\u{9be}\u{9cd}র\u{1100}\u{1161}\u{11a8}가\u{1160}\u{180b}\u{180e}ᠮ\
         \u{200b}\u{200c}\u{200c}\u{200d}\u{200d}\u{200d}\u{200e}\u{202e}\u{2028}\u{2066}\u{2800}\u{3000}\u{a0}葛\u{f900}\
         \u{fe00}\u{fe0e}\u{fe0f}\u{e0100}\u{feff}\u{fffc}\u{e000}\u{10ffff}❤👩🏽🚀🏴🇩\u{e0067}\u{e0062}\u{e007f}\u{1611e}\u{1611f}\u{16d67}"
            .chars()
            .collect::<Vec<_>>(),
    );
    let piece = prop_oneof![
        8 => picked.prop_map(String::from),
        1 => any::<char>().prop_map(String::from),
        1 => prop::sample::select(TEXTS).prop_map(|(_, text, _)| text.to_owned()),
        1 => ("[a-z ]{1,12}", 1_usize..4).prop_map(|(part, times)| part.repeat(times)),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

fn limits() -> impl Strategy<Value = Limits> {
    (0_usize..200, 0_usize..8, 0_usize..80).prop_map(|(characters, lines, line)| Limits { characters, lines, line })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    /// R-SEC-02: whatever comes in, what comes out is clean, bounded, in NFC, and stays as it is.
    #[test]
    fn what_comes_out_is_clean_and_bounded(text in text(), limits in limits()) {
        for (limits, once) in [(Limits::default(), clean(&text)), (limits, clean_with(&text, &limits))] {
            prop_assert!(is_clean(&once), "{once:?}");
            prop_assert_eq!(&clean_with(&once, &limits), &once);
            prop_assert_eq!(once.nfc().collect::<String>(), &*once);
            prop_assert!(once.chars().count() <= limits.characters.max(32));
            prop_assert!(once.split('\n').count() <= limits.lines.max(1));
            prop_assert!(once.split('\n').all(|line| line.chars().count() <= limits.line.max(32)));
        }
    }

    /// R-SEC-02: the same of one line.
    #[test]
    fn a_line_is_clean_bounded_and_one(text in text(), longest in 0_usize..50) {
        let once = line(&text, longest);
        prop_assert!(is_clean(&once), "{once:?}");
        prop_assert_eq!(&line(&once, longest), &once);
        prop_assert_eq!(&clean(&once), &once);
        prop_assert_eq!(once.nfc().collect::<String>(), &*once);
        prop_assert!(once.chars().count() <= longest.max(1));
        prop_assert!(!once.contains('\n') && !once.contains("  ") && once.trim() == once);
    }

    /// The form of Unicode that a text came in makes no difference.
    #[test]
    fn equivalent_texts_become_the_same(text in text()) {
        let decomposed: String = text.nfd().collect();
        prop_assert_eq!(clean(&decomposed), clean(&text));
    }

    /// Printable text in NFC is not copied.
    #[test]
    fn printable_text_is_borrowed(text in r"[ -~\p{L}\p{N}\p{P}\p{S}\n]{0,150}") {
        let text: String = text.nfc().filter(|character| kind(*character) == Kind::Plain || *character == '\n').collect();
        prop_assume!(text.nfc().eq(text.chars()));
        prop_assert!(matches!(clean(&text), Cow::Borrowed(same) if same == text));
        let one: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        prop_assert!(matches!(line(&one, 150), Cow::Borrowed(same) if same == one));
    }

    /// R-FORM-08: links are parts of the text, in order; an address among other things is found.
    #[test]
    fn links_are_parts_of_the_text(text in text(), before in "[a-z .,(]{0,9}", after in "[ \n<>].{0,9}") {
        prop_assert!(links(&text).all(|link| !link.is_empty() && text.contains(link)));
        let text = format!("{before} https://example.com/x{after}");
        prop_assert!(links(&text).any(|link| link == "https://example.com/x"));
    }
}
