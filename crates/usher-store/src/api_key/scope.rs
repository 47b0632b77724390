//! What a key may do.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// One thing that a key may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ApiScope {
    /// Look at the interactions of its server, and wait for them.
    InteractionsRead,
    /// Ask, complete and withdraw them.
    InteractionsWrite,
}

impl ApiScope {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::InteractionsRead, Self::InteractionsWrite];

    /// The name, as commands, rows and challenges have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::InteractionsRead => "interactions:read",
            Self::InteractionsWrite => "interactions:write",
        }
    }
}

impl fmt::Display for ApiScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ApiScope {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == text).ok_or_else(|| {
            let known = Self::ALL.map(Self::as_str).join(" and ");
            format!("there is no scope {text:?}; there are {known}")
        })
    }
}

/// What a key may do, in one order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ApiScopes(BTreeSet<ApiScope>);

impl ApiScopes {
    /// Whether this is among them.
    pub fn allow(&self, scope: ApiScope) -> bool {
        self.0.contains(&scope)
    }

    /// Each of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = ApiScope> {
        self.0.iter().copied()
    }

    /// Reads what [`Display`](fmt::Display) writes, to the letter.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let scopes = Self(text.split(' ').map(str::parse).collect::<Result<_, _>>().ok()?);
        (scopes.to_string() == text).then_some(scopes)
    }
}

impl FromIterator<ApiScope> for ApiScopes {
    fn from_iter<I: IntoIterator<Item = ApiScope>>(scopes: I) -> Self {
        Self(scopes.into_iter().collect())
    }
}

/// With a space between them.
impl fmt::Display for ApiScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.iter().map(ApiScope::as_str).collect();
        f.write_str(&names.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_survive_their_text_in_one_order() {
        let both: ApiScopes = [ApiScope::InteractionsWrite, ApiScope::InteractionsRead].into_iter().collect();
        assert_eq!(both.to_string(), "interactions:read interactions:write");
        assert_eq!(ApiScopes::parse(&both.to_string()), Some(both));
        for text in
            ["", "interactions", "interactions:write interactions:read", "interactions:read  interactions:write"]
        {
            assert_eq!(ApiScopes::parse(text), None, "{text:?}");
        }
        assert!("admin".parse::<ApiScope>().unwrap_err().contains("interactions:write"));
    }
}
