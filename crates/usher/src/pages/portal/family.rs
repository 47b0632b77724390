//! Which browser it is, in words, by what it says of itself. It may say anything: this only helps its owner to tell one from
//! another.

use super::said::shown;
use crate::pages::words::Words;

/// What a browser's own text contains. The first that fits counts, since most name others beside themselves.
const BROWSERS: [(&str, &str); 8] = [
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("SamsungBrowser/", "Samsung Internet"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
];
const SYSTEMS: [(&str, &str); 8] = [
    ("Android", "Android"),
    ("iPhone", "iOS"),
    ("iPad", "iPadOS"),
    ("Windows", "Windows"),
    ("CrOS", "ChromeOS"),
    ("Mac OS X", "macOS"),
    ("Macintosh", "macOS"),
    ("Linux", "Linux"),
];

/// `Firefox on Linux`, or the beginning of what it says.
pub(super) fn family(words: Words, agent: &str) -> String {
    let find =
        |known: &[(&str, &'static str)]| known.iter().find(|(part, _)| agent.contains(part)).map(|(_, name)| *name);
    match (find(&BROWSERS), find(&SYSTEMS)) {
        (Some(browser), Some(system)) => words.say("sessions.family", &[("browser", browser), ("system", system)]),
        (Some(browser), None) => browser.to_owned(),
        _ if agent.is_empty() => words.text("sessions.unknown").to_owned(),
        _ => shown(agent.split(' ').next().unwrap_or_default()).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pages::language::Language;

    #[test]
    fn a_browser_is_called_by_its_family_and_system() {
        for (agent, family_of) in [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 \
                 Safari/537.36 Edg/143.0.0.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) \
                 Version/18.1 Mobile/15E148 Safari/604.1",
                "Safari on iOS",
            ),
            (
                "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/143.0.0.0 Mobile \
                 Safari/537.36",
                "Chrome on Android",
            ),
            ("curl/8.5.0 x", "curl/8.5.0"),
            ("", "A browser that did not say"),
        ] {
            assert_eq!(family(Words::of(Language::English), agent), family_of);
        }
    }
}
