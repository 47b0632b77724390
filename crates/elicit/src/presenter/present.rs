use crate::review::{Finding, Profile, UrlReview, Verdict};
use crate::{Answer, Elicitation, FormElicitation, UrlElicitation};

use super::{Asker, FormQuestion, NotShown, Outcome, Presenter, Unanswered, UrlQuestion};

/// How often a form is shown when what comes back does not fit it. A presenter that checks beside the fields never needs
/// the second.
pub const MAX_ATTEMPTS: usize = 5;

/// Puts one question to the person, and keeps the rules whatever the presenter does:
///
/// - it is shown only in a mode that the presenter handles;
/// - an accepted form fits its schema, and holds what was asked for and nothing else, before anything is sent (R-FORM-05);
///   what does not fit is shown again with its faults, at most [`MAX_ATTEMPTS`] times;
/// - a URL is [reviewed](UrlReview::of) first, and a dangerous one is never shown as one to open (R-URL-08);
/// - who was shown nothing declines nothing: that is cancel, with its reason (R-ACT-01).
///
/// It opens and fetches nothing (R-URL-04). To drop the future is to withdraw the question.
pub async fn present(
    presenter: &dyn Presenter,
    asker: &Asker,
    elicitation: &Elicitation,
    profile: &Profile,
) -> Outcome {
    let mode = elicitation.mode();
    if !presenter.modes().supports(mode) {
        return Outcome::Unanswered(NotShown::mode(mode).into());
    }
    match elicitation {
        Elicitation::Form(form) => present_form(presenter, asker, form).await,
        Elicitation::Url(url) => present_url(presenter, asker, url, profile).await,
    }
}

async fn present_form(presenter: &dyn Presenter, asker: &Asker, elicitation: &FormElicitation) -> Outcome {
    let form = elicitation.form();
    let mut unfit = None;
    for _ in 0..MAX_ATTEMPTS {
        let (earlier, faults) = unfit.as_ref().map_or((None, None), |(earlier, faults)| (Some(earlier), Some(faults)));
        let question = FormQuestion { asker, elicitation, earlier, faults };
        let answer = match presenter.form(&question).await {
            Ok(answer) => answer,
            Err(reason) => return Outcome::Unanswered(reason.into()),
        };
        let faults = match form.check(&answer) {
            Ok(checked) => return Outcome::Form(checked.map(|accepted| accepted.to_content())),
            Err(faults) => faults,
        };
        // Only what was accepted is checked.
        let Answer::Accept(earlier) = answer else { continue };
        unfit = Some((earlier, faults));
    }
    match unfit {
        Some((_, faults)) => Outcome::Unanswered(Unanswered::Unfit(faults)),
        None => Outcome::Form(Answer::Cancel),
    }
}

async fn present_url(
    presenter: &dyn Presenter,
    asker: &Asker,
    elicitation: &UrlElicitation,
    profile: &Profile,
) -> Outcome {
    let review = UrlReview::of(elicitation.url(), profile);
    if review.openable().is_none() {
        let blocking = review.findings().iter().filter(|finding| finding.verdict() == Verdict::Block);
        let names: Vec<&str> = blocking.map(Finding::name).collect();
        return Outcome::Unanswered(Unanswered::Blocked(names.join(", ")));
    }
    match presenter.url(&UrlQuestion::new(asker, elicitation, &review)).await {
        Ok(consent) => Outcome::Url(consent),
        Err(reason) => Outcome::Unanswered(reason.into()),
    }
}
