//! As much of reading HTML as our own pages need: their heading, their fault, their forms.

/// A form, with the values that it carries by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Form {
    /// Where it goes.
    pub(super) action: String,
    /// Names and values of its hidden fields.
    pub(super) hidden: Vec<(String, String)>,
}

/// The first form of the page that goes to `action`.
pub(super) fn form(html: &str, action: &str) -> Option<Form> {
    let start = html.find(&format!("<form method=\"post\" action=\"{action}\""))?;
    let inside = html[start..].split("</form>").next()?;
    let hidden = inside
        .split("<input ")
        .skip(1)
        .filter_map(|rest| rest.split('>').next())
        .filter(|tag| attribute(tag, "type").as_deref() == Some("hidden"))
        .filter_map(|tag| Some((attribute(tag, "name")?, attribute(tag, "value")?)))
        .collect();
    Some(Form { action: action.to_owned(), hidden })
}

/// The text of the page's heading.
pub(super) fn heading(html: &str) -> Option<String> {
    between(html, "<h1>", "</h1>")
}

/// What the page says is wrong, in its box of faults.
pub(super) fn problem(html: &str) -> Option<String> {
    between(&html[html.find("role=\"alert\"")?..], "<li>", "</li>")
}

fn between(html: &str, start: &str, end: &str) -> Option<String> {
    let (inside, _) = html.split_once(start)?.1.split_once(end)?;
    Some(text(inside))
}

fn attribute(tag: &str, name: &str) -> Option<String> {
    let (_, rest) = tag.split_once(&format!("{name}=\""))?;
    Some(unescape(rest.split('"').next()?))
}

/// Text without its tags.
fn text(html: &str) -> String {
    let mut outside =
        html.split('<').map(|part| part.split_once('>').map_or(part, |(_, after)| after)).collect::<String>();
    outside = unescape(&outside);
    outside.trim().to_owned()
}

/// The references that our pages write.
fn unescape(text: &str) -> String {
    let text = text.replace("&lt;", "<").replace("&#60;", "<").replace("&gt;", ">").replace("&#62;", ">");
    let text = text.replace("&quot;", "\"").replace("&#34;", "\"").replace("&#39;", "'");
    // Last, so that what it makes is not read as a reference again.
    text.replace("&amp;", "&").replace("&#38;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<form method="post" action="/logout"><input type="hidden" name="csrf" value="out"></form>
<div class="problem" role="alert"><h2>Look</h2><ul>
<li>The provider said &#34;no&#34; &amp;amp; more</li></ul></div>
<h1>Connect <bdi>weather</bdi></h1>
<form method="post" action="/connect/AB" autocomplete="off"><input type="hidden" name="csrf" value="a&#38;b">
<input id="field-api_key" name="api_key" type="password"><button name="action" value="connect">Connect</button></form>"#;

    #[test]
    fn a_form_is_found_by_where_it_goes() {
        let form = form(PAGE, "/connect/AB").unwrap();
        assert_eq!(form.hidden, [("csrf".to_owned(), "a&b".to_owned())]);
        assert_eq!(super::form(PAGE, "/logout").unwrap().hidden[0].1, "out");
        assert_eq!(super::form(PAGE, "/connect/A"), None);
    }

    #[test]
    fn the_heading_and_the_fault_are_read_as_text() {
        assert_eq!(heading(PAGE).unwrap(), "Connect weather");
        assert_eq!(problem(PAGE).unwrap(), "The provider said \"no\" &amp; more");
        assert_eq!(problem("<h1>Fine</h1><li>x</li>"), None);
    }
}
