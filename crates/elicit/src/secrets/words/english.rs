//! English.

use super::super::Strength::{Strong, Weak};
use super::super::phrases::Sort::{self, Digits, Text};
use super::Listed;

/// Phrases that count wherever they stand in a name or title, unless a neighbour cancels them. The
/// plural with "s" counts, too.
pub(in super::super) const ENGLISH: &[Listed] = &[
    ("password", Strong, Text),
    ("pass word", Strong, Text),
    ("passwd", Strong, Text),
    ("pwd", Strong, Text),
    ("passphrase", Strong, Text),
    ("pass phrase", Strong, Text),
    ("passcode", Strong, Text),
    ("pass code", Strong, Text),
    ("secret", Strong, Text),
    ("api key", Strong, Text),
    ("access key", Strong, Text),
    ("secret key", Strong, Text),
    ("private key", Strong, Text),
    ("signing key", Strong, Text),
    ("encryption key", Strong, Text),
    ("ssh key", Strong, Text),
    ("api secret", Strong, Text),
    ("client secret", Strong, Text),
    ("api token", Strong, Text),
    ("access token", Strong, Text),
    ("refresh token", Strong, Text),
    ("bearer token", Strong, Text),
    ("auth token", Strong, Text),
    ("authentication token", Strong, Text),
    ("id token", Strong, Text),
    ("session token", Strong, Text),
    ("reset token", Strong, Text),
    ("personal access token", Strong, Text),
    ("connection string", Strong, Text),
    ("credential", Strong, Text),
    ("seed phrase", Strong, Text),
    ("recovery phrase", Strong, Text),
    ("mnemonic phrase", Strong, Text),
    ("session cookie", Strong, Text),
    ("cvv", Strong, Digits),
    ("cvc", Strong, Digits),
    ("card number", Strong, Digits),
    ("otp", Strong, Digits),
    ("totp", Strong, Digits),
    ("one time password", Strong, Digits),
    ("one time code", Strong, Digits),
    ("mfa code", Strong, Digits),
    ("2fa code", Strong, Digits),
    ("verification code", Strong, Digits),
    ("security code", Strong, Digits),
    ("reset code", Strong, Digits),
    ("ssn", Weak, Text),
    ("social security number", Weak, Text),
    ("iban", Weak, Text),
    ("routing number", Weak, Text),
];

/// Names and titles that are nothing but this.
pub(in super::super) const WHOLE: &[Listed] = &[
    ("pin", Strong, Digits),
    ("пин", Strong, Digits),
    ("pin number", Strong, Digits),
    ("pan", Strong, Digits),
    ("auth", Weak, Text),
    ("private", Weak, Text),
];

/// Words that give a secret away at the end of a compound: a `github_token`, a `license_key`. With
/// those of the other languages.
pub(in super::super) const HEADS: &[(&str, Sort)] = &[
    ("token", Text),
    ("tokens", Text),
    ("key", Text),
    ("keys", Text),
    ("pin", Digits),
    ("schlüssel", Text),
    ("jeton", Text),
    ("clé", Text),
    ("clave", Text),
    ("токен", Text),
    ("ключ", Text),
    ("пин", Digits),
];
