//! The store, its schema, and the master keys that it needs.

use std::io::ErrorKind;

use usher_store::{Inspection, KeyFile, KeyFileError, KeyRole, Kind, Schema, Store};

use super::{clock::Sample, finding::Finding};
use crate::{clock::Clock, commands::keys::named, config::Config};

/// The findings, and what the database's clock says.
pub(super) async fn examine(config: &Config, clock: &dyn Clock) -> (Vec<Finding>, Option<Sample>) {
    let mut inspection = match Store::inspect(&config.store).await {
        Ok(Some(inspection)) => inspection,
        Ok(None) => {
            let place = config.database.as_ref().map_or_else(String::new, |file| format!(": {}", file.display()));
            let findings =
                vec![Finding::ok("store", format!("SQLite, made at the first start{place}")), keys(config, None).await];
            return (findings, None);
        }
        Err(error) => return (vec![Finding::error("store", &error), keys_alone(config)], None),
    };
    let mut findings = vec![place(&inspection), schema(&mut inspection).await];
    findings.push(keys(config, Some(&mut inspection)).await);
    let before = clock.now();
    let sample = match inspection.clock().await {
        Ok(theirs) => theirs.map(|theirs| Sample::new("the database", theirs, before, clock.now())),
        Err(_) => None,
    };
    inspection.close().await;
    (findings, sample)
}

fn place(inspection: &Inspection) -> Finding {
    match inspection.kind() {
        Kind::Sqlite => {
            let path = inspection.place();
            match mode(path) {
                Some(mode) if mode & 0o077 != 0 => Finding::warning(
                    "store",
                    format!("SQLite, {path}; others may read it (mode {mode:03o})"),
                    "the next start sets it to 600, or run chmod 600 on it now",
                ),
                _ => Finding::ok("store", format!("SQLite, {path}")),
            }
        }
        Kind::Postgres => Finding::ok("store", inspection.place()),
    }
}

#[cfg(unix)]
fn mode(path: &str) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|found| found.mode() & 0o777)
}

#[cfg(not(unix))]
fn mode(_: &str) -> Option<u32> {
    None
}

async fn schema(inspection: &mut Inspection) -> Finding {
    match inspection.schema().await {
        Ok(Schema::None) => Finding::ok("schema", "none yet; the first start makes it"),
        Ok(Schema::Current { version }) => {
            Finding::ok("schema", format!("version {version}, the newest that is known here"))
        }
        Ok(Schema::Older { found, known }) => Finding::warning(
            "schema",
            format!("version {found}, older than {known}"),
            "make a backup; the next start of usher serve brings it up to date, and older versions refuse it then",
        ),
        Ok(Schema::Newer { found, known }) => Finding::fault(
            "schema",
            format!("version {found}, newer than {known}, the newest that is known here"),
            "run the newer version of Usher that has used it, or restore a backup from before",
        ),
        Err(error) => Finding::error("schema", &error),
    }
}

/// The keys against what is stored; `None` where nothing is.
async fn keys(config: &Config, inspection: Option<&mut Inspection>) -> Finding {
    let file = &config.keys_file;
    let needed = match inspection {
        None => Vec::new(),
        Some(inspection) => {
            let needed = match inspection.needed_keys().await {
                Ok(needed) => needed,
                Err(error) => return Finding::error("keys", &error),
            };
            if let Ok(keys) = KeyFile::load(file)
                && let Err(error) = inspection.check_keys(&keys).await
            {
                return Finding::error("keys", &error);
            }
            needed
        }
    };
    match KeyFile::load(file) {
        Ok(keys) => of_file(config, &keys, &needed),
        Err(KeyFileError::File { source, .. }) if source.kind() == ErrorKind::NotFound => missing(config, &needed),
        Err(error) => Finding::error("keys", &named(file, &error)),
    }
}

fn of_file(config: &Config, keys: &KeyFile, needed: &[String]) -> Finding {
    let file = config.keys_file.display();
    let of = |role: KeyRole| keys.entries().filter(move |entry| entry.role == role).map(|entry| entry.id.as_str());
    let ahead: Vec<_> = of(KeyRole::Next).filter(|id| needed.iter().any(|needed| needed == id)).collect();
    if !ahead.is_empty() {
        return Finding::warning(
            "keys",
            format!("{file}: {} is not active here, and seals elsewhere already", ahead.join(", ")),
            "put the file of the other replicas here; it is newer",
        );
    }
    let active = of(KeyRole::Active).collect::<String>();
    let others = match (of(KeyRole::Older).count(), of(KeyRole::Next).count()) {
        (0, 0) => String::new(),
        (older, next) => format!(", {older} older, {next} next; usher keys list shows what needs each"),
    };
    Finding::ok("keys", format!("{file}: {active} is active{others}"))
}

fn missing(config: &Config, needed: &[String]) -> Finding {
    let file = config.keys_file.display();
    if !needed.is_empty() {
        let found = format!("there is no {file}, and the store needs its keys ({})", needed.join(", "));
        return Finding::fault("keys", found, "put the file back from its backup");
    }
    if config.database.is_none() {
        let todo = "make one with usher keys init, and give the same file to every replica";
        return Finding::fault("keys", format!("there is no {file}"), todo);
    }
    Finding::ok("keys", format!("{file}, made at the first start"))
}

/// Where the store does not tell what it needs.
fn keys_alone(config: &Config) -> Finding {
    match KeyFile::load(&config.keys_file) {
        Ok(keys) => of_file(config, &keys, &[]),
        Err(error) => Finding::error("keys", &named(&config.keys_file, &error)),
    }
}
