//! Links in a text.

mod host;
mod scheme;

use std::ops::Range;

use host::is_host;
use scheme::opens;

/// The parts of `text` that a terminal, a page or a chat could make clickable, in order (R-FORM-08, R-FORM-09). No
/// verdict on where they lead: that is the review of URLs.
///
/// A link is
/// - a scheme of two letters or more, `://` and something after it;
/// - one of the schemes that programs open without slashes (`mailto:`, `javascript:`, `data:`, `tel:`, `ms-…:`,
///   `steam:` and a few dozen) with something after it that fits;
/// - `www.` and a name;
/// - a host name under a known top-level domain with a path, a query, a fragment or a port: `example.com/login`;
/// - a bare host name under a known top-level domain: `example.com`, `EXAMPLE.ORG`, `example.dev`, `example.co.id`.
///
/// Bare names are left alone where they look like something else:
/// - a file: the top-level domain is also the end of a file's name (`main.rs`, `config.py`, `README.md`, `setup.sh`,
///   `a.zip`);
/// - a field or a permission: it is also a usual word for one (`user.name`, `order.id`, `files.read`);
/// - a product or a slip of the pen: capitals in it and small letters before, or no letter before (`Socket.IO`,
///   `ASP.NET`, `Done.It`, `7.am`); only com, org, edu and gov are found in any case;
/// - a package: it begins with a top-level domain and does not end in com, org, net, edu or gov (`com.example.app`).
///
/// None are `e.g.`, `and/or`, `3.5`, `10.0.0.0/8`, `Node.js`, and addresses of mail without `mailto:`, which may be the
/// default of a field. A list of files such as `main.rs/lib.rs` is taken for one, since rs is a country.
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
