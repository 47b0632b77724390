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
        version: 2,
        name: "keys",
        sqlite: include_str!("../migrations/sqlite/0002_keys.sql"),
        postgres: include_str!("../migrations/postgres/0002_keys.sql"),
    },
    Step {
        version: 3,
        name: "limits",
        sqlite: include_str!("../migrations/sqlite/0003_limits.sql"),
        postgres: include_str!("../migrations/postgres/0003_limits.sql"),
    },
    Step {
        version: 4,
        name: "sign_in",
        sqlite: include_str!("../migrations/sqlite/0004_sign_in.sql"),
        postgres: include_str!("../migrations/postgres/0004_sign_in.sql"),
    },
    Step {
        version: 5,
        name: "operations",
        sqlite: include_str!("../migrations/sqlite/0005_operations.sql"),
        postgres: include_str!("../migrations/postgres/0005_operations.sql"),
    },
    Step {
        version: 6,
        name: "api keys",
        sqlite: include_str!("../migrations/sqlite/0006_api_keys.sql"),
        postgres: include_str!("../migrations/postgres/0006_api_keys.sql"),
    },
    Step {
        version: 7,
        name: "portal",
        sqlite: include_str!("../migrations/sqlite/0007_portal.sql"),
        postgres: include_str!("../migrations/postgres/0007_portal.sql"),
    },
    Step {
        version: 8,
        name: "proofs",
        sqlite: include_str!("../migrations/sqlite/0008_proofs.sql"),
        postgres: include_str!("../migrations/postgres/0008_proofs.sql"),
    },
    Step {
        version: 9,
        name: "audit",
        sqlite: include_str!("../migrations/sqlite/0009_audit.sql"),
        postgres: include_str!("../migrations/postgres/0009_audit.sql"),
    },
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
