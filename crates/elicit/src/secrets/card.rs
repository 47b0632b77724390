//! Numbers of payment cards in a text.

/// A run of digits in a text.
#[derive(Clone, Copy, Debug)]
struct Group<'a> {
    digits: &'a str,
    /// Whether a space or hyphen joins it to the group before.
    joined: bool,
    /// Whether it begins inside of something else: `task-4111…`, `+49…`, `/4111…`.
    inside: bool,
    /// Whether it goes on as something else: `4111…abc`, `4111….5`.
    goes_on: bool,
}

/// How the digits of a card are grouped, where others may stand beside them.
const GROUPINGS: [&[usize]; 6] = [&[4, 4, 4, 4], &[4, 6, 5], &[4, 6, 4], &[4, 4, 4, 4, 3], &[4, 4, 4, 4, 2], &[8, 8]];

/// The first and the last beginning of the numbers of a network, four digits each, and the least and
/// the most digits that its numbers have. Several networks share what begins
/// with 6.
const NETWORKS: [(u32, u32, usize, usize); 18] = [
    (2200, 2205, 16, 19),
    (2221, 2720, 16, 16),
    (3000, 3059, 14, 14),
    (3400, 3499, 15, 15),
    (3528, 3589, 16, 19),
    (3600, 3699, 14, 14),
    (3700, 3799, 15, 15),
    (3800, 3999, 14, 14),
    (4000, 4999, 13, 13),
    (4000, 4999, 16, 16),
    (4000, 4999, 19, 19),
    (5000, 5099, 16, 19),
    (5100, 5599, 16, 16),
    (5600, 6999, 16, 19),
    (8100, 8299, 16, 16),
    (8600, 8600, 16, 16),
    (9792, 9792, 16, 16),
    (9860, 9860, 16, 16),
];

/// Whether a text holds the number of a card: 13 to 19 digits, alone or in groups, with a beginning
/// that card networks use and the right check digit (ISO/IEC 7812-1).
pub(super) fn holds_card_number(text: &str) -> bool {
    let mut joined: Vec<Group<'_>> = Vec::new();
    for group in groups(text) {
        if !group.joined {
            if in_groups(&joined) {
                return true;
            }
            joined.clear();
        }
        joined.push(group);
    }
    in_groups(&joined)
}

fn groups(text: &str) -> impl Iterator<Item = Group<'_>> {
    let mut end = 0;
    std::iter::from_fn(move || {
        let rest = text.get(end..)?;
        let gap = rest.find(|character: char| character.is_ascii_digit())?;
        let start = end + gap;
        let digits = text.get(start..)?;
        let length = digits.find(|character: char| !character.is_ascii_digit()).unwrap_or(digits.len());
        let (digits, after) = digits.split_at_checked(length)?;
        let between = rest.get(..gap).unwrap_or_default();
        let joined = end > 0 && matches!(between, " " | "-" | "\u{a0}");
        end = start + length;
        Some(Group { digits, joined, inside: !joined && begins_inside(between), goes_on: goes_on(after) })
    })
}

fn begins_inside(before: &str) -> bool {
    let mut before = before.chars().rev();
    match before.next() {
        Some('-' | '.') => before.next().is_none_or(|character| character.is_ascii_alphanumeric()),
        Some(character) => character.is_ascii_alphabetic() || matches!(character, '_' | '+' | '/' | '#'),
        None => false,
    }
}

fn goes_on(after: &str) -> bool {
    let mut after = after.chars();
    match after.next() {
        Some('-' | '.') => after.next().is_some_and(|character| character.is_ascii_alphanumeric()),
        Some(character) => character.is_ascii_alphabetic() || character == '_',
        None => false,
    }
}

/// Looks at all groups together, at each alone, and at those that are grouped as on a card.
fn in_groups(groups: &[Group<'_>]) -> bool {
    is_card(groups)
        || groups.iter().enumerate().any(|(start, group)| {
            is_card(std::slice::from_ref(group))
                || GROUPINGS.iter().any(|grouping| {
                    let window = groups.get(start..start + grouping.len()).unwrap_or_default();
                    window.iter().map(|group| group.digits.len()).eq(grouping.iter().copied()) && is_card(window)
                })
        })
}

fn is_card(groups: &[Group<'_>]) -> bool {
    let (Some(first), Some(last)) = (groups.first(), groups.last()) else { return false };
    // Most texts end here, so that the digits are looked at but a few times.
    let length = groups.iter().map(|group| group.digits.len()).take(20).sum();
    if !(13..=19).contains(&length) || first.inside || last.goes_on {
        return false;
    }
    let digits: Vec<u32> =
        groups.iter().flat_map(|group| group.digits.chars()).filter_map(|digit| digit.to_digit(10)).collect();
    let beginning = digits.iter().take(4).fold(0, |number, digit| number * 10 + digit);
    let of_network = NETWORKS.iter().any(|(least, most, shortest, longest)| {
        (*least..=*most).contains(&beginning) && (*shortest..=*longest).contains(&length)
    });
    // What is 13 digits long is rather the number of an article.
    of_network && has_check_digit(&digits) && !(length == 13 && is_article(&digits))
}

/// Luhn's formula.
fn has_check_digit(digits: &[u32]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| match (place % 2, digit * 2) {
            (0, _) => *digit,
            (_, double @ 10..) => double - 9,
            (_, double) => double,
        })
        .sum();
    sum.is_multiple_of(10)
}

/// The formula of EAN-13, and so of ISBN.
fn is_article(digits: &[u32]) -> bool {
    let sum: u32 =
        digits.iter().enumerate().map(|(place, digit)| if place % 2 == 0 { *digit } else { digit * 3 }).sum();
    sum.is_multiple_of(10)
}
