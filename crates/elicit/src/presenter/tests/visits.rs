//! Pages that the person agreed to open.

use super::*;

/// Agrees to open a page, then does what `steps` say.
fn with_visit<T>(steps: impl IntoIterator<Item = Step>, run: impl FnOnce(&Scripted, &Visit<'_>) -> T) -> T {
    let presenter = Scripted::new([Step::Url(Ok(Consent::Accept(())))].into_iter().chain(steps));
    let (asker, elicitation) = (asker(), read_url("https://a.example/"));
    let came = block_on(present(&presenter, &asker, &elicitation, &Policy::default()));
    assert_eq!(came.outcome.to_json(), r#"{"action":"accept"}"#);
    run(&presenter, &came.visit.unwrap())
}

/// R-URL-05, R-URL-11: whoever agreed waits for the very page that they saw; without consent there is nothing to wait for.
#[test]
fn only_consent_leads_to_a_visit() {
    with_visit([], |_, visit| assert_eq!(visit.question().url(), "https://a.example/"));
    for step in [Ok(Consent::Decline), Ok(Consent::Cancel), Err(NotShown::new("no browser"))] {
        let presenter = Scripted::new([Step::Url(step)]);
        let (asker, elicitation) = (asker(), read_url("https://a.example/"));
        assert!(block_on(present(&presenter, &asker, &elicitation, &Policy::default())).visit.is_none());
    }
}

/// R-URL-11; case 16: the person ends the wait, or the notice does; neither needs the other.
#[test]
fn after_consent_whoever_is_first_ends_the_wait() {
    for (next, visited) in [(AfterConsent::Finished, Visited::Finished), (AfterConsent::GivenUp, Visited::GivenUp)] {
        with_visit([Step::After(Ok(next))], |presenter, visit| {
            assert_eq!(block_on(visit.wait(presenter, pending())), Ok(visited));
        });
    }
    with_visit([Step::Waits], |presenter, visit| {
        let mut polls = 0;
        let notice = std::future::poll_fn(|_| {
            polls += 1;
            if polls > 3 { Poll::Ready(()) } else { Poll::Pending }
        });
        assert_eq!(block_on(visit.wait(presenter, notice)), Ok(Visited::Finished));
        assert_eq!(presenter.withdrawn.load(Ordering::Relaxed), 1, "the dialog is closed");
    });
    with_visit([Step::After(Err(NotShown::new("the terminal is gone")))], |presenter, visit| {
        assert!(block_on(visit.wait(presenter, pending())).is_err(), "nothing waits for the notice alone");
    });
}

/// R-URL-10, R-URL-11: as often as the person wants, without another question or another answer.
#[test]
fn a_page_is_opened_again_without_a_second_answer() {
    let again = || [Step::After(Ok(AfterConsent::Again)), Step::Reopen];
    let steps = again().into_iter().chain(again()).chain([Step::After(Ok(AfterConsent::Finished))]);
    with_visit(steps, |presenter, visit| {
        assert_eq!(block_on(visit.wait(presenter, pending())), Ok(Visited::Finished));
        assert_eq!(presenter.shown(), 6, "one question, two visits more, and three steps after consent");
    });
    // A page that does not come up again does not keep anyone from ending the wait.
    with_visit([Step::After(Ok(AfterConsent::Again)), Step::Waits], |presenter, visit| {
        let notice = std::future::poll_fn(|_| if presenter.shown() == 3 { Poll::Ready(()) } else { Poll::Pending });
        assert_eq!(block_on(visit.wait(presenter, notice)), Ok(Visited::Finished));
    });
}

/// R-ACT-04, R-SEC-04; case 21: a question that the server takes back, or whose time is over, leaves no dialog open.
#[test]
fn a_dropped_question_is_withdrawn() {
    with_visit([Step::Waits], |presenter, visit| {
        let mut waiting = Box::pin(visit.wait(presenter, pending()));
        let mut context = Context::from_waker(Waker::noop());
        assert!(waiting.as_mut().poll(&mut context).is_pending());
        assert_eq!((presenter.shown(), presenter.withdrawn.load(Ordering::Relaxed)), (2, 0));
        drop(waiting);
        assert_eq!(presenter.withdrawn.load(Ordering::Relaxed), 1);
    });
}

/// R-URL-08: no question is made of a URL that its review blocks, with whatever profile.
#[test]
fn a_question_of_a_blocked_url_cannot_be_made() {
    let Elicitation::Url(private) = read_url("https://10.0.0.1/") else { panic!("not a url") };
    let blocked = UrlQuestion::new(&asker(), &private, &Profile::default()).map(drop).unwrap_err();
    assert_eq!(blocked, Unanswered::Blocked("private_ip".to_owned()));
    let trusting = Profile::default().with_trusted_host("10.0.0.1").unwrap();
    assert!(UrlQuestion::new(&asker(), &private, &trusting).is_ok());
}
