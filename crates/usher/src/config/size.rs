//! Sizes: `"64KiB"`, `"4MiB"`, `"1GiB"`.

use std::ops::RangeInclusive;

use super::reader::Node;

/// A size in a range of bytes.
pub(super) fn read(node: &Node<'_>, bytes: RangeInclusive<u64>) -> Option<u64> {
    let text = node.string("\"4MiB\"")?;
    let Some(value) = parse(text) else {
        node.fault(
            format!("{text:?} is no size"),
            "write a whole number and KiB, MiB or GiB: \"64KiB\", \"4MiB\", \"1GiB\"",
        );
        return None;
    };
    if bytes.contains(&value) {
        return Some(value);
    }
    let (least, most) = (show(*bytes.start()), show(*bytes.end()));
    node.fault(format!("{text} is out of range"), format!("choose between {least} and {most}"));
    None
}

const UNITS: [(&str, u64); 3] = [("GiB", GIB), ("MiB", MIB), ("KiB", KIB)];
/// 1,024 bytes.
pub(super) const KIB: u64 = 1024;
/// 1,024 KiB.
pub(super) const MIB: u64 = 1024 * KIB;
/// 1,024 MiB.
pub(super) const GIB: u64 = 1024 * MIB;

fn parse(text: &str) -> Option<u64> {
    let (number, unit) = UNITS.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    if !number.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    number.parse::<u64>().ok()?.checked_mul(*unit)
}

/// A whole number of the largest unit that divides it.
pub(super) fn show(bytes: u64) -> String {
    let whole = UNITS.iter().find(|(_, unit)| bytes >= *unit && bytes.is_multiple_of(*unit));
    whole.map_or_else(|| format!("{bytes} bytes"), |(name, unit)| format!("{}{name}", bytes / unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_a_whole_number_and_one_unit() {
        assert_eq!(parse("64KiB"), Some(65_536));
        assert_eq!(parse("4MiB"), Some(4_194_304));
        assert_eq!(parse("1GiB"), Some(1_073_741_824));
        for wrong in ["", "KiB", "4", "4MB", "4 MiB", "-1MiB", "+1MiB", "1.5MiB", "4mib", "99999999999999GiB"] {
            assert_eq!(parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_size_is_shown_as_it_is_written() {
        for text in ["64KiB", "4MiB", "1GiB", "1025KiB"] {
            assert_eq!(parse(text).map(show).as_deref(), Some(text));
        }
        assert_eq!(show(100), "100 bytes");
    }
}
