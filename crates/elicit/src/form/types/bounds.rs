//! The numbers that a type of Rust can hold.

use std::cmp::Ordering;

use super::refusal::Refusal;
use super::shape::Shape;
use crate::Number;

/// The least and the greatest value of a field.
pub(super) struct Bounds {
    pub(super) minimum: Option<Number>,
    pub(super) maximum: Option<Number>,
}

impl Bounds {
    /// The bounds that the schema says, within those of the type.
    pub(super) fn of(shape: &Shape) -> Result<Self, Refusal> {
        let (least, most) = range(shape.get("format").and_then(serde_json::Value::as_str))?;
        let minimum = stricter(number(shape, "minimum"), least, Ordering::Greater);
        let maximum = stricter(number(shape, "maximum"), most, Ordering::Less);
        let bounds = Self { minimum, maximum };
        if excludes_zero(shape) && bounds.take_in_zero() {
            return Err(Refusal::NonZero);
        }
        Ok(bounds)
    }

    fn take_in_zero(&self) -> bool {
        let zero = Number::from(0);
        self.minimum.as_ref().is_none_or(|least| least.compare(&zero) != Ordering::Greater)
            && self.maximum.as_ref().is_none_or(|most| most.compare(&zero) != Ordering::Less)
    }
}

/// Whether the schema says that 0 is no value, as for `NonZeroI32`.
pub(super) fn excludes_zero(shape: &Shape) -> bool {
    shape.get("not").is_some_and(|not| *not == serde_json::json!({ "const": 0 }))
}

/// The numeric value of a keyword. Of a float of 32 bits it is the shortest text, `0.1`, where the
/// schema has the double next to it, `0.10000000149011612`.
pub(super) fn number(shape: &Shape, keyword: &str) -> Option<Number> {
    let value = shape.get(keyword)?.as_number()?;
    if shape.get("format").is_some_and(|format| format == "float")
        && value.is_f64()
        && let Some(double) = value.as_f64()
        && let Ok(single) = value.to_string().parse::<f32>()
        && f64::from(single).to_bits() == double.to_bits()
    {
        return Number::parse(&format!("{single:?}")).ok();
    }
    Number::parse(&value.to_string()).ok()
}

fn stricter(said: Option<Number>, of_type: Option<Number>, side: Ordering) -> Option<Number> {
    match (said, of_type) {
        (Some(said), Some(of_type)) => Some(if of_type.compare(&said) == side { of_type } else { said }),
        (said, of_type) => said.or(of_type),
    }
}

/// What the types hold that `schemars` gives these formats.
fn range(format: Option<&str>) -> Result<(Option<Number>, Option<Number>), Refusal> {
    let Some(format) = format else { return Ok((None, None)) };
    let (least, most): (Number, Number) = match format {
        "int8" => (i8::MIN.into(), i8::MAX.into()),
        "int16" => (i16::MIN.into(), i16::MAX.into()),
        "int32" => (i32::MIN.into(), i32::MAX.into()),
        "int64" => (i64::MIN.into(), i64::MAX.into()),
        "int128" => (i128::MIN.into(), i128::MAX.into()),
        "int" => ((isize::MIN as i64).into(), (isize::MAX as i64).into()),
        "uint8" => (u8::MIN.into(), u8::MAX.into()),
        "uint16" => (u16::MIN.into(), u16::MAX.into()),
        "uint32" => (u32::MIN.into(), u32::MAX.into()),
        "uint64" => (u64::MIN.into(), u64::MAX.into()),
        "uint128" => (u128::MIN.into(), u128::MAX.into()),
        "uint" => ((usize::MIN as u64).into(), (usize::MAX as u64).into()),
        // Beyond them an `f32` is infinite. A number beyond an `f64` is none that is exchanged.
        "float" => return Ok((single(f32::MIN), single(f32::MAX))),
        "double" => return Ok((None, None)),
        other => return Err(Refusal::NumberFormat(other.to_owned())),
    };
    Ok((Some(least), Some(most)))
}

fn single(value: f32) -> Option<Number> {
    Number::parse(&format!("{value:?}")).ok()
}
