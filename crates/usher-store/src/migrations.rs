//! The schema, one list a database, and how it is brought up to date.

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyPool, SqlSafeStr};

use crate::{Kind, StoreError};

struct Step {
    version: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

/// Never change a step that was released: add one.
const STEPS: &[Step] = &[
    Step {
        version: 1,
        name: "start",
        sqlite: include_str!("../migrations/sqlite/0001_start.sql"),
        postgres: include_str!("../migrations/postgres/0001_start.sql"),
    },
    Step {
        version: 3,
        name: "limits",
        sqlite: include_str!("../migrations/sqlite/0003_limits.sql"),
        postgres: include_str!("../migrations/postgres/0003_limits.sql"),
    },
];

/// Brings the schema up to date. On PostgreSQL replicas that start together wait
/// for each other on a lock that the connection holds; close the pool when this fails.
pub(crate) async fn run(kind: Kind, pool: &AnyPool) -> Result<(), StoreError> {
    let steps = STEPS.iter().map(|step| {
        let sql = match kind {
            Kind::Sqlite => step.sqlite,
            Kind::Postgres => step.postgres,
        };
        let sql = sql.into_sql_str();
        Migration::new(step.version, step.name.into(), MigrationType::Simple, sql, false)
    });
    match Migrator::with_migrations(steps.collect()).run(pool).await {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(found)) => {
            Err(StoreError::NewerSchema { found, known: STEPS.last().map_or(0, |step| step.version) })
        }
        Err(MigrateError::Execute(error)) => Err(error.into()),
        Err(other) => Err(StoreError::Migrate(other)),
    }
}
