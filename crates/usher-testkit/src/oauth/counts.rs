/// What the provider did so far. Requests that [`Trouble`](super::Trouble) kept from it do not count here, but stand in the
/// log of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Codes given out.
    pub codes: usize,
    /// Token requests with a code, right or wrong.
    pub exchanges_tried: usize,
    /// Codes exchanged.
    pub exchanges: usize,
    /// Codes that came again after they were exchanged; each ended what had come of it.
    pub codes_again: usize,
    /// Refresh requests of a known client, right or wrong.
    pub refreshes_tried: usize,
    /// Refreshes that gave new tokens.
    pub refreshes: usize,
    /// Refresh tokens that came again after they were replaced, and after the grace time.
    pub refresh_tokens_again: usize,
    /// Refresh tokens that were refused because they are not known, expired or revoked.
    pub refresh_tokens_dead: usize,
    /// Tokens revoked by a client.
    pub revocations: usize,
    /// Clients registered.
    pub registrations: usize,
    /// Client id metadata documents fetched and found right.
    pub documents: usize,
}
