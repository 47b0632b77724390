//! The machine that was measured on.

use std::process::Command;

use crate::{Fault, process, workspace};

/// One sentence: cores, processor, compiler.
pub(super) fn describe() -> Result<String, Fault> {
    let cores = std::thread::available_parallelism().map_err(|error| format!("cores cannot be counted: {error}"))?;
    let compiler = process::output(Command::new("rustc").arg("--version").current_dir(workspace::root()))?;
    // Only Linux has the file, and only some architectures name the processor in it.
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| model(&text));
    Ok(sentence(cores.get(), processor.as_deref(), compiler.trim()))
}

fn sentence(cores: usize, processor: Option<&str>, compiler: &str) -> String {
    let cores = if cores == 1 { "one core".to_owned() } else { format!("{cores} cores") };
    let processor = processor.map_or_else(|| std::env::consts::ARCH.to_owned(), str::to_owned);
    format!("Measured on {cores} ({processor}), with {compiler}, release profile.")
}

/// The `model name` of the first processor.
fn model(information: &str) -> Option<String> {
    information.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processor_is_named_by_its_model_name_and_not_its_number() {
        let information = "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Example 9000\nprocessor\t: 1\n";
        assert_eq!(model(information).as_deref(), Some("Example 9000"));
        assert_eq!(model("processor\t: 0\nCPU part\t: 0xd0c\n"), None);
    }

    #[test]
    fn a_machine_without_a_named_processor_is_described_by_its_architecture() {
        assert_eq!(
            sentence(2, Some("Example 9000"), "rustc 1.95.0"),
            "Measured on 2 cores (Example 9000), with rustc 1.95.0, release profile."
        );
        assert!(sentence(1, None, "rustc 1.95.0").contains(&format!("one core ({})", std::env::consts::ARCH)));
    }
}
