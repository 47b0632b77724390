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

/// A step by its version, its name and its file, which there is one of for each database.
macro_rules! step {
    ($version:literal, $name:literal, $file:literal) => {
        Step {
            version: $version,
            name: $name,
            sqlite: include_str!(concat!("../migrations/sqlite/", $file, ".sql")),
            postgres: include_str!(concat!("../migrations/postgres/", $file, ".sql")),
        }
    };
}

/// Never change a step that was released: add one.
const STEPS: &[Step] = &[
    step!(1, "start", "0001_start"),
    step!(2, "keys", "0002_keys"),
    step!(3, "limits", "0003_limits"),
    step!(4, "sign_in", "0004_sign_in"),
    step!(5, "operations", "0005_operations"),
    step!(6, "api keys", "0006_api_keys"),
    step!(7, "portal", "0007_portal"),
    step!(8, "proofs", "0008_proofs"),
    step!(9, "audit", "0009_audit"),
    step!(10, "grants", "0010_grants"),
];

/// The newest version that is known here.
pub(crate) fn newest() -> i64 {
    STEPS.last().map_or(0, |step| step.version)
}

/// Brings the schema up to date. On PostgreSQL replicas that start together wait
/// for each other on a lock that the connection holds; close the pool when this fails.
pub(crate) async fn run(kind: Kind, pool: &AnyPool) -> Result<(), StoreError> {
    up_to(kind, pool, STEPS).await
}

async fn up_to(kind: Kind, pool: &AnyPool, steps: &[Step]) -> Result<(), StoreError> {
    let steps = steps.iter().map(|step| {
        let sql = match kind {
            Kind::Sqlite => step.sqlite,
            Kind::Postgres => step.postgres,
        };
        let sql = sql.into_sql_str();
        Migration::new(step.version, step.name.into(), MigrationType::Simple, sql, false)
    });
    match Migrator::with_migrations(steps.collect()).run(pool).await {
        Ok(()) => Ok(()),
        Err(MigrateError::VersionMissing(found)) => Err(StoreError::NewerSchema { found, known: newest() }),
        Err(MigrateError::Execute(error)) => Err(error.into()),
        Err(other) => Err(StoreError::Migrate(other)),
    }
}

#[cfg(test)]
mod tests {
    use elicit::SystemRandom;
    use sqlx::Row as _;
    use sqlx::any::AnyPoolOptions;

    use super::*;
    use crate::token::random_text;

    /// What a store of each earlier version held is there after the next start.
    #[tokio::test]
    async fn a_store_of_the_first_version_is_brought_up_to_date() {
        sqlx::any::install_default_drivers();
        let path = std::env::temp_dir().join(format!("usher-schema-{}", random_text(&SystemRandom)));
        let pool = AnyPoolOptions::new().connect(&format!("sqlite:{}?mode=rwc", path.display())).await.unwrap();
        up_to(Kind::Sqlite, &pool, &STEPS[..1]).await.unwrap();
        sqlx::query("INSERT INTO key_ids (id) VALUES ('k1')").execute(&pool).await.unwrap();
        sqlx::query(
            "INSERT INTO credentials (id, credential_key, user_key, issuer, subject, provider, version, status, \
             created_at, updated_at, sealed) VALUES ('1', 'c', 'u', 'i', 's', 'p', 1, 'working', 0, 0, x'01026b3100')",
        )
        .execute(&pool)
        .await
        .unwrap();

        run(Kind::Sqlite, &pool).await.unwrap();

        let row = sqlx::query("SELECT id FROM credentials WHERE key_id = 'k1'").fetch_one(&pool).await.unwrap();
        assert_eq!(row.get::<String, _>("id"), "1");
        pool.close().await;
        std::fs::remove_file(path).unwrap();
    }
}
