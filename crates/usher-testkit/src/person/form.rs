use http::Method;

use super::html::{Attributes, Piece, attribute, collapse, pieces};

/// A form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Form {
    /// `action` as written; empty for the page itself.
    pub action: String,
    /// GET or POST.
    pub method: Method,
    /// Inputs, text areas and selects in their order, without buttons.
    pub inputs: Vec<Input>,
    /// Submit buttons in their order.
    pub buttons: Vec<Button>,
}

/// An input, text area or select.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its type: `text`, `password`, `hidden`, `checkbox`, …, or `textarea`, `select`.
    pub kind: String,
    /// Its value.
    pub value: String,
    /// Value and text of the options of a select.
    pub options: Vec<(String, String)>,
    /// The text of the `label` that names its id or contains it.
    pub label: Option<String>,
    /// All attributes as written, without entities.
    pub attributes: Vec<(String, String)>,
}

/// A submit button.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Button {
    /// What stands on it.
    pub text: String,
    /// Its name, or the empty string.
    pub name: String,
    /// Its value, or the empty string.
    pub value: String,
    /// `formaction`, if it has one.
    pub action: Option<String>,
}

impl Button {
    pub(super) fn key(&self) -> String {
        if self.text.is_empty() { self.value.clone() } else { self.text.clone() }
    }
}

impl Input {
    /// An attribute; boolean ones are the empty string.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        attribute(&self.attributes, name)
    }
}

impl Form {
    /// The input with this name.
    pub fn input(&self, name: &str) -> Option<&Input> {
        self.inputs.iter().find(|input| input.name == name)
    }

    /// Whether it stands beside the matter of the page: signing out, the language.
    pub fn is_aside(&self) -> bool {
        ["logout", "lang"].iter().any(|word| self.action.contains(word))
    }

    /// The button whose text, value or name is this, else the first whose text contains it; case does not count.
    pub fn button(&self, text: &str) -> Option<&Button> {
        let same = |other: &str| other.to_lowercase() == text.to_lowercase();
        let exact = |button: &&Button| same(&button.text) || same(&button.value) || same(&button.name);
        let partly = |button: &&Button| button.text.to_lowercase().contains(&text.to_lowercase());
        self.buttons.iter().find(exact).or_else(|| self.buttons.iter().find(partly))
    }

    /// What is sent: the form's values, those of `fields` in their place, and the button. Panics for a field that
    /// the form does not have.
    pub(super) fn pairs(&self, button: Option<&Button>, fields: &[(&str, &str)]) -> Vec<(String, String)> {
        for (name, _) in fields {
            assert!(self.input(name).is_some(), "no field {name} in {:?}", self.inputs);
        }
        let mut pairs = Vec::new();
        for input in self.inputs.iter().filter(|input| !input.name.is_empty()) {
            let given = fields.iter().find(|(name, _)| *name == input.name).map(|(_, value)| *value);
            let choice = is_choice(&input.kind);
            let value = match given {
                // Of several choices the one with the value is meant.
                Some(value) if choice => (value == input.value).then_some(value),
                Some(value) => Some(value),
                None if choice => input.attribute("checked").map(|_| input.value.as_str()),
                None => Some(input.value.as_str()),
            };
            if let (Some(value), None) = (value, input.attribute("disabled")) {
                pairs.push((input.name.clone(), value.to_owned()));
            }
        }
        if let Some(button) = button.filter(|button| !button.name.is_empty()) {
            pairs.push((button.name.clone(), button.value.clone()));
        }
        pairs
    }
}

fn is_choice(kind: &str) -> bool {
    matches!(kind, "checkbox" | "radio")
}

/// The forms of a page.
pub(super) fn forms(html: &str) -> Vec<Form> {
    let mut reader = Reader::default();
    for piece in pieces(html) {
        match piece {
            Piece::Open { name, attributes } => reader.open(&name, attributes),
            Piece::Close(name) => reader.close(&name),
            Piece::Text(text) => reader.text(&text),
        }
    }
    reader.finish()
}

#[derive(Debug, Default)]
struct Reader {
    forms: Vec<Form>,
    labels: Vec<Label>,
    inside_form: bool,
    inside_label: bool,
    /// What text belongs to now.
    target: Target,
}

#[derive(Debug, Default)]
struct Label {
    target: Option<String>,
    text: String,
    /// Form and input that the label contains.
    contains: Option<(usize, usize)>,
}

#[derive(Debug, Default)]
enum Target {
    #[default]
    Nothing,
    Button,
    Area,
    Option,
}

impl Reader {
    fn open(&mut self, name: &str, attributes: Attributes) {
        let get = |name: &str| attribute(&attributes, name).map(str::to_owned);
        let button = |text: String| Button {
            text,
            name: get("name").unwrap_or_default(),
            value: get("value").unwrap_or_default(),
            action: get("formaction"),
        };
        let kind = get("type");
        match name {
            "form" => {
                let post = get("method").is_some_and(|method| method.eq_ignore_ascii_case("post"));
                self.forms.push(Form {
                    action: get("action").unwrap_or_default(),
                    method: if post { Method::POST } else { Method::GET },
                    inputs: Vec::new(),
                    buttons: Vec::new(),
                });
                self.inside_form = true;
            }
            "label" => {
                self.labels.push(Label { target: get("for"), ..Label::default() });
                self.inside_label = true;
            }
            "button" if kind.as_deref().is_none_or(|kind| kind == "submit") => {
                self.target = Target::Button;
                let button = button(String::new());
                self.form(|form| form.buttons.push(button));
            }
            "input" if kind.as_deref() == Some("submit") => {
                let button = button(get("value").unwrap_or_default());
                self.form(|form| form.buttons.push(button));
            }
            "input" => {
                let kind = kind.unwrap_or_else(|| "text".to_owned());
                let fallback = if is_choice(&kind) { "on" } else { "" };
                let value = get("value").unwrap_or_else(|| fallback.to_owned());
                self.input(Input { kind, value, attributes, ..Input::default() });
            }
            "textarea" | "select" => {
                self.target = if name == "textarea" { Target::Area } else { Target::Nothing };
                self.input(Input { kind: name.to_owned(), attributes, ..Input::default() });
            }
            "option" => {
                self.target = Target::Option;
                let (value, chosen) = (get("value").unwrap_or_default(), get("selected").is_some());
                self.last_input(|input| {
                    // Without a chosen option the first one counts.
                    if chosen || input.options.is_empty() {
                        value.clone_into(&mut input.value);
                    }
                    input.options.push((value, String::new()));
                });
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "form" => self.inside_form = false,
            "label" => self.inside_label = false,
            "button" | "textarea" | "option" | "select" => self.target = Target::Nothing,
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if let (true, Some(label)) = (self.inside_label, self.labels.last_mut()) {
            label.text.push_str(text);
        }
        match self.target {
            Target::Nothing => {}
            Target::Button => self.form(|form| {
                if let Some(button) = form.buttons.last_mut() {
                    button.text = collapse(&format!("{} {text}", button.text));
                }
            }),
            Target::Area => self.last_input(|input| input.value.push_str(text)),
            Target::Option => self.last_input(|input| {
                if let Some((_, shown)) = input.options.last_mut() {
                    shown.push_str(text.trim());
                }
            }),
        }
    }

    fn form(&mut self, change: impl FnOnce(&mut Form)) {
        if let (true, Some(form)) = (self.inside_form, self.forms.last_mut()) {
            change(form);
        }
    }

    fn last_input(&mut self, change: impl FnOnce(&mut Input)) {
        self.form(|form| {
            if let Some(input) = form.inputs.last_mut() {
                change(input);
            }
        });
    }

    fn input(&mut self, mut input: Input) {
        input.name = input.attribute("name").unwrap_or_default().into();
        let place = self.forms.last().map(|form| (self.forms.len() - 1, form.inputs.len()));
        if let (true, Some(label)) = (self.inside_label, self.labels.last_mut()) {
            label.contains = place;
        }
        self.form(|form| form.inputs.push(input));
    }

    fn finish(mut self) -> Vec<Form> {
        for (at, form) in self.forms.iter_mut().enumerate() {
            for (place, input) in form.inputs.iter_mut().enumerate() {
                let id = input.attribute("id");
                let label = self.labels.iter().find(|label| {
                    label.contains == Some((at, place)) || (id.is_some() && label.target.as_deref() == id)
                });
                input.label = label.map(|label| collapse(&label.text));
            }
        }
        self.forms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r#"<form method="post" action="/connect/1">
        <input type=hidden name=csrf value="a&amp;b">
        <label for="k">API <b>key</b></label><input id="k" type="password" name="api_key" required/>
        <label><input type="checkbox" name="keep" checked> Keep</label>
        <input type="checkbox" name="more" value="yes">
        <textarea name="note">x &lt; y</textarea>
        <select name="region"><option value="eu">Europe<option value="us" selected>America</select>
        <button name="decision" value="connect">Connect</button>
        <button name="decision" value="decline" formaction="/no">Decline</button>
        <button type="button">Show</button></form>"#;

    fn pair(name: &str, value: &str) -> (String, String) {
        (name.to_owned(), value.to_owned())
    }

    #[test]
    fn a_form_is_read_with_labels_values_and_buttons() {
        let forms = forms(PAGE);
        let form = &forms[0];
        assert_eq!((form.method.as_str(), form.action.as_str()), ("POST", "/connect/1"));
        let key = form.input("api_key").unwrap();
        assert_eq!((key.kind.as_str(), key.label.as_deref()), ("password", Some("API key")));
        assert_eq!(key.attribute("required"), Some(""));
        assert_eq!(form.input("keep").unwrap().label.as_deref(), Some("Keep"));
        assert_eq!(form.input("region").unwrap().options.len(), 2);
        let texts: Vec<_> = form.buttons.iter().map(|button| button.text.as_str()).collect();
        assert_eq!(texts, ["Connect", "Decline"]);
        assert_eq!(form.button("decline").unwrap().action.as_deref(), Some("/no"));
    }

    #[test]
    fn a_form_sends_what_a_browser_would() {
        let form = forms(PAGE).remove(0);
        let sent = form.pairs(form.button("connect"), &[("api_key", "k"), ("more", "yes")]);
        let expected = [
            pair("csrf", "a&b"),
            pair("api_key", "k"),
            pair("keep", "on"),
            pair("more", "yes"),
            pair("note", "x < y"),
            pair("region", "us"),
            pair("decision", "connect"),
        ];
        assert_eq!(sent, expected);
    }
}
