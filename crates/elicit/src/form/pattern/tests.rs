mod ecma;

use proptest::prelude::*;

use super::*;

fn parse(text: &str) -> Pattern {
    Pattern::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn fault(text: &str) -> PatternFault {
    Pattern::parse(text).map(|_| text).unwrap_err().fault
}

/// R-FORM-06: the same verdict as an engine of ECMA-262 with the flag `u`.
#[test]
fn patterns_match_as_they_do_in_a_browser() {
    for (pattern, value, matches) in ecma::STRICT {
        assert_eq!(parse(pattern).matches(value), Some(*matches), "{pattern} on {value:?}");
    }
}

/// R-FORM-06: what the flag forbids, and a browser takes without it.
#[test]
fn harmless_escapes_and_lone_brackets_mean_themselves() {
    for (pattern, value, matches) in ecma::LENIENT {
        assert_eq!(parse(pattern).matches(value), Some(*matches), "{pattern} on {value:?}");
    }
}

/// Newer than the engines of the tables above: names in two alternatives, and modifiers
/// (ECMA-262, edition of 2025).
#[test]
fn syntax_of_2025_is_known() {
    let table = [
        ("^(?:(?<n>a)|(?<n>b))$", "b", Some(true)),
        ("^(?s:.)$", "\n", Some(true)),
        ("^(?s:(?-s:.))$", "\n", Some(false)),
        ("^(?s:a).$", "a\n", Some(false)),
        ("^(?-i:a)$", "A", Some(false)),
        ("^(?-ims:a)$", "a", Some(true)),
        ("(?i:a)", "A", None),
        ("(?m:^a)", "a", None),
        ("(?is-m:a)", "a", None),
    ];
    for (pattern, value, matches) in table {
        assert_eq!(parse(pattern).matches(value), matches, "{pattern} on {value:?}");
    }
    for pattern in ["(?-:a)", "(?ii:a)", "(?i-i:a)", "(?x:a)", "(?i)", "(?i-)", "(?s", "(?^:a)"] {
        assert_eq!(fault(pattern), PatternFault::UnknownGroup, "{pattern}");
    }
    for pattern in ["(?<n>a)(?<n>b)", "(?<n>a|(?<n>b))", "(?:(?<n>a)|b)(?<n>c)", r"(?<n>a)(?<\u006e>b)"] {
        assert_eq!(fault(pattern), PatternFault::DuplicateGroupName, "{pattern}");
    }
}

/// R-FORM-06: a form that holds one of these is refused.
#[test]
fn what_is_no_regular_expression_is_an_error() {
    use PatternFault as F;
    let table: &[(F, &[&str])] = &[
        (F::UnclosedGroup, &["(", "((a)", "(?:a", "(?=a", "(?<n>a", "a|("]),
        (F::UnopenedGroup, &[")", "a)", "(a))"]),
        (F::UnclosedClass, &["[", "[a", "[^", "[a-", "[[a", r"[\]"]),
        (F::RepeatRange, &["a{2,1}", "a{99999999999999999999,1}"]),
        (
            F::NothingToRepeat,
            &[
                "*a", "+", "?", "a**", "a+*", "a++", "a*+", "a{1}{2}", "a??+", "^*", "$+", r"\b+", r"\B{2}", "{1}",
                "{2,}a", "|*", "(*a)", "(|+)", "(?<=a)*", "(?<!a)+",
            ],
        ),
        (F::UnknownGroup, &["(?", "(?a)", "(?P<n>a)", "(?P=n)", "(?>a)", "(?#c)", "(?|a)", "(?'n'a)"]),
        (F::GroupName, &["(?<", "(?<n", "(?<>a)", "(?<1>a)", "(?<n-m>a)", "(?<n m>a)", r"\k", r"\kn", r"(?<n>a)\k<n"]),
        (F::TrailingBackslash, &[r"\", r"a\", r"[\"]),
        (F::ClassRange, &["[z-a]", "[😂-😀]", r"[a-\x20]", r"[\ude00-\ud83d]"]),
        (
            F::UnknownEscape,
            &[
                r"\A", r"\z", r"\Z", r"\a", r"\e", r"\h", r"\G", r"\Q", r"\i", r"[\B]", r"[\A]", r"[\1]", r"\00",
                r"\07", r"[\00]",
            ],
        ),
        (F::MissingGroup, &[r"\1", r"(a)\2", r"\8", r"\99999999999999999999999", r"\k<n>", r"(?<m>a)\k<n>"]),
        (
            F::IncompleteEscape,
            &[
                r"\x",
                r"\x4",
                r"\xg0",
                r"\u",
                r"\u12",
                r"\u{}",
                r"\u{110000}",
                r"\u{12",
                r"\u{+1}",
                r"\c",
                r"\c1",
                r"[\c]",
                r"[\x]",
            ],
        ),
        (
            F::UnknownProperty,
            &[
                r"\p",
                r"\pL",
                r"\p{",
                r"\p{}",
                r"\p{L",
                r"\p{Foo}",
                r"\p{lu}",
                r"\p{Greek}",
                r"\p{Script}",
                r"\p{Script=}",
                r"\p{Script=Foo}",
                r"\p{sc=greek}",
                r"\p{gc=Greek}",
                r"\p{L&}",
                r"\p{^L}",
                r"\p{=L}",
                r"\p{IsAlphabetic}",
                r"\p{RGI_Emoji}",
                r"\p{sc=Hrkt}",
                r"[\p{Foo}]",
                r"\P{Foo}",
            ],
        ),
    ];
    for (expected, patterns) in table {
        for pattern in *patterns {
            assert_eq!(fault(pattern), *expected, "{pattern}");
        }
    }
}

#[test]
fn an_error_names_the_place_in_code_points() {
    let shown = |text: &str| Pattern::parse(text).unwrap_err().to_string();
    insta::assert_snapshot!(shown("äö😀(b"), @"a group that is not closed at character 4");
    insta::assert_snapshot!(shown("é[z-a]"), @"a character range that runs backwards at character 3");
    insta::assert_snapshot!(shown("a**"), @"nothing to repeat at character 3");
    insta::assert_snapshot!(shown(r"ab\q"), @"an unknown escape at character 3");
    insta::assert_snapshot!(shown(r"(a)\2"), @"a reference to a group that is not there at character 4");
}

/// R-FORM-06: kept and reported, not refused and not guessed.
#[test]
fn what_a_linear_engine_cannot_run_is_unchecked() {
    let table = [
        ("^(?=.*[a-z]).{8,}$", Unchecked::Lookaround),
        ("(?!a)", Unchecked::Lookaround),
        ("(?<=a)b", Unchecked::Lookaround),
        ("(?<!a)b", Unchecked::Lookaround),
        ("(?=a)*", Unchecked::Lookaround),
        (r"(a)\1", Unchecked::Backreference),
        (r"\1(a)", Unchecked::Backreference),
        (r"(?<n>a)\k<n>", Unchecked::Backreference),
        (r"\k<n>(?<n>a)", Unchecked::Backreference),
        (r"(?:\k<n>|b)(?:c|(?<n>a))", Unchecked::Backreference),
        ("(?i:straße)", Unchecked::Modifier),
        (r"\p{Script=Unknown}", Unchecked::Property),
        (r"[\P{CWKCF}]", Unchecked::Property),
        ("a{1000000}", Unchecked::TooLarge),
        ("a{4294967296}", Unchecked::TooLarge),
        ("a{1,99999999999999999999999}", Unchecked::TooLarge),
        ("(?:(?:(?:a{1000}){1000}){1000}){1000}", Unchecked::TooLarge),
        (r"\p{L}{100}", Unchecked::TooLarge),
    ];
    for (text, reason) in table {
        let pattern = parse(text);
        assert_eq!(pattern.unchecked_reason(), Some(reason), "{text}");
        assert!(!pattern.is_checked());
        assert_eq!(pattern.matches("a"), None);
        assert_eq!(pattern.as_str(), text);
    }
    assert_eq!(Unchecked::Lookaround.to_string(), "looks ahead or behind");
}

/// The syntax is judged before what can be run.
#[test]
fn an_error_behind_what_cannot_be_run_is_found() {
    for text in [r"(a)\1(", "(?=a)[", "a{1000000}{2}", r"(?<=a)\q", "(?i:a)(?<n"] {
        assert!(Pattern::parse(text).is_err(), "{text}");
    }
}

#[test]
fn usual_patterns_are_checked() {
    for text in ["^.{1,255}$", "^[A-Za-z0-9_-]{1,512}$", r"^\p{L}[\p{L} '-]*$", "^[^<>]{0,200}$", r"^\S{1,200}$"] {
        assert!(parse(text).is_checked(), "{text}");
    }
}

#[test]
fn long_and_deep_patterns_are_read_and_not_run() {
    for (open, inner, close) in
        [("(", "", ")"), ("(?:a|", "b", ")*"), ("", "ab", ""), ("(?=", "", ")"), ("[a-z]", "", "")]
    {
        let text = open.repeat(20_000) + &inner.repeat(20_000) + &close.repeat(20_000);
        assert!(!parse(&text).is_checked(), "{open}{inner}{close}");
        let unclosed = text + "(";
        assert_eq!(fault(&unclosed), PatternFault::UnclosedGroup);
    }
    let names: String = (0..20_000).fold(String::new(), |names, index| names + &format!("(?<n{index}>"));
    assert!(!parse(&(names.clone() + &")".repeat(20_000))).is_checked());
    assert_eq!(fault(&(names + "(?<n0>" + &")".repeat(20_001))), PatternFault::DuplicateGroupName);
    let depth = "(".repeat(200) + &")".repeat(200);
    assert!(parse(&depth).is_checked());
}

/// A hostile form holds hundreds of the heaviest patterns.
#[test]
fn the_patterns_of_one_form_share_a_budget() {
    let mut budget = Budget::for_one_form();
    let checked = |text: &str, budget: &mut Budget| Pattern::parse_within(text, budget).unwrap().is_checked();
    assert_eq!((0..50).filter(|_| checked("^[a-z0-9]{1,16}$", &mut budget)).count(), 50);
    assert!((0..500).filter(|_| checked("a{1000}", &mut budget)).count() < 10);
    assert!(!checked(r"\p{L}", &mut budget) || !checked(r"\p{L}{4}", &mut budget));
    // What costs nothing is still told right.
    assert!(Pattern::parse_within("(", &mut budget).is_err());
    let lookaround = Pattern::parse_within("(?=a)", &mut budget).unwrap();
    assert_eq!(lookaround.unchecked_reason(), Some(Unchecked::Lookaround));
}

#[test]
fn patterns_are_equal_by_text() {
    assert_eq!(parse("a+"), parse("a+"));
    assert_ne!(parse("a+"), parse("a{1,}"));
    assert_eq!(format!("{:?}", parse("(?=a)")), r#"Pattern { text: "(?=a)", unchecked: Some(Lookaround), .. }"#);
}

/// A text with each syntax character escaped.
fn escaped(text: &str) -> String {
    text.chars().fold(String::new(), |mut pattern, character| {
        if r"^$\.*+?()[]{}|/-".contains(character) {
            pattern.push('\\');
        }
        pattern.push(character);
        pattern
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_without_a_panic(text in any::<String>()) {
        if let Ok(pattern) = Pattern::parse(&text) {
            let _ = pattern.matches(&text);
        }
    }

    /// Texts near patterns reach further than random ones. Whatever is taken has a translation that
    /// the engine takes, too: nothing so small is too large.
    #[test]
    fn what_is_read_is_run_or_has_a_reason(
        pieces in prop::collection::vec(
            prop::sample::select(vec![
                "a", "é", "😀", "-", "^", "$", ".", "|", "(", ")", "(?:", "(?=", "(?<n>", "(?s:", "[", "[^", "]", "*", "+", "?", "{",
                "}", "{2}", "{0,3}", "&&", "--", "~~", "a-z", r"\d", r"\W", r"\s", r"\b", r"\B", r"\p{Lu}", r"\ud83d", r"\ude00",
                r"\u{1f600}", r"\-", r"\]", r"\\", r"\0", r"\1", r"\k<n>", " ", "#", ",", "1",
            ]),
            0..12,
        ),
        value in "[a-c😀é \\-]{0,8}",
    ) {
        let text = pieces.concat();
        if let Ok(pattern) = Pattern::parse(&text) {
            prop_assert_eq!(pattern.matches(&value).is_none(), pattern.unchecked_reason().is_some());
            let large = text.contains(r"\p{Lu}");
            prop_assert!(large || pattern.unchecked_reason() != Some(Unchecked::TooLarge), "{}", text);
        }
    }

    #[test]
    fn an_escaped_text_matches_itself_and_nothing_else(text in "\\PC{0,20}", other in "\\PC{0,20}") {
        let pattern = parse(&format!("^{}$", escaped(&text)));
        prop_assert_eq!(pattern.matches(&text), Some(true));
        prop_assert_eq!(pattern.matches(&other), Some(text == other));
    }

    #[test]
    fn a_class_of_escaped_characters_holds_them(text in "\\PC{1,20}", other in any::<char>()) {
        let class = parse(&format!("^[{}]$", escaped(&text)));
        for character in text.chars() {
            prop_assert_eq!(class.matches(character.encode_utf8(&mut [0; 4])), Some(true));
        }
        prop_assert_eq!(class.matches(other.encode_utf8(&mut [0; 4])), Some(text.contains(other)));
    }
}
