//! Answers that look like a secret.

/// A kind of secret that is known by its shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KnownSecret {
    /// A GitHub token: `ghp_…`, `gho_…`, `github_pat_…` and the like.
    GitHubToken,
    /// A key that begins with `sk-`, as several providers' do.
    SecretKey,
    /// A Slack token: `xoxb-…` and the like.
    SlackToken,
    /// An AWS access key id: `AKIA…`, `ASIA…`.
    AwsAccessKey,
    /// A Google API key: `AIza…`.
    GoogleApiKey,
    /// A JSON Web Token (RFC 7519).
    JsonWebToken,
    /// A PEM block (RFC 7468).
    Pem,
    /// A payment card's number, by its check digit (ISO/IEC 7812-1).
    CardNumber,
}

impl KnownSecret {
    /// What it is, in words for the person who is about to send it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GitHubToken => "a GitHub token",
            Self::SecretKey => "a secret key",
            Self::SlackToken => "a Slack token",
            Self::AwsAccessKey => "an AWS access key",
            Self::GoogleApiKey => "a Google API key",
            Self::JsonWebToken => "an access token (JWT)",
            Self::Pem => "a key in PEM format",
            Self::CardNumber => "a card number",
        }
    }
}

/// The secret that a text looks like or holds. Before such an answer is sent through a form, the
/// person confirms that this server is to have it (R-FORM-07).
pub fn in_value(text: &str) -> Option<KnownSecret> {
    if text.contains("-----BEGIN ") {
        return Some(KnownSecret::Pem);
    }
    let is_between = |character: char| {
        character.is_whitespace()
            || matches!(character, '"' | '\'' | '`' | '=' | ':' | ',' | ';' | '<' | '>' | '(' | ')' | '&' | '?' | '/')
    };
    text.split(is_between).find_map(in_word).or_else(|| is_card_number(text).then_some(KnownSecret::CardNumber))
}

fn in_word(word: &str) -> Option<KnownSecret> {
    /// Prefix, the least length of what follows, and what it is.
    const PREFIXES: [(&str, usize, KnownSecret); 14] = [
        ("ghp_", 20, KnownSecret::GitHubToken),
        ("gho_", 20, KnownSecret::GitHubToken),
        ("ghu_", 20, KnownSecret::GitHubToken),
        ("ghs_", 20, KnownSecret::GitHubToken),
        ("ghr_", 20, KnownSecret::GitHubToken),
        ("github_pat_", 20, KnownSecret::GitHubToken),
        ("sk-", 16, KnownSecret::SecretKey),
        ("xoxa-", 8, KnownSecret::SlackToken),
        ("xoxb-", 8, KnownSecret::SlackToken),
        ("xoxp-", 8, KnownSecret::SlackToken),
        ("xoxr-", 8, KnownSecret::SlackToken),
        ("xoxs-", 8, KnownSecret::SlackToken),
        ("AIza", 30, KnownSecret::GoogleApiKey),
        ("sk_live_", 12, KnownSecret::SecretKey),
    ];
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    for (prefix, least, secret) in PREFIXES {
        if let Some(rest) = word.strip_prefix(prefix)
            && rest.bytes().take_while(|byte| is_token(*byte)).count() >= least
        {
            return Some(secret);
        }
    }
    let aws = word.strip_prefix("AKIA").or_else(|| word.strip_prefix("ASIA"));
    if aws.is_some_and(|rest| {
        rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    }) {
        return Some(KnownSecret::AwsAccessKey);
    }
    is_jwt(word).then_some(KnownSecret::JsonWebToken)
}

/// Header and claims begin with `{"` in base64url; encrypted tokens have five parts, and no claims to see.
fn is_jwt(word: &str) -> bool {
    let parts: Vec<&str> = word.splitn(6, '.').collect();
    let is_base64url =
        |part: &&str| part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    match parts.as_slice() {
        [header, claims, _] => {
            header.starts_with("eyJ") && claims.starts_with("eyJ") && parts.iter().all(|part| is_base64url(&part))
        }
        [header, ..] if parts.len() == 5 => {
            header.starts_with("eyJ") && header.len() > 16 && parts.iter().all(|part| is_base64url(&part))
        }
        _ => false,
    }
}

/// 13 to 19 digits, alone or in groups, whose last one is right (Luhn).
fn is_card_number(text: &str) -> bool {
    let text = text.trim();
    // Longer than the longest number with a space after each digit: not looked at.
    if text.len() > 40 || !text.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b' ' | b'-')) {
        return false;
    }
    let digits: Vec<u32> = text.chars().filter_map(|character| character.to_digit(10)).collect();
    if !(13..=19).contains(&digits.len()) || digits.iter().all(|digit| *digit == 0) {
        return false;
    }
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
