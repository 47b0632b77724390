use proptest::prelude::*;

use super::*;

/// What ends a run: punctuation, a dash between spaces, marks, a line.
fn end_of_run() -> impl Strategy<Value = String> {
    let signs = prop::sample::select(vec![
        ",", ".", "!", "?", ":", ";", "-", "--", "\u{2013}", "\u{2014}", "/", "|", "+", "*", "#", "&", "=", "(", ")",
        "[", "\u{bf}", "\u{ab}", "\u{201c}", "\u{2026}", "\u{3002}", "\u{ff1a}", "\u{2022}", "🔑", "`", "\"", "~",
        "\\", "^", "%",
    ]);
    let alone = prop::sample::select(vec!["\n", "\u{2014}", ":", "(", "*", "🔑", "`", "+"]);
    prop_oneof![(signs, " {1,2}").prop_map(|(sign, space)| format!(" {sign}{space}")), alone.prop_map(str::to_owned)]
}

proptest! {
    /// R-FORM-07
    #[test]
    fn any_text_is_scanned_without_a_panic(text in any::<String>(), message in any::<String>()) {
        let form = json!({ "type": "object", "properties": { &text: { "type": "string", "title": text, "description": message } } });
        let form = Form::parse(&form.to_string()).unwrap();
        let _ = (scan(&form), scan_with_message(&form, &message), in_value(&text));
    }

    /// R-FORM-07
    #[test]
    fn digits_in_any_company_are_read_without_a_panic(text in "[0-9 \\-./+#aé]{0,60}") {
        let _ = in_value(&text);
    }

    /// R-FORM-07: whatever stands around it in runs of its own.
    #[test]
    fn a_password_is_found_in_any_company(
        before in "[A-Za-z ]{0,20}( max| name| length| public| total)?",
        start in end_of_run(),
        secret in prop::sample::select(vec!["password", "API key", "My passcode", "Passwort", "пароль", "密码"]),
        end in end_of_run(),
        after in "((min|length|file|name|policy|id|of|长度)[ ._-]?){0,2}[A-Za-z ]{0,20}",
    ) {
        let text = format!("{before}{start}{secret}{end}{after}");
        prop_assert_eq!(best(&text, |_| true).map(|found| found.strength), Some(Strength::Strong), "{}", text);
    }
}
