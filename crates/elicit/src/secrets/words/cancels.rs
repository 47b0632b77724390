//! Neighbours that cancel: what is asked for is not the secret, but something about it.

/// After a phrase, in the same compound: `ssh_key_name`. Before "of", the same: "Name of the SSH key".
/// The plural with "s" counts, too.
pub(in super::super) const CANCELS_AFTER: &[&str] = &[
    "count",
    "limit",
    "max",
    "min",
    "length",
    "policy",
    "policies",
    "strength",
    "complexity",
    "requirement",
    "rule",
    "name",
    "id",
    "arn",
    "ref",
    "reference",
    "path",
    "file",
    "filename",
    "url",
    "uri",
    "endpoint",
    "env",
    "variable",
    "type",
    "algorithm",
    "generator",
    "size",
    "expiry",
    "expiration",
    "expires",
    "expired",
    "ttl",
    "lifetime",
    "rotation",
    "reset",
    "attempt",
    "retries",
    "scope",
    "label",
    "description",
    "prefix",
    "suffix",
    "review",
    "audit",
    "protected",
    "protection",
    "color",
    "colour",
    "board",
    "map",
    "binding",
    "shortcut",
    "budget",
    "santa",
    "hint",
    "manager",
    "layout",
    "vault",
    "format",
    // German
    "länge",
    "mindestlänge",
    "richtlinie",
    "stärke",
    "hinweis",
    // French, Spanish, Russian
    "longueur",
    "longitud",
    "длина",
];

/// After a phrase only: "Field for your password" asks for the password.
pub(in super::super) const FOLLOWS_ONLY: &[&str] = &["field", "var"];

/// Before "of" only: a `number`, after "card", is the secret.
pub(in super::super) const ABOUT: &[&str] = &[
    "number",
    "amount",
    "maximum",
    "minimum",
    "total",
    "location",
    "purpose",
    "owner",
    "anzahl",
    "zahl",
    "nom",
    "nombre",
    "cantidad",
    "chemin",
    "ruta",
    "имя",
    "название",
];

/// Directly before a phrase, what counts or measures it: `max_tokens`.
pub(in super::super) const QUANTITIES: &[&str] = &["count", "max", "maximum", "min", "minimum", "total", "many"];

/// Directly before a phrase in Russian, which has no "of": "Длина пароля".
pub(in super::super) const GENITIVE_CANCELS: &[&str] =
    &["длина", "количество", "число", "название", "сложность", "политика", "срок", "тип"];

/// Directly before a bare `key` or `token`: a `primary_key` opens nothing.
pub(in super::super) const CANCELS_BEFORE_KEY: &[&str] = &[
    "limit",
    "public",
    "primary",
    "foreign",
    "partition",
    "sort",
    "unique",
    "composite",
    "index",
    "cache",
    "map",
    "word",
    "color",
    "board",
    "shortcut",
    "binding",
];

/// What follows a stem in one word, besides [`CANCELS_AFTER`]: `Passwortlänge`.
pub(in super::super) const COMPOUND_CANCELS: &[&str] = &[
    "regel",
    "ablauf",
    "alter",
    "änderung",
    "anzahl",
    "datei",
    "generator",
    "geschützt",
    "gültigkeit",
    "komplexität",
    "pfad",
    "rücksetz",
    "schutz",
    "sicherheit",
    "typ",
    "verwaltung",
    "versuch",
    "wechsel",
    "zurück",
];
