use std::fmt;

use super::Asker;
use crate::form::Faults;
use crate::secrets::{self, KnownSecret};
use crate::{Content, Field, FormElicitation, Value};

/// A form as a presenter gets it.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct FormQuestion<'a> {
    /// Who asks.
    pub asker: &'a Asker,
    /// What is asked and why, in the server's words.
    pub elicitation: &'a FormElicitation,
    /// The fields that seem to ask for a secret, in the order of the form (R-FORM-07).
    pub secrets: &'a [secrets::Finding],
    /// What the person answered before, where it did not fit or was not to be sent like that.
    pub earlier: Option<&'a Content>,
    /// Why it did not fit: to be shown beside the fields (R-FORM-05).
    pub faults: Option<&'a Faults>,
}

/// Answers of a form that look like a secret, before they are sent.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct SecretQuestion<'a> {
    /// Who would get them: to be named.
    pub asker: &'a Asker,
    /// The form that they are the answers to.
    pub elicitation: &'a FormElicitation,
    /// The fields, in the order of the form, and what the answer in each looks like. At least one.
    pub answers: &'a [(&'a Field, KnownSecret)],
}

impl<'a> FormQuestion<'a> {
    /// A form that is shown for the first time; `secrets` are what
    /// [`scan_with_message`](secrets::scan_with_message) found in it.
    pub fn new(asker: &'a Asker, elicitation: &'a FormElicitation, secrets: &'a [secrets::Finding]) -> Self {
        Self { asker, elicitation, secrets, earlier: None, faults: None }
    }

    /// The fields in their order, each with what it asks for where that is a secret. Of such a field the person is warned,
    /// and what they type into it is masked.
    pub fn fields(&self) -> impl Iterator<Item = (&'a Field, Option<&'a secrets::Finding>)> {
        let mut secrets = self.secrets.iter().peekable();
        self.elicitation.form().fields().iter().map(move |field| {
            let secret = secrets.next_if(|secret| secret.property == field.name);
            (field, secret)
        })
    }

    /// How sure it is that one field asks for a secret; `None` where nothing says so. For all of them:
    /// [`fields`](Self::fields).
    pub fn secret(&self, field: &Field) -> Option<secrets::Strength> {
        self.secrets.iter().find(|secret| secret.property == field.name).map(|secret| secret.strength)
    }

    /// What a field of the form holds when it is shown: what the person answered before, else its default (R-FORM-03).
    pub fn initial(&self, field: &Field) -> Option<Value> {
        match self.earlier {
            Some(earlier) => earlier.get(&field.name).cloned(),
            None => field.default(),
        }
    }
}

/// Who asks and for what kind of answers: neither the server's message nor an answer.
impl fmt::Debug for FormQuestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let fields: Vec<&str> = self.elicitation.form().fields().iter().map(|field| field.name.as_str()).collect();
        f.debug_struct("FormQuestion")
            .field("asker", &self.asker)
            .field("fields", &fields)
            .field("secrets", &self.secrets)
            .field("is_repeated", &self.earlier.is_some())
            .finish_non_exhaustive()
    }
}

/// Names and kinds only: the answers are the person's.
impl fmt::Debug for SecretQuestion<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let answers: Vec<_> = self.answers.iter().map(|(field, secret)| (&field.name, secret)).collect();
        f.debug_struct("SecretQuestion").field("asker", &self.asker).field("answers", &answers).finish_non_exhaustive()
    }
}
