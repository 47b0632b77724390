use std::ops::{RangeFrom, RangeInclusive, RangeToInclusive};

/// A range whose bounds belong to it, as the bounds of a form do: `1..=80`, `1..`, `..=80`.
///
/// Forms have no bounds that are excluded, so a range such as `1..80` is none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no range that a form can have",
    note = "write `1..=80`, `1..` or `..=80`; lengths and counts are `u64`"
)]
pub trait InclusiveRange<T>: sealed::Sealed {
    /// The least and the greatest value.
    fn into_bounds(self) -> (Option<T>, Option<T>);
}

impl<T> InclusiveRange<T> for RangeInclusive<T> {
    fn into_bounds(self) -> (Option<T>, Option<T>) {
        let (least, most) = self.into_inner();
        (Some(least), Some(most))
    }
}

impl<T> InclusiveRange<T> for RangeFrom<T> {
    fn into_bounds(self) -> (Option<T>, Option<T>) {
        (Some(self.start), None)
    }
}

impl<T> InclusiveRange<T> for RangeToInclusive<T> {
    fn into_bounds(self) -> (Option<T>, Option<T>) {
        (None, Some(self.end))
    }
}

mod sealed {
    use std::ops::{RangeFrom, RangeInclusive, RangeToInclusive};

    pub trait Sealed {}

    impl<T> Sealed for RangeInclusive<T> {}
    impl<T> Sealed for RangeFrom<T> {}
    impl<T> Sealed for RangeToInclusive<T> {}
}
