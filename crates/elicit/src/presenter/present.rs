use super::{
    Asker, Confirmation, FormQuestion, NotShown, Outcome, Policy, Presenter, Refusal, SecretPolicy, SecretQuestion,
    Unanswered, UrlQuestion, Visit,
};
use crate::form::{Accepted, Faults, Kind};
use crate::secrets::{self, KnownSecret, Strength};
use crate::{Answer, Content, Elicitation, Field, FormElicitation, UrlElicitation, Value};

/// How often a form is shown when what comes back does not fit it, or is not to be sent. A presenter that checks beside
/// the fields never needs the second.
pub const MAX_ATTEMPTS: usize = 5;

/// What came of one question.
#[derive(Clone, Debug)]
pub struct Presented<'a> {
    /// What the server is told.
    pub outcome: Outcome,
    /// The page to [wait](Visit::wait) for, where the person agreed to open one.
    pub visit: Option<Visit<'a>>,
}

/// Puts one question to the person, and keeps the rules whatever the presenter does:
///
/// - it is shown only in a mode that the presenter handles;
/// - a form that asks for a [secret](secrets) takes no input, unless the policy allows it: the person is
///   [told](Presenter::forbidden) and can decline (R-FORM-07);
/// - an accepted form fits its schema, and holds what was asked for and nothing else, before anything is sent (R-FORM-05);
///   what does not fit is shown again with its faults, at most [`MAX_ATTEMPTS`] times;
/// - an answer that looks like a secret is sent only after the person has
///   [confirmed](Presenter::confirm_secret) that this server is to have it (R-FORM-07);
/// - a URL is [reviewed](crate::UrlReview::of) first, and a dangerous one is never shown as one to open (R-URL-08);
/// - who was shown nothing declines nothing: that is cancel, with its reason (R-ACT-01).
///
/// It opens and fetches nothing (R-URL-04). To drop the future is to withdraw the question.
pub async fn present<'a>(
    presenter: &dyn Presenter,
    asker: &'a Asker,
    elicitation: &'a Elicitation,
    policy: &Policy,
) -> Presented<'a> {
    let mode = elicitation.mode();
    if !presenter.modes().supports(mode) {
        return Outcome::Unanswered(NotShown::mode(mode).into()).into();
    }
    match elicitation {
        Elicitation::Form(form) => {
            let outcome = present_form(presenter, asker, form, policy.secrets).await;
            outcome.unwrap_or_else(Outcome::Unanswered).into()
        }
        Elicitation::Url(url) => present_url(presenter, asker, url, policy).await,
    }
}

impl From<Outcome> for Presented<'_> {
    /// Without a page to wait for.
    fn from(outcome: Outcome) -> Self {
        Self { outcome, visit: None }
    }
}

async fn present_form(
    presenter: &dyn Presenter,
    asker: &Asker,
    elicitation: &FormElicitation,
    policy: SecretPolicy,
) -> Result<Outcome, Unanswered> {
    let secrets = secrets::scan_with_message(elicitation.form(), elicitation.message());
    let first = FormQuestion::new(asker, elicitation, &secrets);
    let is_forbidden = secrets.iter().any(|secret| secret.strength == Strength::Strong);
    if is_forbidden && policy == SecretPolicy::Refuse {
        return refuse(presenter, &first).await;
    }
    let mut earlier: Option<(Content, Option<Faults>)> = None;
    for _ in 0..MAX_ATTEMPTS {
        let question = match &earlier {
            Some((content, faults)) => FormQuestion { earlier: Some(content), faults: faults.as_ref(), ..first },
            None => first,
        };
        let content = match presenter.form(&question).await? {
            Answer::Accept(content) => content,
            Answer::Decline => return Ok(Outcome::Form(Answer::Decline)),
            Answer::Cancel => return Ok(Outcome::Form(Answer::Cancel)),
        };
        let accepted = match elicitation.form().check_content(&content) {
            Ok(accepted) => accepted,
            Err(faults) => {
                earlier = Some((content, Some(faults)));
                continue;
            }
        };
        match confirm(presenter, &first, &accepted).await? {
            Confirmation::Send => return Ok(Outcome::Form(Answer::Accept(accepted.to_content()))),
            Confirmation::Change => earlier = Some((content, None)),
            Confirmation::Decline => return Ok(Outcome::Form(Answer::Decline)),
            Confirmation::Cancel => return Ok(Outcome::Form(Answer::Cancel)),
        }
    }
    match earlier.and_then(|(_, faults)| faults) {
        Some(faults) => Err(Unanswered::Unfit(faults)),
        None => Err(Unanswered::Unconfirmed),
    }
}

/// Tells the person that the form is not shown, and why; takes no input.
async fn refuse(presenter: &dyn Presenter, question: &FormQuestion<'_>) -> Result<Outcome, Unanswered> {
    // Whether the notice was dismissed or not seen at all: what the server asked for is the reason.
    if let Ok(Refusal::Decline) = presenter.forbidden(question).await {
        return Ok(Outcome::Form(Answer::Decline));
    }
    let strong = question.secrets.iter().filter(|secret| secret.strength == Strength::Strong);
    Err(Unanswered::Secret(strong.map(|secret| secret.property.clone()).collect()))
}

/// Has the person confirm answers that look like a secret, where there are any.
async fn confirm(
    presenter: &dyn Presenter,
    question: &FormQuestion<'_>,
    accepted: &Accepted<'_>,
) -> Result<Confirmation, NotShown> {
    let form = question.elicitation.form();
    let answers: Vec<(&Field, KnownSecret)> = accepted
        .iter()
        .filter_map(|(name, value)| form.field(name).zip(Some(value)))
        .filter_map(|(field, value)| Some((field, secret_in(field, value)?)))
        .collect();
    if answers.is_empty() {
        return Ok(Confirmation::Send);
    }
    let question = SecretQuestion { asker: question.asker, elicitation: question.elicitation, answers: &answers };
    presenter.confirm_secret(&question).await
}

/// Choices are the server's own words, so nobody gives one away with them.
fn secret_in(field: &Field, value: &Value) -> Option<KnownSecret> {
    match (&field.kind, value) {
        (Kind::Text(_), Value::Text(text)) => secrets::in_value(text),
        (Kind::Number(_) | Kind::Integer(_), Value::Number(number)) => secrets::in_value(number.as_str()),
        _ => None,
    }
}

async fn present_url<'a>(
    presenter: &dyn Presenter,
    asker: &'a Asker,
    elicitation: &'a UrlElicitation,
    policy: &Policy,
) -> Presented<'a> {
    let question = match UrlQuestion::new(asker, elicitation, &policy.profile) {
        Ok(question) => question,
        Err(blocked) => return Outcome::Unanswered(blocked).into(),
    };
    match presenter.url(&question).await {
        Ok(consent @ Answer::Accept(())) => {
            Presented { outcome: Outcome::Url(consent), visit: Some(Visit::new(question)) }
        }
        Ok(consent) => Outcome::Url(consent).into(),
        Err(reason) => Outcome::Unanswered(reason.into()).into(),
    }
}
