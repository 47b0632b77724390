use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::routing::post;
use serde_json::{Value, json};
use sqlx::any::AnyPoolOptions;
use sqlx::{AnyPool, Executor as _};
use tokio::net::TcpListener;

/// A round as one writes it by hand: the call is read as JSON, a question is stored by one commit where `database` names a
/// file, and `input_required` is answered with a link and a state of the usual length. It checks and seals nothing.
pub async fn round(listener: TcpListener, database: Option<&Path>) {
    let pool = match database {
        Some(path) => Some(open(path).await.expect("a database")),
        None => None,
    };
    let router = Router::new().fallback(post(ask)).with_state(Arc::new((pool, AtomicU64::new(1))));
    super::proxy::serve(listener, router).await;
}

async fn open(path: &Path) -> Result<AnyPool, sqlx::Error> {
    sqlx::any::install_default_drivers();
    let prepare = "PRAGMA busy_timeout = 5000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;";
    let options = AnyPoolOptions::new()
        .max_connections(1)
        .after_connect(move |connection, _| Box::pin(async move { connection.execute(prepare).await.map(drop) }));
    let pool = options.connect(&format!("sqlite://{}?mode=rwc", path.display())).await?;
    pool.execute(
        "CREATE TABLE questions (id TEXT PRIMARY KEY, who TEXT NOT NULL, provider TEXT NOT NULL, at BIGINT NOT NULL)",
    )
    .await?;
    Ok(pool)
}

async fn ask(
    State(shared): State<Arc<(Option<AnyPool>, AtomicU64)>>,
    body: String,
) -> ([(header::HeaderName, &'static str); 1], String) {
    let (pool, counter) = &*shared;
    let call: Value = serde_json::from_str(&body).expect("a call");
    assert_eq!(call["method"], "tools/call");
    let number = counter.fetch_add(1, Ordering::Relaxed);
    let id = format!("{number:043}");
    if let Some(pool) = pool {
        sqlx::query("INSERT INTO questions (id, who, provider, at) VALUES ($1, $2, $3, $4)")
            .bind(id.clone())
            .bind("somebody")
            .bind(call["params"]["name"].as_str().unwrap_or_default().to_owned())
            .bind(i64::try_from(number).unwrap_or_default())
            .execute(pool)
            .await
            .expect("a commit");
    }
    let question = json!({
        "mode": "url",
        "message": "Weather needs your Weather account to run “get_forecast”. Connect it on a page of your own.",
        "url": format!("http://127.0.0.1:8420/connect/{id}"),
    });
    let result = json!({
        "resultType": "input_required",
        "inputRequests": { "connect": { "method": "elicitation/create", "params": question } },
        "requestState": "s".repeat(400),
    });
    let response = json!({ "jsonrpc": "2.0", "id": call["id"], "result": result });
    ([(header::CONTENT_TYPE, "application/json")], response.to_string())
}
