use std::net::Ipv6Addr;

/// What a byte may be part of (RFC 3986, appendix A). Percent-encoding is looked at apart.
const NAME: u8 = 1;
const USER: u8 = 2;
const PATH: u8 = 4;
const QUERY: u8 = 8;
const SCHEME: u8 = 16;

const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte: u8 = 0;
    while byte < 128 {
        classes[byte as usize] = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'+' => NAME | USER | PATH | QUERY | SCHEME,
            // The rest of unreserved and sub-delims
            b'_' | b'~' | b'!' | b'$' | b'&'..=b'*' | b',' | b';' | b'=' => NAME | USER | PATH | QUERY,
            b':' => USER | PATH | QUERY,
            b'@' | b'/' => PATH | QUERY,
            b'?' => QUERY,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// `URI` of RFC 3986, section 3.
pub(super) fn is_uri(value: &str) -> bool {
    after_scheme(value.as_bytes()).and_then(after_hierarchy).is_some_and(|rest| {
        let rest = match rest {
            [b'?', query @ ..] => after(query, QUERY),
            _ => Some(rest),
        };
        match rest {
            Some([b'#', fragment @ ..]) => after(fragment, QUERY) == Some(b""),
            rest => rest == Some(b""),
        }
    })
}

fn after_scheme(uri: &[u8]) -> Option<&[u8]> {
    let (_, rest) = uri.split_first().filter(|(first, _)| first.is_ascii_alphabetic())?;
    let others = rest.iter().position(|byte| CLASSES[usize::from(*byte)] & SCHEME == 0)?;
    rest.get(others..)?.strip_prefix(b":")
}

/// What follows `hier-part`. Behind an authority the path is empty or begins with `/`, since that is
/// where the authority ends. Without one it does not begin with `//`, or it would have one.
fn after_hierarchy(rest: &[u8]) -> Option<&[u8]> {
    let path = match rest.strip_prefix(b"//") {
        None => rest,
        Some(rest) => {
            let end = rest.iter().position(|byte| matches!(byte, b'/' | b'?' | b'#')).unwrap_or(rest.len());
            let (authority, path) = rest.split_at_checked(end)?;
            is_authority(authority).then_some(path)?
        }
    };
    after(path, PATH)
}

/// What follows the characters of `class`; `None` where a `%` lacks its two digits.
fn after(mut rest: &[u8], class: u8) -> Option<&[u8]> {
    loop {
        let end = rest.iter().position(|byte| CLASSES[usize::from(*byte)] & class == 0).unwrap_or(rest.len());
        rest = match rest.get(end..)? {
            [b'%', high, low, rest @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => rest,
            [b'%', ..] => return None,
            rest => return Some(rest),
        };
    }
}

/// `[ userinfo "@" ] host [ ":" port ]`
fn is_authority(authority: &[u8]) -> bool {
    let host_and_port = match split_once(authority, b'@') {
        Some((user, _)) if after(user, USER) != Some(b"") => return false,
        Some((_, host_and_port)) => host_and_port,
        None => authority,
    };
    let port = match host_and_port {
        [b'[', literal @ ..] => {
            split_once(literal, b']').filter(|(address, _)| is_ip_literal(address)).map(|(_, port)| port)
        }
        _ => after(host_and_port, NAME),
    };
    match port {
        Some([b':', port @ ..]) => port.iter().all(u8::is_ascii_digit),
        port => port == Some(b""),
    }
}

fn split_once(bytes: &[u8], separator: u8) -> Option<(&[u8], &[u8])> {
    let index = bytes.iter().position(|byte| *byte == separator)?;
    Some((bytes.get(..index)?, bytes.get(index + 1..)?))
}

/// `IPv6address` or `IPvFuture`. A zone (RFC 6874) is part of neither.
fn is_ip_literal(address: &[u8]) -> bool {
    let [b'v' | b'V', future @ ..] = address else {
        return str::from_utf8(address).is_ok_and(|address| address.parse::<Ipv6Addr>().is_ok());
    };
    split_once(future, b'.').is_some_and(|(version, address)| {
        !version.is_empty()
            && version.iter().all(u8::is_ascii_hexdigit)
            && !address.is_empty()
            && address.iter().all(|byte| CLASSES[usize::from(*byte)] & USER != 0)
    })
}
