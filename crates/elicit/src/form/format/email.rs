use std::net::{Ipv4Addr, Ipv6Addr};

/// Octets of a local part (RFC 5321, section 4.5.3.1.1).
const LONGEST_LOCAL_PART: usize = 64;
/// Octets of an address: of a path (section 4.5.3.1.3) without its angle brackets.
const LONGEST_ADDRESS: usize = 254;
/// Octets of one label of a domain (RFC 1035, section 2.3.4).
const LONGEST_LABEL: usize = 63;

/// `Mailbox` of RFC 5321, section 4.1.2.
pub(super) fn is_mailbox(value: &str) -> bool {
    let bytes = value.as_bytes();
    if bytes.len() > LONGEST_ADDRESS {
        return false;
    }
    let local_part = match bytes.first() {
        Some(b'"') => quoted_string_length(bytes),
        _ => dot_string_length(bytes),
    };
    let Some(length) = local_part.filter(|length| *length <= LONGEST_LOCAL_PART) else {
        return false;
    };
    match bytes.get(length..) {
        Some([b'@', b'[', literal @ .., b']']) => str::from_utf8(literal).is_ok_and(is_address),
        Some([b'@', domain @ ..]) => is_domain(domain),
        _ => false,
    }
}

/// How many bytes of `Dot-string` lead up to the `@`.
fn dot_string_length(bytes: &[u8]) -> Option<usize> {
    let mut previous = b'.';
    for (index, &byte) in bytes.iter().enumerate() {
        match byte {
            b'@' => return (previous != b'.').then_some(index),
            b'.' if previous != b'.' => {}
            _ if ATEXT[usize::from(byte)] => {}
            _ => return None,
        }
        previous = byte;
    }
    None
}

/// RFC 5322, section 3.2.3. A table, since this is asked for each byte.
const ATEXT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        table[byte as usize] = match byte {
            b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'/' | b'=' | b'?' | b'^'..=b'`' | b'{'..=b'~' => true,
            _ => byte.is_ascii_alphanumeric(),
        };
        byte += 1;
    }
    table
};

/// How many bytes a leading `Quoted-string` takes.
fn quoted_string_length(bytes: &[u8]) -> Option<usize> {
    let mut escaped = false;
    for (index, &byte) in bytes.iter().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return Some(index + 1),
            b'\\' if !escaped => escaped = true,
            b' '..=b'~' => escaped = false,
            _ => return None,
        }
    }
    None
}

/// `Domain`. Its own limit of 255 octets (section 4.5.3.1.2) is more than an address leaves.
fn is_domain(bytes: &[u8]) -> bool {
    bytes.split(|byte| *byte == b'.').all(is_label)
}

/// `sub-domain`
fn is_label(label: &[u8]) -> bool {
    let hyphen = Some(&b'-');
    !label.is_empty()
        && label.len() <= LONGEST_LABEL
        && label.first() != hyphen
        && label.last() != hyphen
        && label.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-')
}

/// The inside of `address-literal`, of the one tag that is registered (section 4.1.3).
fn is_address(text: &str) -> bool {
    match text.split_at_checked(5) {
        Some((tag, address)) if tag.eq_ignore_ascii_case("IPv6:") => address.parse::<Ipv6Addr>().is_ok(),
        _ => text.parse::<Ipv4Addr>().is_ok(),
    }
}
