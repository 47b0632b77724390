//! Links in a text.

use std::ops::Range;

/// The parts of `text` that a terminal, a page or a chat could make clickable, in order (R-FORM-08, R-FORM-09). No
/// verdict on where they lead: that is the review of URLs.
///
/// A link is
/// - a scheme of two letters or more, `://` and something after it;
/// - one of the schemes that open without slashes (`mailto:`, `javascript:`, `data:`, `tel:`, `ms-…:` and a few) with
///   something after it that fits;
/// - `www.` and a name;
/// - a host name under a known top-level domain with a path, a query, a fragment or a port: `example.com/login`;
/// - a bare host name under com, org, net, edu or gov: `example.com`.
///
/// None are `e.g.`, `and/or`, `3.5`, `10.0.0.0/8`, `Node.js`, `README.md`, `ASP.NET`, `user.name`, and addresses of mail
/// without `mailto:`, which may be the default of a field. A list of files such as `main.rs/lib.rs` is taken for one,
/// since rs is a country.
///
/// A link ends at white space, a control, a quotation mark, `<` or `>`, without the punctuation before that: two with
/// only a comma between them are one.
pub fn links(text: &str) -> Links<'_> {
    Links { text, read: 0 }
}

/// The iterator of [`links`].
#[derive(Clone, Debug)]
pub struct Links<'a> {
    text: &'a str,
    /// The bytes of `text` that are done.
    read: usize,
}

impl<'a> Iterator for Links<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        loop {
            let run = next_run(self.text, self.read)?;
            let link = link_at(self.text, &run);
            self.read = link.as_ref().map_or(run.end, |link| link.end.max(run.end));
            if let Some(link) = link.and_then(|link| self.text.get(link)) {
                return Some(link);
            }
        }
    }
}

/// The longest host name in its textual form.
const LONGEST_HOST: usize = 253;

/// The next letters, digits and joining punctuation at or after byte `from`.
fn next_run(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let start = rest.find(is_in_run)?;
    let length = rest.get(start..)?.find(|character| !is_in_run(character)).unwrap_or(rest.len() - start);
    Some(from + start..from + start + length)
}

fn is_in_run(character: char) -> bool {
    matches!(character, '.' | '-' | '_' | '+' | '@') || character.is_alphanumeric()
}

/// The link that begins in `run`.
fn link_at(text: &str, run: &Range<usize>) -> Option<Range<usize>> {
    let (before, word, after) = (text.get(..run.start)?, text.get(run.clone())?, text.get(run.end..)?);
    let ascii = ascii_end(word);
    let scheme = ascii.trim_start_matches(|character: char| !character.is_ascii_alphabetic());
    if opens(scheme, after) {
        let start = run.end - scheme.len();
        return Some(start..start + length_of_link(text.get(start..)?));
    }
    let is_web = |name: &str| {
        name.get(..4).is_some_and(|www| www.eq_ignore_ascii_case("www."))
            && name.get(4..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
    };
    if is_web(ascii) {
        let start = run.end - ascii.len();
        return Some(start..start + length_of_link(text.get(start..)?));
    }
    // A name after a slash is a part of a path, but for a link that leaves out its scheme.
    if (before.ends_with(['/', '\\']) && !before.ends_with("//")) || word.contains('@') {
        return None;
    }
    let name = [ascii, word].into_iter().find(|name| is_host(name, after))?;
    let start = run.end - name.len() + (name.len() - name.trim_start_matches(['.', '-', '_', '+']).len());
    Some(start..start + length_of_link(text.get(start..)?))
}

/// The part of `word` after its last character that is not ASCII: `https` of a word that began in another script.
fn ascii_end(word: &str) -> &str {
    let start = word.char_indices().rev().find(|(_, character)| !character.is_ascii());
    start.and_then(|(start, character)| word.get(start + character.len_utf8()..)).unwrap_or(word)
}

/// Whether `scheme` and then `after` is a link.
fn opens(scheme: &str, after: &str) -> bool {
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
        "http" | "https" | "ftp" | "ftps" | "ws" | "wss" | "file" => {
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
        other => other.starts_with("ms-"),
    }
}

/// Whether `name` is a host name that would be clickable before `after`.
fn is_host(name: &str, after: &str) -> bool {
    let ended = name.ends_with(['.', '-', '_', '+']);
    let name = name.trim_matches(['.', '-', '_', '+']);
    let Some((labels, top)) = name.rsplit_once('.') else {
        return false;
    };
    if name.len() > LONGEST_HOST || !labels.split('.').all(is_label) || !top.starts_with(char::is_alphabetic) {
        return false;
    }
    let mut following = after.chars();
    let goes_on = match following.next().filter(|_| !ended) {
        Some('/') => true,
        Some('?' | '#') => following.next().is_some_and(char::is_alphanumeric),
        Some(':') => following.next().is_some_and(|next| next.is_ascii_digit()),
        _ => false,
    };
    if goes_on {
        return psl::suffix(top.to_lowercase().as_bytes()).is_some_and(|suffix| suffix.is_known());
    }
    // Capitals are common in names of products, such as ASP.NET.
    top.eq_ignore_ascii_case("com") || matches!(top, "org" | "net" | "edu" | "gov")
}

fn is_label(label: &str) -> bool {
    !label.is_empty() && label.chars().all(|character| character.is_alphanumeric() || matches!(character, '-' | '_'))
}

/// Whether no link goes on over `character`.
fn is_end(character: char) -> bool {
    character.is_whitespace() || character.is_control() || matches!(character, '<' | '>' | '"' | '`' | '‹' | '›')
}

/// The bytes of the link that `text` begins with.
fn length_of_link(text: &str) -> usize {
    let link = text.find(is_end).and_then(|end| text.get(..end)).unwrap_or(text);
    link.trim_end_matches(|last: char| ".,;:!?'*)]}。，、；：！？）」』】》’”".contains(last)).len()
}

#[cfg(test)]
mod tests;
