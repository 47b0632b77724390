//! Reviewing what a server sends to a person: [`UrlReview`].
//!
//! A review is a pure function of a URL and a [`Profile`]. Nothing is looked up (R-URL-04), and the
//! time it takes grows with the length of the URL only; above 64 KiB nothing but `url_too_long` is
//! found. What is shown is the serialised URL, and that very text is what is opened (R-URL-06). Only
//! `https`, and `http` on loopback, can be opened (R-URL-09); [`Profile::dev`] adds `http` elsewhere.
//!
//! The facts are those of the WHATWG URL standard, UTS #46 (names), UTS #39 (lookalikes), the public
//! suffix list and IANA's registries of special-purpose addresses and names; what follows from them is
//! our policy. Every [`Reason`] says what it stands for. Findings come in the order of their verdicts,
//! what blocks first, and within one verdict in the order of the review.
//!
//! # Which findings stand alone, or beside each other
//!
//! | finding | rule |
//! |---|---|
//! | `url_too_long`, `forbidden_scheme` | alone |
//! | `userinfo` | what is behind the `@` is not reviewed: nobody takes it for the host |
//! | `relative_url`, `empty_host` | only `bidi_control_in_raw` and `invisible_char_in_raw` beside it |
//! | `unparseable` | the same; and, where they explain it, `percent_encoded_host` and `invalid_punycode` |
//! | `bidi_rule_violation`; bidi controls and invisible characters in a host that cannot be parsed | in the place of `unparseable`, which they explain |
//! | `control_or_whitespace_in_raw` | any control character or white space, at the ends and within; not said of what cannot be parsed |
//! | `backslash` | anywhere, also in a query: parsers disagree on what it ends |
//! | kinds of addresses | one of them for each address; `ip_literal` is what remains. Documentation ranges are `ip_literal`; benchmarks, reserved ranges and protocol assignments are `private_ip` |
//! | `ipv4_mapped_ipv6` | beside the kind of the IPv4 address; `64:ff9b::/96` and 6to4 have that kind alone |
//! | `non_canonical_ip` | IPv4 only, beside the kind; not for percent signs and for mapped dots and digits instead of `host_mapped_to_ascii` and `dot_lookalike` |
//! | `metadata_endpoint` | beside the kind, or `internal_name` |
//! | `insecure_scheme` | beside whatever the host is |
//! | `insecure_scheme_loopback` | in its place on loopback, unless the URL is blocked anyway |
//! | `loopback`, `internal_name`, `special_use_tld` | one of them, and none of the findings on suffixes |
//! | `special_use_tld` | `alt`, `arpa`, `invalid`, `onion`, `test`; `example` is taken for an ordinary domain |
//! | `host_too_long` | nothing else is said of the name |
//! | `label_too_long` | in the place of `long_label` (more than 50 characters) |
//! | `many_labels` | more than 7 |
//! | `punycode` | beside every other finding on letters |
//! | `mixed_script` | per label, beyond UTS #39's level "highly restrictive" |
//! | `whole_script_confusable` | per label below the public suffix; not where the top-level domain is of the same script |
//! | `skeleton_match:D` | blocks where the host is not ASCII, else warns; marks do not count; Chinese and Japanese strokes between Latin letters are the letters that they pass for |
//! | `slash_lookalike` | what looks like `/`, `\`, `?`, `#`, `:` or `@`, and is not between letters of its own script |
//! | from `mixed_script` to `slash_lookalike` | each hides `not_identifier_allowed`, `restricted_script`, `uncommon_letter` and `digit_lookalike` |
//! | `restricted_script` | Unicode's identifier types Exclusion and Limited_Use |
//! | `uncommon_letter` | the types Uncommon_Use, Technical and Obsolete |
//! | `not_identifier_allowed` | what else Unicode does not allow in identifiers |
//! | `digit_lookalike` | a label of nothing but digits, and letters or digits of other scripts that look like ASCII ones |
//! | `deviation_character` | only where the raw host holds it: IDNA2003 and IDNA2008 lead to different hosts |
//! | `dot_lookalike` | a raw character that was mapped to a dot, or one in the host that looks like it and is not between letters of its own script |
//! | `host_mapped_to_ascii` | the raw host is not ASCII, the serialised one is |
//! | `skeleton_match:D`, `digit_lookalike:D`, `edit_distance_1:D` | the first that fits, against the registrable domain; never for a known domain itself. The edit is looked for in the Unicode form and in the skeleton |
//! | `known_domain_in_subdomain:D` | begins and ends at a dot or hyphen, before the registrable domain begins; in the place of the next |
//! | `known_label_embedded:L` | between hyphens in a label; glued to a word such as `secure` or `login`; or the whole of a label beside such a word, but for the registrable label under a country's suffix (`accounts.google.de`). Not the whole of a label otherwise, nor glued to other words |
//! | `open_redirect_param` | by name of the parameter, for another site. Not `redirect_uri` (or, without one, `return_url` and its like) in an authorization request, which two of three make: `client_id`; one of `response_type`, `request`, `request_uri`, `code_challenge`; a path with `oauth…` or `authoriz…`. Not `RelayState` beside a SAML request, nor `service` at `…/login` or `…/logout` |
//! | `credential_in_url` | by name of the parameter, by well-known beginnings of secrets, or a JSON Web Token (but as `state`, `request`, `id_token_hint`, `code_challenge` and the like), in query and fragment; `token` only with a long random value, `sig` and `Signature` with one or beside `Expires`, `se` and the like, but in no request for single sign-on |
//! | `at_sign_outside_authority` | what reads like a host under a known top-level domain after an `@`, plain or encoded, in the path (but for `@name@host`) or the name of a parameter; not in fragments, nor in values, which may be mail addresses |
//! | `shell_metacharacters` | `` ` `` `"` `|` `<` `>` `^` `$(` `${` anywhere; `&` and `;` (but for `;name=`) in the path |
//! | `raw_differs_from_serialized` | path, query, fragment, or zeros before the port; not where control characters, bidi controls, invisible characters or a backslash explain it |

mod address;
pub(crate) mod characters;
mod finding;
mod international;
mod known;
mod label;
mod lists;
mod lookalike;
mod name;
mod parameter;
mod path;
mod profile;
mod query;
mod raw;
mod reason;
mod registrable;
mod secret;
mod skeleton;
mod unparseable;
mod url_review;
mod verdict;
mod web;

pub use finding::Finding;
pub use profile::{Profile, ProfileError};
pub use reason::Reason;
pub use url_review::{MAX_URL_BYTES, UrlReview};
pub use verdict::Verdict;

#[cfg(test)]
mod tests;
