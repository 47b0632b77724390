//! Secrets that a server asks for in a form, and answers that look like one.

use super::*;

/// R-FORM-07, R-ACT-01: no input is taken; the person can decline, and nobody declines for them.
#[test]
fn a_form_that_asks_for_a_secret_takes_no_input() {
    let elicitation = form(r#"{"city":{"type":"string"},"apiKey":{"type":"string"},"token":{"type":"string"}}"#);
    let asked = Unanswered::Secret(vec!["apiKey".to_owned()]);
    for (step, expected) in [
        (Ok(Refusal::Decline), Outcome::Form(Answer::Decline)),
        (Ok(Refusal::Cancel), Outcome::Unanswered(asked.clone())),
        (Err(NotShown::new("no terminal")), Outcome::Unanswered(asked.clone())),
    ] {
        let presenter = Scripted::new([Step::Forbidden(step), accept(r#"{"apiKey":"x"}"#)]);
        let outcome = ask(&presenter, &elicitation);
        assert_eq!(outcome, expected);
        assert!(!outcome.to_json().contains("content"));
        assert_eq!((presenter.shown(), presenter.seen.lock().unwrap().len()), (1, 0), "no form was shown");
        assert_eq!(presenter.warned(), "apiKey: Strong, token: Weak");
    }
    assert_eq!(Outcome::Unanswered(asked.clone()).to_json(), r#"{"action":"cancel"}"#);
    insta::assert_snapshot!(asked, @r#"the server asked for a secret in a form (["apiKey"]), and nothing was sent"#);
}

/// R-FORM-07: what may be innocent is asked with a warning, and by policy the rest is, too.
#[test]
fn a_weak_finding_is_shown_with_a_warning_and_a_policy_allows_the_rest() {
    let presenter = Scripted::new([accept(r#"{"token":"blue"}"#)]);
    let outcome = ask(&presenter, &form(r#"{"token":{"type":"string"}}"#));
    assert_eq!(outcome.to_json(), r#"{"action":"accept","content":{"token":"blue"}}"#);
    assert_eq!(presenter.warned(), "token: Weak");

    let presenter = Scripted::new([accept(r#"{"password":"blue"}"#)]);
    let (asker, elicitation) = (asker(), form(r#"{"password":{"type":"string"}}"#));
    let policy = Policy { secrets: SecretPolicy::Ask, ..Policy::default() };
    let outcome = block_on(present(&presenter, &asker, &elicitation, &policy)).outcome;
    assert_eq!(outcome.to_json(), r#"{"action":"accept","content":{"password":"blue"}}"#);
    assert_eq!(presenter.warned(), "password: Strong");

    let spoken = FormElicitation::new(
        "Your password, please.",
        Form::parse(r#"{"type":"object","properties":{"x":{"type":"string"}}}"#).unwrap(),
    )
    .unwrap();
    let presenter = Scripted::new([accept("{}")]);
    ask(&presenter, &spoken.into());
    assert_eq!(presenter.warned(), "x: Weak", "what the message says counts");
}

const GITHUB_TOKEN: &str = r#"{"note":"use ghp_0123456789abcdef0123456789abcdef0123","size":3}"#;

pub(super) fn note() -> Elicitation {
    form(
        r#"{"note":{"type":"string"},"size":{"type":"integer"},"pick":{"type":"string","enum":["ghp_0123456789abcdef0123456789abcdef0123"]}}"#,
    )
}

/// R-FORM-07: an answer that looks like a secret is not sent before the person says so.
#[test]
fn an_answer_that_looks_like_a_secret_is_confirmed_first() {
    for (confirmation, expected) in [
        (Ok(Confirmation::Send), format!(r#"{{"action":"accept","content":{GITHUB_TOKEN}}}"#)),
        (Ok(Confirmation::Decline), r#"{"action":"decline"}"#.to_owned()),
        (Ok(Confirmation::Cancel), r#"{"action":"cancel"}"#.to_owned()),
        (Err(NotShown::new("the terminal is gone")), r#"{"action":"cancel"}"#.to_owned()),
    ] {
        let presenter = Scripted::new([accept(GITHUB_TOKEN), Step::Confirm(confirmation)]);
        assert_eq!(ask(&presenter, &note()).to_json(), expected);
        assert_eq!(presenter.warned(), format!("note looks like {}", KnownSecret::GitHubToken.as_str()));
    }
    // A card number is one in a number field, too; a choice is the server's own text.
    let presenter = Scripted::new([accept(r#"{"size":4111111111111111}"#), Step::Confirm(Ok(Confirmation::Send))]);
    ask(&presenter, &note());
    assert_eq!(presenter.warned(), "size looks like a card number");
    let chosen = r#"{"pick":"ghp_0123456789abcdef0123456789abcdef0123"}"#;
    let presenter = Scripted::new([accept(chosen)]);
    assert_eq!(ask(&presenter, &note()).to_json(), format!(r#"{{"action":"accept","content":{chosen}}}"#));
}

/// R-FORM-04, R-FORM-07: the person can take it back, and it is not asked for ever.
#[test]
fn an_answer_that_looks_like_a_secret_can_be_changed() {
    let presenter = Scripted::new([
        accept(GITHUB_TOKEN),
        Step::Confirm(Ok(Confirmation::Change)),
        accept(r#"{"note":"a better one"}"#),
    ]);
    assert_eq!(ask(&presenter, &note()).to_json(), r#"{"action":"accept","content":{"note":"a better one"}}"#);
    let seen = presenter.seen.lock().unwrap();
    assert_eq!(seen[1], (Some(Value::from("use ghp_0123456789abcdef0123456789abcdef0123")), 0));
    drop(seen);
    let steps = (0..100).flat_map(|_| [accept(GITHUB_TOKEN), Step::Confirm(Ok(Confirmation::Change))]);
    let presenter = Scripted::new(steps);
    assert_eq!(ask(&presenter, &note()), Outcome::Unanswered(Unanswered::Unconfirmed));
    assert_eq!(presenter.shown(), 2 * MAX_ATTEMPTS);
}
