use crate::Profile;

/// What a deployment, or a person, allows: how URLs are reviewed, and what becomes of a form that asks for a secret.
///
/// It is costly to build beside a question: build it once.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// What URLs are reviewed with (R-URL-08).
    pub profile: Profile,
    /// What becomes of a form that asks for a secret (R-FORM-07).
    pub secrets: SecretPolicy,
}

/// What becomes of a form with a field that [asks for a secret](crate::secrets), beyond doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum SecretPolicy {
    /// No input is taken: the person is told what the server did, and can decline.
    #[default]
    Refuse,
    /// It is asked like another form, with a warning, and what is typed into the field is masked.
    Ask,
}
