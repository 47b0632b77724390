//! A reader for the HTML of our own pages; it is no browser.

pub(super) type Attributes = Vec<(String, String)>;

pub(super) fn attribute<'a>(attributes: &'a [(String, String)], name: &str) -> Option<&'a str> {
    attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

#[derive(Debug)]
pub(super) enum Piece {
    Open { name: String, attributes: Attributes },
    Close(String),
    Text(String),
}

pub(super) fn pieces(html: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = html;
    while !rest.is_empty() {
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
        } else if let Some(tag) = rest.strip_prefix('<') {
            let end = tag_end(tag);
            let inside = tag[..end].trim_end_matches('/');
            rest = tag.get(end + 1..).unwrap_or_default();
            if let Some(name) = inside.strip_prefix('/') {
                pieces.push(Piece::Close(name.trim().to_ascii_lowercase()));
            } else if !inside.starts_with('!') {
                let (name, attributes) = open_tag(inside);
                // What they hold is no HTML.
                if name == "script" || name == "style" {
                    let close = format!("</{name}");
                    rest = rest.find(&close).map_or("", |at| &rest[at..]);
                }
                pieces.push(Piece::Open { name, attributes });
            }
        } else {
            let end = rest.find('<').unwrap_or(rest.len());
            pieces.push(Piece::Text(unescape(&rest[..end])));
            rest = &rest[end..];
        }
    }
    pieces
}

/// Where a tag ends: at a `>` outside of quotes.
fn tag_end(tag: &str) -> usize {
    let mut quote = None;
    for (at, character) in tag.char_indices() {
        match (quote, character) {
            (None, '>') => return at,
            (None, '"' | '\'') => quote = Some(character),
            (Some(open), _) if open == character => quote = None,
            _ => {}
        }
    }
    tag.len()
}

fn open_tag(inside: &str) -> (String, Attributes) {
    let end = inside.find(char::is_whitespace).unwrap_or(inside.len());
    let name = inside[..end].to_ascii_lowercase();
    let mut attributes = Vec::new();
    let mut rest = inside[end..].trim_start();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c == '=' || c.is_whitespace()).unwrap_or(rest.len());
        let key = rest[..end].to_ascii_lowercase();
        rest = rest[end..].trim_start();
        let mut value = "";
        if let Some(after) = rest.strip_prefix('=') {
            let after = after.trim_start();
            let quote = after.chars().next().filter(|c| *c == '"' || *c == '\'');
            let (start, stop) = match quote {
                Some(quote) => (1, after[1..].find(quote).map_or(after.len(), |at| at + 1)),
                None => (0, after.find(char::is_whitespace).unwrap_or(after.len())),
            };
            value = &after[start..stop];
            rest = after.get(stop + start..).unwrap_or_default().trim_start();
        }
        attributes.push((key, unescape(value)));
    }
    (name, attributes)
}

fn unescape(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        plain.push_str(&rest[..at]);
        rest = &rest[at..];
        let known = rest.find(';').and_then(|end| Some((entity(&rest[1..end])?, end + 1)));
        let (character, length) = known.unwrap_or(('&', 1));
        plain.push(character);
        rest = &rest[length..];
    }
    plain.push_str(rest);
    plain
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some('\u{a0}'),
        "middot" => Some('·'),
        "hellip" => Some('…'),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

pub(super) fn collapse(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a page, without head, scripts and templates.
pub(super) fn text(html: &str) -> String {
    let mut hidden: Option<String> = None;
    let mut found = String::new();
    for piece in pieces(html) {
        match (piece, &hidden) {
            (Piece::Open { name, .. }, None) => {
                if matches!(name.as_str(), "head" | "script" | "style" | "template" | "svg") {
                    hidden = Some(name);
                } else if !matches!(name.as_str(), "b" | "strong" | "em" | "i" | "a" | "span" | "wbr") {
                    found.push(' ');
                }
            }
            (Piece::Close(name), Some(open)) if name == *open => hidden = None,
            (Piece::Text(text), None) => found.push_str(&text),
            _ => {}
        }
    }
    collapse(&found)
}

/// The text of the first element with this name.
pub(super) fn text_of(html: &str, element: &str) -> Option<String> {
    let mut found: Option<String> = None;
    for piece in pieces(html) {
        match piece {
            Piece::Open { name, .. } if name == element => found = Some(String::new()),
            Piece::Text(text) => {
                if let Some(found) = &mut found {
                    found.push_str(&text);
                }
            }
            Piece::Close(name) if name == element => break,
            _ => {}
        }
    }
    found.map(|text| collapse(&text))
}

/// Addresses and texts of the links.
pub(super) fn links(html: &str) -> Vec<(String, String)> {
    let mut links: Vec<(String, String)> = Vec::new();
    let mut inside = false;
    for piece in pieces(html) {
        match piece {
            Piece::Open { name, attributes } if name == "a" => {
                if let Some(address) = attribute(&attributes, "href") {
                    links.push((address.to_owned(), String::new()));
                    inside = true;
                }
            }
            Piece::Close(name) if name == "a" => inside = false,
            Piece::Text(text) if inside => {
                if let Some((_, known)) = links.last_mut() {
                    known.push_str(&text);
                }
            }
            _ => {}
        }
    }
    links.into_iter().map(|(address, text)| (address, collapse(&text))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<!doctype html><html lang="en"><head><title>A &amp; B</title></head><body>
        <!-- <h1>no</h1> --><h1>Connect
        <em>Wea</em>ther</h1><script>if (a < b) {}</script><p title="a > b">1 &lt; 2&#x21;</p>
        <a href="/x?a=1&amp;b=2">Go <b>on</b></a></body></html>"#;

    #[test]
    fn text_is_what_a_person_reads() {
        assert_eq!(text(PAGE), "Connect Weather 1 < 2! Go on");
        assert_eq!(text_of(PAGE, "title").as_deref(), Some("A & B"));
        assert_eq!(text_of(PAGE, "h1").as_deref(), Some("Connect Weather"));
        assert_eq!(text_of(PAGE, "h2"), None);
        assert_eq!(links(PAGE), [("/x?a=1&b=2".to_owned(), "Go on".to_owned())]);
    }
}
