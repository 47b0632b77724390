mod secrets;
mod visits;

use std::collections::VecDeque;
use std::future::pending;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Waker};

use super::*;
use crate::review::Profile;
use crate::secrets::KnownSecret;
use crate::{Action, Content, Elicitation, Form, FormElicitation, Mode, Revision, Value};

/// Runs a future that never waits for anything outside of itself.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..1_000 {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return output;
        }
    }
    panic!("the future waits for ever");
}

/// What a person does, one step after the other; the last one is repeated.
enum Step {
    Form(Result<Answer, NotShown>),
    Url(Result<Consent, NotShown>),
    Forbidden(Result<Refusal, NotShown>),
    Confirm(Result<Confirmation, NotShown>),
    After(Result<AfterConsent, NotShown>),
    Reopen,
    /// Never decides.
    Waits,
}

struct Scripted {
    modes: Modes,
    steps: Mutex<VecDeque<Step>>,
    shown: AtomicUsize,
    withdrawn: AtomicUsize,
    /// What fields held at first, and how many faults were shown.
    seen: Mutex<Vec<(Option<Value>, usize)>>,
    /// What was said of secrets: the field, and how sure it is or what its answer looks like.
    warned: Mutex<Vec<String>>,
}

impl Scripted {
    fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        let steps = Mutex::new(steps.into_iter().collect());
        let modes = Modes { form: true, url: true };
        let (shown, withdrawn) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { modes, steps, shown, withdrawn, seen: Mutex::default(), warned: Mutex::default() }
    }

    fn shown(&self) -> usize {
        self.shown.load(Ordering::Relaxed)
    }

    fn warn(&self, question: &FormQuestion<'_>) {
        for (field, secret) in question.fields() {
            let Some(secret) = secret else { continue };
            assert_eq!(question.secret(field), Some(secret.strength));
            self.warned.lock().unwrap().push(format!("{}: {:?}", field.name, secret.strength));
        }
    }

    fn warned(&self) -> String {
        self.warned.lock().unwrap().join(", ")
    }

    fn step(&self) -> Step {
        self.shown.fetch_add(1, Ordering::Relaxed);
        self.steps.lock().unwrap().pop_front().unwrap_or(Step::Waits)
    }
}

/// Counts dialogs that were closed before their end.
struct Dialog<'a>(&'a AtomicUsize, bool);

impl Drop for Dialog<'_> {
    fn drop(&mut self) {
        if !self.1 {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Presenter for Scripted {
    fn modes(&self) -> Modes {
        self.modes
    }

    fn form<'a>(&'a self, question: &'a FormQuestion<'a>) -> Presenting<'a, Answer> {
        self.warn(question);
        let form = question.elicitation.form();
        let initial = form.fields().first().and_then(|field| question.initial(field));
        let faults = question.faults.map_or(0, |faults| faults.iter().count());
        self.seen.lock().unwrap().push((initial, faults));
        Box::pin(async {
            match self.step() {
                Step::Form(answer) => answer,
                _ => pending().await,
            }
        })
    }

    fn forbidden<'a>(&'a self, question: &'a FormQuestion<'a>) -> Presenting<'a, Refusal> {
        self.warn(question);
        Box::pin(async {
            match self.step() {
                Step::Forbidden(refusal) => refusal,
                _ => pending().await,
            }
        })
    }

    fn confirm_secret<'a>(&'a self, question: &'a SecretQuestion<'a>) -> Presenting<'a, Confirmation> {
        assert_eq!(question.asker.server, "weather", "the server is named");
        for (field, secret) in question.answers {
            self.warned.lock().unwrap().push(format!("{} looks like {}", field.name, secret.as_str()));
        }
        Box::pin(async {
            match self.step() {
                Step::Confirm(confirmation) => confirmation,
                _ => pending().await,
            }
        })
    }

    fn url<'a>(&'a self, question: &'a UrlQuestion<'a>) -> Presenting<'a, Consent> {
        assert_eq!(Some(question.url()), question.review().openable(), "what is shown is what is opened");
        Box::pin(async {
            match self.step() {
                Step::Url(consent) => consent,
                _ => pending().await,
            }
        })
    }

    fn reopen<'a>(&'a self, _: &'a UrlQuestion<'a>) -> Presenting<'a, ()> {
        Box::pin(async {
            match self.step() {
                Step::Reopen => Ok(()),
                _ => pending().await,
            }
        })
    }

    fn after_consent<'a>(&'a self, _: &'a UrlQuestion<'a>) -> Presenting<'a, AfterConsent> {
        Box::pin(async {
            let mut dialog = Dialog(&self.withdrawn, false);
            let next = match self.step() {
                Step::After(next) => next,
                _ => pending().await,
            };
            dialog.1 = true;
            next
        })
    }
}

fn asker() -> Asker {
    Asker::new("weather").at("https://mcp.example.com").claiming("The official bank")
}

fn seats() -> Elicitation {
    let schema =
        r#"{"type":"object","properties":{"seats":{"type":"integer","minimum":1,"default":2}},"required":["seats"]}"#;
    FormElicitation::new("How many?", Form::parse(schema).unwrap()).unwrap().into()
}

fn read_url(url: &str) -> Elicitation {
    let params = serde_json::json!({ "mode": "url", "message": "m", "url": url }).to_string();
    Elicitation::parse(&params, Revision::V2026_07_28).unwrap()
}

fn accept(content: &str) -> Step {
    Step::Form(Ok(Answer::Accept(Content::parse(content).unwrap())))
}

fn ask(presenter: &Scripted, elicitation: &Elicitation) -> Outcome {
    block_on(present(presenter, &asker(), elicitation, &Policy::default())).outcome
}

fn form(properties: &str) -> Elicitation {
    let schema = format!(r#"{{"type":"object","properties":{properties}}}"#);
    FormElicitation::new("To go on.", Form::parse(&schema).unwrap()).unwrap().into()
}

/// R-FORM-05: what is sent fits the form, and holds nothing else.
#[test]
fn an_answer_that_fits_is_sent_without_what_nobody_asked_for() {
    let presenter = Scripted::new([accept(r#"{"x":"secret","seats":4}"#)]);
    assert_eq!(ask(&presenter, &seats()).to_json(), r#"{"action":"accept","content":{"seats":4}}"#);
    assert_eq!(presenter.shown(), 1);
}

/// R-FORM-03, R-FORM-04, R-FORM-05: what does not fit is not sent but shown again, with the person's answers to be changed
/// and the faults.
#[test]
fn an_answer_with_faults_is_shown_again() {
    let presenter = Scripted::new([accept(r#"{"seats":0}"#), accept(r#"{"seats":1}"#)]);
    assert_eq!(ask(&presenter, &seats()).to_json(), r#"{"action":"accept","content":{"seats":1}}"#);
    let seen = presenter.seen.lock().unwrap();
    assert_eq!(*seen, [(Some(Value::from(2)), 0), (Some(Value::from(0)), 1)], "the default, then what was answered");
}

/// R-FORM-05; case 6: never sent, and not asked for ever.
#[test]
fn an_answer_that_never_fits_ends_as_cancel() {
    let presenter = Scripted::new((0..100).map(|_| accept("{}")));
    let outcome = ask(&presenter, &seats());
    assert!(matches!(outcome, Outcome::Unanswered(Unanswered::Unfit(_))), "{outcome:?}");
    assert_eq!(outcome.to_json(), r#"{"action":"cancel"}"#);
    assert_eq!(presenter.shown(), MAX_ATTEMPTS);
}

/// R-ACT-01, R-ACT-02; case 7: what the person did arrives, and what no person did is cancel, with its reason.
#[test]
fn a_failure_to_show_is_cancel_and_never_decline() {
    for (step, action) in [
        (Step::Form(Ok(Answer::Decline)), Action::Decline),
        (Step::Form(Ok(Answer::Cancel)), Action::Cancel),
        (Step::Form(Err(NotShown::new("no terminal and no browser"))), Action::Cancel),
    ] {
        let outcome = ask(&Scripted::new([step]), &seats());
        assert_eq!(outcome.action(), action);
        assert_eq!(outcome.to_json(), format!(r#"{{"action":"{}"}}"#, action.as_str()));
        if let Outcome::Unanswered(reason) = outcome {
            assert_eq!(reason.to_string(), "the question could not be shown: no terminal and no browser");
        }
    }
    let url = read_url("https://a.example/");
    let outcome = ask(&Scripted::new([Step::Url(Err(NotShown::new("the browser did not start")))]), &url);
    assert_eq!(outcome.action(), Action::Cancel);
}

/// R-CAP-01; case 8: what the presenter does not handle is not shown in some other way.
#[test]
fn a_mode_without_a_handler_is_not_shown() {
    for (elicitation, mode) in [(seats(), Mode::Form), (read_url("https://a.example/"), Mode::Url)] {
        let presenter =
            Scripted { modes: Modes { form: mode == Mode::Url, url: mode == Mode::Form }, ..Scripted::new([]) };
        let outcome = ask(&presenter, &elicitation);
        assert_eq!(outcome, Outcome::Unanswered(NotShown::mode(mode).into()));
        assert_eq!(presenter.shown(), 0);
    }
}

/// R-ACT-02, R-FORM-06; case 10: an untouched optional field is absent, and an empty form is an object.
#[test]
fn an_empty_form_of_optional_fields_sends_an_object() {
    let outcome = ask(&Scripted::new([accept("{}")]), &form(r#"{"news":{"type":"boolean"}}"#));
    assert_eq!(outcome.to_json(), r#"{"action":"accept","content":{}}"#);
}

/// R-URL-05, R-URL-10: consent is an answer of its own, without content.
#[test]
fn consent_to_a_url_is_sent_without_content() {
    for (consent, text) in [
        (Consent::Accept(()), r#"{"action":"accept"}"#),
        (Consent::Decline, r#"{"action":"decline"}"#),
        (Consent::Cancel, r#"{"action":"cancel"}"#),
    ] {
        let outcome = ask(&Scripted::new([Step::Url(Ok(consent))]), &read_url("https://a.example/"));
        assert_eq!(outcome.to_json(), text);
    }
}

/// R-URL-08; case 15: a dangerous URL does not get as far as a person who might agree.
#[test]
fn a_dangerous_url_is_not_shown_to_be_opened() {
    for url in ["javascript:alert(1)", "file:///etc/passwd", "http://a.example/", "https://u@a.example/"] {
        let presenter = Scripted::new([Step::Url(Ok(Consent::Accept(())))]);
        let outcome = ask(&presenter, &read_url(url));
        let Outcome::Unanswered(Unanswered::Blocked(names)) = &outcome else { panic!("{url}: {outcome:?}") };
        assert!(!names.is_empty(), "{url}");
        assert_eq!((outcome.action(), presenter.shown()), (Action::Cancel, 0), "{url}");
    }
}

/// Case 40: what is shown to a person stands in no log.
#[test]
fn no_message_no_url_and_no_answer_shows_in_debug() {
    let asker = asker();
    let (Elicitation::Form(note), Elicitation::Url(page)) = (secrets::note(), read_url("https://a.example/?x=1"))
    else {
        panic!("a form and a page")
    };
    let secrets = crate::secrets::scan(note.form());
    let earlier = Content::new().with("note", "blue");
    let question = FormQuestion { earlier: Some(&earlier), ..FormQuestion::new(&asker, &note, &secrets) };
    let answers: Vec<_> = note.form().fields().iter().map(|field| (field, KnownSecret::Pem)).collect();
    let confirm = SecretQuestion { asker: &asker, elicitation: &note, answers: &answers };
    let page = UrlQuestion::new(&asker, &page, &Profile::default()).unwrap();
    let visit = Visit::new(page.clone());
    let presented = Presented { outcome: Outcome::Url(Consent::Accept(())), visit: Some(visit.clone()) };
    let shown = format!("{question:?} {confirm:?} {page:?} {visit:?} {presented:?}");
    assert!(shown.contains("note") && shown.contains("weather"), "{shown}");
    for hidden in ["To go on", "a.example", "x=1", "blue", "ghp_"] {
        assert!(!shown.contains(hidden), "{hidden}: {shown}");
    }
}

/// R-SEC-02: what the host knows of a server is apart from what it says of itself.
#[test]
fn facts_about_a_server_are_apart_from_its_claims() {
    let asker = asker();
    assert_eq!((asker.server.as_str(), asker.address.as_deref()), ("weather", Some("https://mcp.example.com")));
    assert_eq!(asker.claimed_name.as_deref(), Some("The official bank"));
}

/// Any presenter can stand behind a pointer, and what it does can move between threads.
#[test]
fn presenters_are_objects_and_their_futures_are_send() {
    fn is_send<T: Send>(value: T) -> T {
        value
    }
    let presenter: Box<dyn Presenter> = Box::new(Scripted::new([Step::Form(Ok(Answer::Decline))]));
    let (asker, elicitation, policy) = (asker(), seats(), Policy::default());
    let came = block_on(is_send(present(&*presenter, &asker, &elicitation, &policy)));
    assert_eq!(came.outcome.action(), Action::Decline);
}
