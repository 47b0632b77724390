//! The words between the words.

/// Words that a person reads over.
pub(in super::super) const FILLERS: &[&str] = &[
    "your", "my", "the", "a", "an", "enter", "please", "new", "old", "current", "our", "their", "this", "user", "ihr",
    "ihre", "dein", "deine", "mein", "meine", "votre", "ton", "mon", "su", "tu", "mi", "ваш", "мой",
];

/// Articles, read over as well.
pub(in super::super) const ARTICLES: &[&str] = &["la", "le", "les", "l", "el", "los", "las", "das", "die", "den"];

/// "of" in languages that have it inside of names: `mot de passe`. Read over, but that "Longitud de la
/// contraseña" is a length.
pub(in super::super) const GENITIVES: &[&str] = &["de", "du", "des", "del", "der", "d"];

/// Words after which another thing begins: "Password in the file system" asks for no file.
pub(in super::super) const BREAKS: &[&str] = &[
    "in", "on", "with", "and", "or", "by", "at", "is", "used", "that", "und", "oder", "mit", "et", "ou", "avec", "y",
    "o", "con", "en", "и", "или",
];

/// Such words after which it says whose or what for: a "token from GitHub" is a token.
pub(in super::super) const NAMING: &[&str] =
    &["for", "of", "from", "für", "von", "vom", "zum", "pour", "para", "для", "от"];

/// Such words that make what stands before them the topic: "Name of your API key" asks for a name.
pub(in super::super) const LEADING: &[&str] = &["of", "to", "for", "für", "von", "vom", "zum", "pour", "para", "для"];

/// Before a number, these say how long the answer is: "Password max length 64".
pub(in super::super) const MEASURES: &[&str] = &["min", "max", "minimum", "maximum", "length", "size", "limit"];

/// Of these, what ends in a full stop.
pub(in super::super) const ABBREVIATED: &[&str] = &["min", "max"];
