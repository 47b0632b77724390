/// What the person does about a form that is not shown because it asks for a secret. There is nothing to accept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// They decline. It is offered first.
    Decline,
    /// They make no choice.
    Cancel,
}

/// What the person does about answers that look like a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Confirmation {
    /// This server is to have them.
    Send,
    /// They change them: the form is shown again, with the answers as they were.
    Change,
    /// They decline the whole question.
    Decline,
    /// They make no choice.
    Cancel,
}
