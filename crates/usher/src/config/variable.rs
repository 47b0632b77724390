//! `env` of an `[[upstream.needs]]`: the variables by which a command gets a credential.

use super::command::is_variable;
use super::reader::Node;
use super::template::Template;

/// Reads an `env = { NAME = "template" }` table. The fields of the templates are the caller's to check.
pub(super) fn read_all<'r>(node: &Node<'r>) -> Vec<(String, Template, Node<'r>)> {
    const EXAMPLE: &str = "env = { WEATHER_KEY = \"{api_key}\" }";
    let Some(table) = node.table(EXAMPLE) else { return Vec::new() };
    let entries = table.entries();
    if entries.is_empty() {
        node.fault("names no variable", format!("for example {EXAMPLE}"));
    }
    let entry = |(name, node): (&str, Node<'r>)| {
        let text = node.string("\"{api_key}\"")?;
        if !is_variable(name, &node) || !is_allowed(name, &node) {
            return None;
        }
        match Template::parse(text) {
            Ok(template) => Some((name.to_owned(), template, node)),
            Err(error) => {
                node.fault(error.to_string(), "write a field as {api_key}, and a brace itself as {{ or }}");
                None
            }
        }
    };
    entries.into_iter().filter_map(entry).collect()
}

/// What people type never stands in a variable that makes a program load or run something.
fn is_allowed(name: &str, node: &Node<'_>) -> bool {
    if !runs_code(name) {
        return true;
    }
    node.fault(
        format!("the variable {name} cannot carry a credential: programs load or run what it names"),
        "use a variable that only the server reads, WEATHER_KEY for example",
    );
    false
}

/// Whether a variable tells the loader, a shell, an interpreter or a tool what to load or run.
fn runs_code(name: &str) -> bool {
    const NAMES: [&str; 20] = [
        "PATH",
        "HOME",
        "SHELL",
        "IFS",
        "ENV",
        "BASH_ENV",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "NODE_OPTIONS",
        "NODE_PATH",
        "RUBYOPT",
        "RUBYLIB",
        "CLASSPATH",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "EDITOR",
        "PAGER",
        "BROWSER",
    ];
    const PREFIXES: [&str; 9] = ["LD_", "DYLD_", "PYTHON", "PERL", "GIT_", "NPM_CONFIG_", "DOTNET_", "GCONV", "BUN_"];
    let upper = name.to_ascii_uppercase();
    NAMES.contains(&upper.as_str()) || PREFIXES.iter().any(|prefix| upper.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_a_program_run_something_carries_no_credential() {
        for name in
            ["LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "NODE_OPTIONS", "PYTHONSTARTUP", "PATH", "npm_config_registry"]
        {
            assert!(runs_code(name), "{name}");
        }
        for name in ["WEATHER_KEY", "API_KEY", "GITHUB_TOKEN", "PATHS"] {
            assert!(!runs_code(name), "{name}");
        }
    }
}
