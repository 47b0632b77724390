//! Walks a parsed TOML document, knows where everything stands, and collects the faults.

use std::cell::RefCell;
use std::ops::{Range, RangeInclusive};
use std::path::{Path, PathBuf};

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::fault::{Fault, Faults};
use super::places;

/// A value is wrong, and a fault says so already.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported;

/// A TOML text after parsing, with the syntax errors met on the way.
pub(super) struct Document<'t> {
    table: Spanned<DeTable<'t>>,
    errors: Vec<toml::de::Error>,
}

impl<'t> Document<'t> {
    pub(super) fn parse(text: &'t str) -> Self {
        let (table, errors) = DeTable::parse_recoverable(text);
        Self { table, errors }
    }

    /// Reads the document from its root. With a syntax error nothing else is read: what the parser
    /// recovers would bring faults that are not there. A key given twice does no such harm.
    pub(super) fn read<T>(&self, reader: &Reader<'_>, root: impl FnOnce(&Table<'_>) -> Option<T>) -> Option<T> {
        self.read_as(reader, "", root)
    }

    /// The same of a document whose root has the keys of the section at `path`.
    pub(super) fn read_as<T>(
        &self,
        reader: &Reader<'_>,
        path: &str,
        root: impl FnOnce(&Table<'_>) -> Option<T>,
    ) -> Option<T> {
        let mut garbled = false;
        for error in &self.errors {
            let duplicate = error.message() == "duplicate key";
            garbled |= !duplicate;
            let fix = if duplicate {
                "keep one of them; tables that may stand several times are written [[provider]], [[upstream]]"
            } else {
                "text stands in quotes, tables in [brackets]; see docs/configuration.md"
            };
            // The message names what was expected and never quotes the file, where a secret may stand.
            let start = error.span().map_or(0, |span| span.start);
            reader.fault("", start, error.message(), fix);
        }
        if garbled {
            return None;
        }
        let table = Table {
            reader,
            path: path.to_owned(),
            start: self.table.span().start,
            entries: self.table.get_ref(),
            known: RefCell::new(Vec::new()),
        };
        let value = root(&table);
        table.close();
        value
    }
}

/// The file being read: its name, its text, and the faults so far.
pub(super) struct Reader<'e> {
    file: PathBuf,
    directory: PathBuf,
    text: String,
    env: &'e dyn Fn(&str) -> Option<String>,
    secrets: Secrets,
    faults: RefCell<Vec<Fault>>,
}

/// Whether a secret that stands elsewhere must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Secrets {
    /// It is needed.
    Needed,
    /// What is asked for can be had without it, so that its absence is no fault.
    Spared,
}

impl<'e> Reader<'e> {
    pub(super) fn new(file: &Path, text: &str, env: &'e dyn Fn(&str) -> Option<String>, secrets: Secrets) -> Self {
        let directory = match file.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        Self {
            file: file.to_owned(),
            directory: std::path::absolute(&directory).unwrap_or(directory),
            text: text.to_owned(),
            env,
            secrets,
            faults: RefCell::new(Vec::new()),
        }
    }

    /// The path of the file itself, as its folder and its name.
    pub(super) fn path(&self) -> PathBuf {
        self.directory.join(self.file.file_name().unwrap_or_default())
    }

    /// The folder of the file, absolute where the system tells.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(super) fn env(&self, name: &str) -> Option<String> {
        (self.env)(name)
    }

    /// Whether a secret that cannot be had is no fault.
    pub(super) fn spares_secrets(&self) -> bool {
        self.secrets == Secrets::Spared
    }

    /// Leaves a fault for the key at `path`, at a byte of the text.
    pub(super) fn fault(&self, path: &str, start: usize, message: impl Into<String>, fix: impl Into<String>) {
        let before = self.text.get(..start).unwrap_or(&self.text);
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        self.faults.borrow_mut().push(Fault {
            file: self.file.clone(),
            line: 1 + before.matches('\n').count(),
            column: 1 + before[line_start..].trim_start_matches('\u{feff}').chars().count(),
            path: path.to_owned(),
            message: message.into(),
            fix: fix.into(),
        });
    }

    /// The value if no fault was found, else all faults by line.
    pub(super) fn finish<T>(self, value: Option<T>) -> Result<T, Faults> {
        let mut faults = self.faults.into_inner();
        if faults.is_empty()
            && let Some(value) = value
        {
            return Ok(value);
        }
        faults.sort_by(|a, b| (a.line, a.column, &a.path).cmp(&(b.line, b.column, &b.path)));
        Err(Faults(faults))
    }
}

/// A value with its place and its path.
#[derive(Clone)]
pub(super) struct Node<'r> {
    reader: &'r Reader<'r>,
    path: String,
    span: Range<usize>,
    value: &'r DeValue<'r>,
}

impl<'r> Node<'r> {
    pub(super) fn reader(&self) -> &'r Reader<'r> {
        self.reader
    }

    /// Leaves a fault at this value.
    pub(super) fn fault(&self, message: impl Into<String>, fix: impl Into<String>) {
        self.reader.fault(&self.path, self.span.start, message, fix);
    }

    fn wrong_type<T>(&self, expected: &str, fix: impl Into<String>) -> Option<T> {
        let found = match self.value.type_str() {
            found @ ("integer" | "array") => format!("an {found}"),
            found => format!("a {found}"),
        };
        self.fault(format!("expected {expected}, found {found}"), fix);
        None
    }

    /// The string of a key, if this is a table that has one: a look ahead, after which the key is read as usual.
    pub(super) fn peek(&self, key: &str) -> Option<&'r str> {
        self.value.as_table()?.get(key)?.get_ref().as_str()
    }

    pub(super) fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// The string, if it is one: a look ahead.
    pub(super) fn text(&self) -> Option<&'r str> {
        self.value.as_str()
    }

    pub(super) fn is_array(&self) -> bool {
        self.value.is_array()
    }

    pub(super) fn is_empty_array(&self) -> bool {
        self.value.as_array().is_some_and(|array| array.is_empty())
    }

    /// A string. `example` completes the fix: what a right value looks like.
    pub(super) fn string(&self, example: &str) -> Option<&'r str> {
        match self.value.as_str() {
            Some(text) => Some(text),
            None => self.wrong_type("a string", format!("write it in quotes, for example {example}")),
        }
    }

    pub(super) fn boolean(&self) -> Option<bool> {
        match self.value.as_bool() {
            Some(value) => Some(value),
            None => self.wrong_type("true or false", "write true or false, without quotes"),
        }
    }

    /// A positive integer.
    pub(super) fn integer(&self, example: &str) -> Option<u64> {
        let fix = format!("for example {example}");
        let Some(value) = self.value.as_integer() else {
            return self.wrong_type("an integer", fix);
        };
        let value = u64::from_str_radix(value.as_str(), value.radix());
        if value.is_err() {
            self.fault("expected a positive integer, found another", fix);
        }
        value.ok()
    }

    /// A count in a range.
    pub(super) fn count(&self, range: RangeInclusive<u32>) -> Option<u32> {
        let value = self.integer("100")?;
        let count = u32::try_from(value).ok().filter(|count| range.contains(count));
        if count.is_none() {
            let fix = format!("choose between {} and {}", range.start(), range.end());
            self.fault(format!("{value} is out of range"), fix);
        }
        count
    }

    /// The elements of an array.
    pub(super) fn array(&self, example: &str) -> Option<Vec<Self>> {
        let Some(array) = self.value.as_array() else {
            return self.wrong_type("an array", format!("for example {example}"));
        };
        let element = |(index, value): (usize, &'r Spanned<DeValue<'r>>)| Self {
            reader: self.reader,
            path: format!("{}[{index}]", self.path),
            span: value.span(),
            value: value.get_ref(),
        };
        Some(array.iter().enumerate().map(element).collect())
    }

    /// The tables of an array of tables, `[[name]]`. Elements of another type leave a fault.
    pub(super) fn tables(&self, name: &str) -> Vec<Table<'r>> {
        if self.is_table() {
            self.fault(
                "expected an array of tables, found a table",
                format!("write [[{name}]] with two brackets: it may stand several times"),
            );
            return Vec::new();
        }
        let nodes = self.array(&format!("[[{name}]]")).unwrap_or_default();
        nodes.iter().filter_map(|node| node.table(&format!("[[{name}]]"))).collect()
    }

    /// A table. The caller asks for the keys it knows and then [closes](Table::close) it.
    pub(super) fn table(&self, example: &str) -> Option<Table<'r>> {
        match self.value.as_table() {
            Some(entries) => Some(Table {
                reader: self.reader,
                path: self.path.clone(),
                start: self.span.start,
                entries,
                known: RefCell::new(Vec::new()),
            }),
            None => self.wrong_type("a table", format!("for example {example}")),
        }
    }
}

/// A table whose keys are known to the program. What was not asked for is a fault on close.
pub(super) struct Table<'r> {
    reader: &'r Reader<'r>,
    path: String,
    start: usize,
    entries: &'r DeTable<'r>,
    known: RefCell<Vec<&'static str>>,
}

impl<'r> Table<'r> {
    /// Leaves a fault at the head of the table, for the key `key` in it (or the table itself); `account.url` is a key of a
    /// table in it.
    pub(super) fn fault(&self, key: &str, message: impl Into<String>, fix: impl Into<String>) {
        let path = match key.split_once('.') {
            None if key.is_empty() => self.path.clone(),
            None => self.child(key),
            Some((table, key)) => format!("{}.{key}", self.child(table)),
        };
        self.reader.fault(&path, self.start, message, fix);
    }

    /// The value of a key, if there is one. The key counts as known from now on.
    pub(super) fn take(&self, key: &'static str) -> Option<Node<'r>> {
        self.known.borrow_mut().push(key);
        let value = self.entries.get(key)?;
        Some(self.node(key, value))
    }

    /// The value of a key that must be there; `example` is a line that would be right.
    pub(super) fn require(&self, key: &'static str, example: &str) -> Option<Node<'r>> {
        let node = self.take(key);
        if node.is_none() {
            self.fault(key, "is missing", format!("add {example}"));
        }
        node
    }

    /// Whether a key is there: a look ahead, after which it is read as usual.
    pub(super) fn has(&self, key: &str) -> bool {
        self.entries.contains_key(key)
    }

    /// All entries in the order of the file, for tables whose keys are the operator's own.
    pub(super) fn entries(&self) -> Vec<(&'r str, Node<'r>)> {
        let mut entries: Vec<_> = self.entries.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        entries
            .into_iter()
            .map(|(key, value)| {
                let name: &str = key.get_ref();
                // The key is what such an entry is looked for by: a fault points there.
                (name, Node { span: key.span(), ..self.node(name, value) })
            })
            .collect()
    }

    /// Leaves a fault for each key that was not asked for.
    pub(super) fn close(self) {
        let known = self.known.borrow();
        #[cfg(test)]
        super::schema::tests::asked(&self.path, &known);
        for (key, _) in self.entries {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let fix = places::fix(&self.path, name, &known);
            self.reader.fault(&self.child(name), key.span().start, "unknown key", fix);
        }
    }

    fn node(&self, key: &str, value: &'r Spanned<DeValue<'r>>) -> Node<'r> {
        Node { reader: self.reader, path: self.child(key), span: value.span(), value: value.get_ref() }
    }

    fn child(&self, key: &str) -> String {
        let bare =
            !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
        let key = if bare { key.to_owned() } else { format!("{key:?}") };
        if self.path.is_empty() { key } else { format!("{}.{key}", self.path) }
    }
}
