//! Schemes, and what has to follow them.

use super::is_end;

/// Schemes of programs that are installed on many computers and telephones, sorted; those of files and mail, and of
/// scripts, are in [`opens`].
const APPLICATIONS: &[&str] = &[
    "about",
    "bitcoin",
    "blob",
    "calculator",
    "cursor",
    "discord",
    "ethereum",
    "facetime-audio",
    "feed",
    "figma",
    "intent",
    "itms",
    "itms-apps",
    "itms-services",
    "jar",
    "lightning",
    "litecoin",
    "microsoft-edge",
    "monero",
    "msteams",
    "notion",
    "obsidian",
    "onenote",
    "shell",
    "shortcuts",
    "sip",
    "sips",
    "skype",
    "slack",
    "spotify",
    "steam",
    "tg",
    "viber",
    "vscode",
    "vscode-insiders",
    "webcal",
    "whatsapp",
    "xmpp",
    "zoommtg",
    "zoomus",
];

/// Whether `scheme` and then `after` is a link.
pub(super) fn opens(scheme: &str, after: &str) -> bool {
    let Some(after) = after.strip_prefix(':') else {
        return false;
    };
    let is_scheme = scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.'));
    if scheme.len() < 2 || !is_scheme || !after.starts_with(|first| !is_end(first)) {
        return false;
    }
    if let Some(place) = after.strip_prefix("//") {
        return place.starts_with(|first| !is_end(first));
    }
    match scheme.to_ascii_lowercase().as_str() {
        "http" | "https" | "ftp" | "ftps" | "ws" | "wss" | "file" | "ssh" | "sftp" | "telnet" | "ldap" | "ldaps"
        | "smb" | "rdp" | "vnc" | "irc" | "ircs" => {
            // Digits are a port: `ssh:22`.
            after.starts_with(|first: char| matches!(first, '/' | '\\') || first.is_alphabetic())
        }
        "tel" | "sms" | "callto" | "facetime" | "geo" => {
            after.starts_with(|first: char| first == '+' || first.is_ascii_digit())
        }
        "data" => after
            .trim_start_matches(|part: char| part.is_ascii_alphanumeric() || matches!(part, '+' | '-' | '.'))
            .starts_with(['/', ',', ';']),
        "magnet" => after.starts_with('?'),
        "mailto" | "javascript" | "vbscript" | "search-ms" | "view-source" => true,
        other => {
            let known = APPLICATIONS.binary_search(&other).is_ok()
                || ["ms-", "web+", "x-apple"].iter().any(|family| other.starts_with(family));
            known && after.starts_with(|first: char| first.is_alphanumeric() || "/?#@+%_-".contains(first))
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_schemes_are_sorted() {
        assert!(super::APPLICATIONS.is_sorted_by(|a, b| a < b));
    }
}
