//! Which language a page is in: what the person chose, else what the browser asks for, else English.

use http::{HeaderMap, header};

/// The languages the pages are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    /// English.
    English,
    /// Simplified Chinese.
    Chinese,
}

impl Language {
    /// All of them, in the order of the switch.
    pub(crate) const ALL: [Self; 2] = [Self::English, Self::Chinese];

    /// The tag for the `lang` attribute, the cookie and the operator's texts.
    pub(crate) fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Chinese => "zh-CN",
        }
    }

    /// What the language calls itself.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::English => "English",
            Self::Chinese => "中文",
        }
    }

    /// The language of a tag such as `zh-Hans-CN` or `en-GB`: its first part decides.
    pub(crate) fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("en") {
            Some(Self::English)
        } else if primary.eq_ignore_ascii_case("zh") {
            Some(Self::Chinese)
        } else {
            None
        }
    }

    /// Chooses: the value of `?lang=`, then the cookie's, then `Accept-Language` (RFC 9110, section 12.5.4).
    pub(crate) fn choose(query: Option<&str>, cookie: Option<&str>, headers: &HeaderMap) -> Self {
        query
            .and_then(Self::of_tag)
            .or_else(|| cookie.and_then(Self::of_tag))
            .or_else(|| accepted(headers))
            .unwrap_or(Self::English)
    }
}

/// The language with the highest weight in `Accept-Language`; the earlier one where weights are equal.
fn accepted(headers: &HeaderMap) -> Option<Language> {
    let mut best: Option<(u16, Language)> = None;
    for value in headers.get_all(header::ACCEPT_LANGUAGE) {
        for range in value.to_str().unwrap_or_default().split(',') {
            let mut parts = range.split(';').map(str::trim);
            let Some(language) = parts.next().and_then(Language::of_tag) else {
                continue;
            };
            let weight = parts.find_map(|part| part.strip_prefix("q=")).map_or(1000, thousandths);
            if weight > best.map_or(0, |(weight, _)| weight) {
                best = Some((weight, language));
            }
        }
    }
    best.map(|(_, language)| language)
}

/// A weight such as `0.8` in thousandths; what is no weight counts as none.
fn thousandths(weight: &str) -> u16 {
    let (whole, fraction) = weight.split_once('.').unwrap_or((weight, ""));
    if whole == "1" {
        return 1000;
    }
    if whole != "0" || fraction.len() > 3 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return 0;
    }
    format!("{fraction:0<3}").parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asking(value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT_LANGUAGE, value.parse().unwrap());
        headers
    }

    #[test]
    fn the_browsers_weights_decide() {
        for (value, language) in [
            ("zh-CN,zh;q=0.9,en;q=0.8", Language::Chinese),
            ("en-GB,en;q=0.9,zh;q=0.8", Language::English),
            ("fr, zh;q=0.5, en;q=0.7", Language::English),
            ("de;q=1, zh-Hant-TW;q=0.1", Language::Chinese),
            ("zh;q=0, en;q=0.1", Language::English),
            ("zh;q=nonsense", Language::English),
            ("*", Language::English),
        ] {
            assert_eq!(Language::choose(None, None, &asking(value)), language, "{value}");
        }
    }

    #[test]
    fn the_persons_choice_goes_before_the_browser() {
        let headers = asking("en");
        assert_eq!(Language::choose(None, Some("zh-CN"), &headers), Language::Chinese);
        assert_eq!(Language::choose(Some("en"), Some("zh-CN"), &headers), Language::English);
        assert_eq!(Language::choose(Some("<script>"), None, &headers), Language::English);
    }
}
