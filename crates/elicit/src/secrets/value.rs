//! Answers that look like a secret.

use super::card::holds_card_number;

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
    text.split(|character| !(in_token(character) || character == '.'))
        .find_map(in_word)
        .or_else(|| holds_card_number(text).then_some(KnownSecret::CardNumber))
}

/// Whether a token can hold it: letters and digits, and the signs of base64url.
fn in_token(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '_' | '-')
}

/// Looks at a token with the dots inside and around it.
fn in_word(word: &str) -> Option<KnownSecret> {
    let word = word.trim_matches('.');
    word.split('.').find_map(in_part).or_else(|| is_json_web_token(word).then_some(KnownSecret::JsonWebToken))
}

fn in_part(part: &str) -> Option<KnownSecret> {
    /// Prefix, the least length of what follows, and what it is.
    const PREFIXES: [(&str, usize, KnownSecret); 13] = [
        ("ghp_", 20, KnownSecret::GitHubToken),
        ("gho_", 20, KnownSecret::GitHubToken),
        ("ghu_", 20, KnownSecret::GitHubToken),
        ("ghs_", 20, KnownSecret::GitHubToken),
        ("ghr_", 20, KnownSecret::GitHubToken),
        ("github_pat_", 20, KnownSecret::GitHubToken),
        ("xoxa-", 8, KnownSecret::SlackToken),
        ("xoxb-", 8, KnownSecret::SlackToken),
        ("xoxp-", 8, KnownSecret::SlackToken),
        ("xoxr-", 8, KnownSecret::SlackToken),
        ("xoxs-", 8, KnownSecret::SlackToken),
        ("AIza", 30, KnownSecret::GoogleApiKey),
        ("sk_live_", 12, KnownSecret::SecretKey),
    ];
    // All are longer.
    if part.len() < 13 {
        return None;
    }
    for (prefix, least, secret) in PREFIXES {
        if part.strip_prefix(prefix).is_some_and(|rest| rest.len() >= least) {
            return Some(secret);
        }
    }
    if part.strip_prefix("sk-").is_some_and(is_random) {
        return Some(KnownSecret::SecretKey);
    }
    let aws = part.strip_prefix("AKIA").or_else(|| part.strip_prefix("ASIA"));
    let is_aws =
        |rest: &str| rest.len() == 16 && rest.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit());
    aws.is_some_and(is_aws).then_some(KnownSecret::AwsAccessKey)
}

/// Whether it has sixteen letters and digits in a row, digits among them: a key has, and
/// `sk-learn-installation-guide` has not.
fn is_random(key: &str) -> bool {
    key.split(['-', '_']).any(|part| part.len() >= 16 && part.bytes().any(|byte| byte.is_ascii_digit()))
}

/// Whether it has the form of a JSON Web Token: signed (RFC 7519, section 3) or encrypted (RFC 7516, section 3.1), whose
/// key is empty where it is agreed. The first part is an object, which begins with `{"`.
pub(crate) fn is_json_web_token(word: &str) -> bool {
    let mut parts = word.splitn(6, '.');
    let (Some(header), Some(second)) = (parts.next(), parts.next()) else { return false };
    let encrypted = match parts.clone().count() {
        1 => false,
        3 => true,
        _ => return false,
    };
    header.starts_with("eyJ")
        && (second.len() > 3 || second == "eyJ" || encrypted && header.len() > 16)
        && [header, second].into_iter().chain(parts).all(|part| part.chars().all(in_token))
}
