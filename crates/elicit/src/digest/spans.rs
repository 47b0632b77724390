use super::DigestError;
use super::cursor::string_end;
use super::members::place;

/// How deep arrays and objects may be nested: the limit of `serde_json`.
pub(super) const MAX_DEPTH: usize = 128;

/// An array or object that is the value of an object's member: what is skipped when an object is looked over for its
/// keys, so that nothing is read once for each level around it.
#[derive(Clone, Copy, Default)]
pub(super) struct Span {
    end: u32,
    next: u32,
}

impl Span {
    /// The place after the value.
    pub(super) fn end(self) -> usize {
        self.end as usize
    }

    /// The first span after all those that lie inside this one.
    pub(super) fn next(self) -> usize {
        self.next as usize
    }
}

/// The spans inside the value that begins at `start` of a valid text, in the order in which they begin, and the place
/// after that value.
pub(super) fn spans(text: &str, start: usize) -> Result<(Vec<Span>, usize), DigestError> {
    struct Open {
        is_object: bool,
        span: Option<usize>,
    }
    let mut spans = Vec::new();
    let mut open: Vec<Open> = Vec::new();
    let mut at = start;
    loop {
        let byte = text.as_bytes().get(at).ok_or(DigestError::NotJson)?;
        at += 1;
        match byte {
            b'"' => at = string_end(text, at - 1).ok_or(DigestError::NotJson)?,
            b'{' | b'[' if open.len() == MAX_DEPTH => return Err(DigestError::TooDeep),
            b'{' | b'[' => {
                let span = open.last().filter(|around| around.is_object).map(|_| spans.len());
                if span.is_some() {
                    spans.push(Span::default());
                }
                open.push(Open { is_object: *byte == b'{', span });
            }
            b'}' | b']' => {
                let closed = open.pop().ok_or(DigestError::NotJson)?;
                let next = spans.len();
                if let Some(span) = closed.span.and_then(|span| spans.get_mut(span)) {
                    *span = Span { end: place(at)?, next: place(next)? };
                }
            }
            _ => continue,
        }
        if open.is_empty() {
            return Ok((spans, at));
        }
    }
}
