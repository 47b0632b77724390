//! What pages say of what went wrong, and how.

use super::*;

/// What the provider says of the only field stands beside it, and the summary leads there.
#[test]
fn a_refusal_of_the_only_field_stands_beside_it() {
    let mut visit = visit(Purpose::Connect);
    let ProviderKind::Secret { fields, .. } = &mut visit.provider.kind else { panic!("another kind") };
    fields.truncate(1);
    let html = render(Language::English, &visit, &refused());
    assert!(html.contains("<li><a href=\"#field-api_key\">The provider refused this key (401)."));
    assert!(html.contains("id=\"fault-api_key\">The provider refused this key (401)."));
    assert!(html.contains("aria-invalid=\"true\""));
}

/// WCAG 2.2, 2.2.1, 3.1.2 and 4.1.2: more time by a button; each reveal button has a name of its own; text in another
/// language says which.
#[test]
fn the_question_is_accessible() {
    let html = connect(Language::English, Purpose::Connect, &Attempt::default());
    assert!(html.contains("form=\"answer\" name=\"action\" value=\"extend\">Give me more time</button>"));
    assert!(html.contains(" id=\"answer\""));
    assert!(html.contains("aria-label=\"Show API key\""));
    let mut foreign = visit(Purpose::Connect);
    foreign.provider.about = config().provider("english").unwrap().about.clone();
    let html = render(Language::Chinese, &foreign, &Attempt::default());
    assert!(html.contains("<p class=\"about\"><span lang=\"en\">Only in English.</span></p>"), "{html}");
}

/// What a person began on the portal accuses no app, and stays so on the page after a fault.
#[test]
fn a_question_that_the_person_began_accuses_nobody() {
    let visit = visit(Purpose::Replace);
    let page = page(Language::English, "/connect/AAA?begun=mark");
    let html = ConnectPage::new(page, "t".into(), &visit, &wrong(), Some("mark"), now()).render().unwrap();
    assert!(html.contains("You are entering a new key for <bdi>Weather</bdi>."), "{html}");
    for accusing in ["Asked by", "wants to use", "did not just ask", "Claude Desktop"] {
        assert!(!html.contains(accusing), "{accusing}");
    }
    assert!(html.contains("?begun=mark\""), "{html}");
    assert!(html.contains("?begun=mark&#38;lang=zh-CN\"") || html.contains("?begun=mark&amp;lang=zh-CN\""), "{html}");
}

/// What could not be allowed any more says why the page is there again.
#[test]
fn an_answer_that_came_too_late_says_why() {
    let outdated = Attempt { outdated: true, ..Attempt::default() };
    let html = connect(Language::English, Purpose::Replace, &outdated);
    assert!(html.contains("What was stored for Weather has changed in the meantime"));
}
