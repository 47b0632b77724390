//! German, French, Spanish, Russian, and what is unmistakable of others. Marks may be left out, and
//! umlauts spelt out; articles between the words are read over.

use super::super::Strength::Strong;
use super::super::phrases::Sort::{Digits, Text};
use super::Listed;

pub(in super::super) const GERMAN: &[Listed] = &[
    ("passwort", Strong, Text),
    ("passwörter", Strong, Text),
    ("kennwort", Strong, Text),
    ("kennwörter", Strong, Text),
    ("losungswort", Strong, Text),
    ("zugangsdaten", Strong, Text),
    ("anmeldedaten", Strong, Text),
    ("api schlüssel", Strong, Text),
    ("geheimschlüssel", Strong, Text),
    ("geheimer schlüssel", Strong, Text),
    ("privater schlüssel", Strong, Text),
    ("zugriffsschlüssel", Strong, Text),
    ("zugriffstoken", Strong, Text),
    ("geheimzahl", Strong, Digits),
    ("kartennummer", Strong, Digits),
    ("bestätigungscode", Strong, Digits),
    ("sicherheitscode", Strong, Digits),
];

pub(in super::super) const FRENCH: &[Listed] = &[
    ("mot de passe", Strong, Text),
    ("mots de passe", Strong, Text),
    ("mdp", Strong, Text),
    ("clé api", Strong, Text),
    ("clés api", Strong, Text),
    ("clé secrète", Strong, Text),
    ("clés secrètes", Strong, Text),
    ("clé privée", Strong, Text),
    ("clés privées", Strong, Text),
    ("clé d accès", Strong, Text),
    ("clés d accès", Strong, Text),
    ("jeton d accès", Strong, Text),
    ("phrase secrète", Strong, Text),
    ("code de vérification", Strong, Digits),
    ("code de sécurité", Strong, Digits),
    ("numéro de carte", Strong, Digits),
];

pub(in super::super) const SPANISH: &[Listed] = &[
    ("contraseña", Strong, Text),
    ("contraseñas", Strong, Text),
    ("clave api", Strong, Text),
    ("claves api", Strong, Text),
    ("clave secreta", Strong, Text),
    ("clave privada", Strong, Text),
    ("clave de acceso", Strong, Text),
    ("token de acceso", Strong, Text),
    ("frase semilla", Strong, Text),
    ("código de verificación", Strong, Digits),
    ("código de seguridad", Strong, Digits),
    ("número de tarjeta", Strong, Digits),
];

pub(in super::super) const RUSSIAN: &[Listed] = &[
    ("секрет", Strong, Text),
    ("секретный ключ", Strong, Text),
    ("закрытый ключ", Strong, Text),
    ("ключ доступа", Strong, Text),
    ("ключи доступа", Strong, Text),
    ("ключ api", Strong, Text),
    ("api ключ", Strong, Text),
    ("токен доступа", Strong, Text),
    ("кодовая фраза", Strong, Text),
    ("код подтверждения", Strong, Digits),
    ("номер карты", Strong, Digits),
    ("номер банковской карты", Strong, Digits),
    ("номер кредитной карты", Strong, Digits),
];

pub(in super::super) const OTHER_LANGUAGES: &[Listed] = &[
    // Portuguese
    ("senha", Strong, Text),
    ("senhas", Strong, Text),
];

/// What compounds in one word end in: `Benutzerpasswort`, `dbpassword`.
pub(in super::super) const ENDINGS: &[Listed] = &[
    ("passwort", Strong, Text),
    ("passwörter", Strong, Text),
    ("kennwort", Strong, Text),
    ("kennwörter", Strong, Text),
    ("kartennummer", Strong, Digits),
    ("password", Strong, Text),
];

/// What compounds in one word begin with, and words in their cases: `Passwortbestätigung`, `пароля`.
pub(in super::super) const STEMS: &[Listed] =
    &[("passwort", Strong, Text), ("kennwort", Strong, Text), ("парол", Strong, Text)];
