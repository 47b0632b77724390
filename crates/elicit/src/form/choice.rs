/// One choice of a field.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Choice {
    /// What is sent.
    pub value: String,
    /// What a person reads in place of the value.
    pub title: Option<String>,
}

impl Choice {
    /// A choice that a person reads by its value.
    pub fn new(value: impl Into<String>) -> Self {
        Self { value: value.into(), title: None }
    }

    /// A choice that a person reads by its title.
    pub fn titled(value: impl Into<String>, title: impl Into<String>) -> Self {
        Self { value: value.into(), title: Some(title.into()) }
    }

    /// What a person reads: the title, else the value.
    pub fn label(&self) -> &str {
        self.title.as_deref().filter(|title| !title.trim().is_empty()).unwrap_or(&self.value)
    }
}

impl From<&str> for Choice {
    fn from(value: &str) -> Self {
        Self::new(value)
    }
}

impl From<String> for Choice {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

/// Value and title.
impl<V: Into<String>, T: Into<String>> From<(V, T)> for Choice {
    fn from((value, title): (V, T)) -> Self {
        Self::titled(value, title)
    }
}
