/// What is to be done with a URL, from good to bad.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Verdict {
    /// Nothing is odd; the person still consents (R-URL-05).
    #[default]
    Ok,
    /// The person is warned before they decide (R-URL-08).
    Warn,
    /// Never opened, whatever the person says (R-URL-08, R-URL-09).
    Block,
}
