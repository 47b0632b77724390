use super::Asker;
use crate::form::Faults;
use crate::review::UrlReview;
use crate::{Content, Field, FormElicitation, UrlElicitation, Value};

/// A form as a presenter gets it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct FormQuestion<'a> {
    /// Who asks.
    pub asker: &'a Asker,
    /// What is asked and why, in the server's words.
    pub elicitation: &'a FormElicitation,
    /// What the person answered before, where it did not fit.
    pub earlier: Option<&'a Content>,
    /// Why it did not fit: to be shown beside the fields (R-FORM-05).
    pub faults: Option<&'a Faults>,
}

/// A URL as a presenter gets it. Its review did not block it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct UrlQuestion<'a> {
    /// Who asks.
    pub asker: &'a Asker,
    /// Where to and why, in the server's words.
    pub elicitation: &'a UrlElicitation,
    /// What to show of the URL, what to warn of, and what to open (R-URL-06, R-URL-07, R-URL-08).
    pub review: &'a UrlReview,
}

impl<'a> FormQuestion<'a> {
    /// What a field of the form holds when it is shown: what the person answered before, else its default (R-FORM-03).
    pub fn initial(&self, field: &Field) -> Option<Value> {
        match self.earlier {
            Some(earlier) => earlier.get(&field.name).cloned(),
            None => field.default(),
        }
    }

    /// A form that is shown for the first time.
    pub fn new(asker: &'a Asker, elicitation: &'a FormElicitation) -> Self {
        Self { asker, elicitation, earlier: None, faults: None }
    }
}

impl<'a> UrlQuestion<'a> {
    /// `review` is that of the elicitation's URL.
    pub fn new(asker: &'a Asker, elicitation: &'a UrlElicitation, review: &'a UrlReview) -> Self {
        Self { asker, elicitation, review }
    }
}
