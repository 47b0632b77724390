/// Why a message of a peer cannot be used. The texts name fields of the protocol and never show a
/// value, so that they may be logged and sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The text is not one JSON value.
    #[error("not JSON")]
    NotJson,
    /// An object was needed.
    #[error("not a JSON object")]
    NotObject,
    /// An object names a key twice, so that two readers may see two values.
    #[error("a JSON object holds a key twice")]
    DuplicateKey,
    /// A key of `inputRequests` or of `content` is no Unicode text.
    #[error("a key is no Unicode text")]
    KeyNotText,
    /// A field has to be there.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A field is of another type than the protocol says.
    #[error("`{0}` has the wrong type")]
    WrongType(&'static str),
    /// `mode` is neither `form` nor `url` (R-REQ-02).
    #[error("`mode` is neither form nor url")]
    UnknownMode,
    /// `action` is none of the three (R-ACT-03).
    #[error("`action` is neither accept nor decline nor cancel")]
    UnknownAction,
    /// A question is none of the three that a round may hold (R-MRTR-08).
    #[error("a question is neither elicitation/create nor sampling/createMessage nor roots/list")]
    UnknownQuestion,
    /// `resultType` is neither `complete` nor `input_required`: invalid, unless an extension that both sides declared
    /// defines it (R-MRTR-07).
    #[error("`resultType` is neither complete nor input_required")]
    UnknownResultType,
    /// A list is longer than [`MAX_QUESTIONS`](crate::MAX_QUESTIONS).
    #[error("`{0}` holds more questions than a person can answer")]
    TooMany(&'static str),
    /// A text is longer than the protocol's users need: see [`MAX_ELICITATION_ID_BYTES`](crate::MAX_ELICITATION_ID_BYTES).
    #[error("`{0}` is too long")]
    TooLong(&'static str),
    /// Two elicitations of one error under one `elicitationId`, which is unique (R-URL-01).
    #[error("an `elicitationId` is used twice")]
    DuplicateId,
    /// A response with both a `result` and an `error`, of which it may have one.
    #[error("a response holds both a result and an error")]
    ResultAndError,
    /// An `input_required` result with neither `inputRequests` nor `requestState`.
    #[error("input_required has neither inputRequests nor requestState")]
    NothingRequired,
}
