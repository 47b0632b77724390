//! The keyword `format` of JSON Schema, as far as forms of MCP have it.

mod date;
mod email;
mod uri;

/// A format that answers are checked for (R-FORM-01, R-FORM-06). Others are known to nobody here,
/// and so are not checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// A mailbox of RFC 5321, section 4.1.2: ASCII, with a quoted local part or an address in
    /// brackets where one wants. A domain need not have a dot, as in `user@localhost`. Letters
    /// outside of ASCII are another format of JSON Schema, `idn-email`.
    Email,
    /// A URI of RFC 3986, section 3: with a scheme, and ASCII. Whether the scheme allows what
    /// follows it, and whether it is safe to open, is not asked.
    Uri,
    /// A `full-date` of RFC 3339, section 5.6.
    Date,
    /// A `date-time` of RFC 3339, section 5.6, with its offset. A second 60 has to end a month of
    /// UTC (section 5.7); in which months there was one is not asked.
    DateTime,
}

impl Format {
    /// The format of this name; `None` for all others.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "email" => Some(Self::Email),
            "uri" => Some(Self::Uri),
            "date" => Some(Self::Date),
            "date-time" => Some(Self::DateTime),
            _ => None,
        }
    }

    /// The name in a schema.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Email => "email",
            Self::Uri => "uri",
            Self::Date => "date",
            Self::DateTime => "date-time",
        }
    }

    /// Whether `value` has the format. Takes time linear in it and allocates nothing.
    pub fn accepts(self, value: &str) -> bool {
        match self {
            Self::Email => email::is_mailbox(value),
            Self::Uri => uri::is_uri(value),
            Self::Date => date::is_full_date(value.as_bytes()),
            Self::DateTime => date::is_date_time(value.as_bytes()),
        }
    }

    /// What a person is to write, as the rest of "this has to be …".
    pub fn expected(self) -> &'static str {
        match self {
            Self::Email => "an e-mail address such as name@example.com",
            Self::Uri => "a complete address such as https://example.com/page",
            Self::Date => "a date such as 2026-02-28",
            Self::DateTime => "a date and time with its offset such as 2026-02-28T14:30:00+01:00",
        }
    }
}

#[cfg(test)]
mod tests;
