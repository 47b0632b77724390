//! Real processes on one database, with one provider and one server: replicas come and go.

use sqlx::{AnyConnection, Connection as _, Executor as _};
use usher::{
    clock::{Clock as _, SystemClock},
    identity::tokens::local_user,
};
use usher_store::{Credential, FailPoint};
use usher_testkit::{client::Modern, free_port, oauth::Provider, provider::Api, upstream::Upstream};

use super::scene::{furnish, grant, granted, prepared, store_grant};
use crate::{
    crashes::process::Process,
    database::{Database, TOKEN},
    harness::{CALLS, Folder, KEY, Setup, config_text},
};

pub(crate) struct House {
    pub(crate) database: Database,
    pub(crate) hub: Provider,
    pub(crate) upstream: Upstream,
    replicas: Vec<Replica>,
}

struct Replica {
    /// The first one lives in the folder of the database.
    folder: Option<Folder>,
    origin: String,
    process: Option<Process>,
}

impl House {
    /// So many replicas, none of which runs.
    pub(crate) async fn new(database: Database, replicas: usize) -> Self {
        let (hub, upstream) = (Provider::start().await, Upstream::start().await);
        furnish(&upstream, &hub);
        let api = Api::start("x-api-key", KEY).await;
        let mut house = Self { database, hub, upstream, replicas: Vec::new() };
        for number in 0..replicas {
            let port = free_port();
            let more = Database::section(&house.database.url);
            let setup = prepared(Setup { more, ..Setup::default() }, &house.hub);
            let text = config_text(&setup, port, &house.upstream, &api);
            let folder = (number > 0).then(Folder::new);
            if let Some(folder) = &folder {
                for file in ["usher.keys", "usher.tokens"] {
                    // With its mode.
                    std::fs::copy(house.database.folder.path().join(file), folder.path().join(file)).unwrap();
                }
            }
            let path = folder.as_ref().unwrap_or(&house.database.folder).path();
            std::fs::write(path.join("usher.toml"), text).unwrap();
            let origin = format!("http://127.0.0.1:{port}");
            house.replicas.push(Replica { folder, origin, process: None });
        }
        house
    }

    /// Starts a replica, to stand still at a point.
    pub(crate) async fn start(&mut self, replica: usize, point: Option<FailPoint>) {
        let at = &mut self.replicas[replica];
        let path = at.folder.as_ref().unwrap_or(&self.database.folder).path();
        at.process = Some(Process::start(path, point).await);
    }

    /// Kills it wherever it is.
    pub(crate) fn stop(&mut self, replica: usize) {
        drop(self.process(replica));
    }

    /// Its process, which is the caller's from now on.
    pub(crate) fn process(&mut self, replica: usize) -> Process {
        self.replicas[replica].process.take().unwrap()
    }

    /// A modern client that can show links.
    pub(crate) fn modern(&self, replica: usize) -> Modern {
        let endpoint = format!("{}/mcp/weather", self.replicas[replica].origin);
        Modern::new(endpoint).token(TOKEN).elicitation(&["form", "url"])
    }

    /// The person connects, with a token that has expired by our clock. The provider takes it for good.
    pub(crate) async fn connect_expired(&self) {
        let asked = self.modern(0).call(CALLS[0].0, CALLS[0].1).await;
        let (granted, now) = (granted(&self.hub, "user-1").await, SystemClock.now());
        let mut grant = grant(&self.hub, &granted, now);
        // On use alone.
        (grant.expires_at, grant.refresh_at) = (Some(now), None);
        let store = self.database.store().await;
        store_grant(&store, &asked.url(), &granted, grant, now).await;
        store.close().await;
    }

    /// What is stored.
    pub(crate) async fn stored(&self) -> Credential {
        let store = self.database.store().await;
        let stored = store.credential(&local_user(), "hub").await.unwrap().unwrap();
        store.close().await;
        stored
    }

    /// The lease that somebody has, if so, has ended.
    pub(crate) async fn end_lease(&self) {
        self.execute("UPDATE credentials SET lease_until = 1 WHERE lease_until IS NOT NULL").await;
    }

    /// What is stored is due from now on.
    pub(crate) async fn due_now(&self) {
        self.execute("UPDATE credentials SET refresh_at = 1").await;
    }

    async fn execute(&self, sql: &'static str) {
        sqlx::any::install_default_drivers();
        let mut connection = AnyConnection::connect(&self.database.url).await.unwrap();
        connection.execute(sql).await.unwrap();
        connection.close().await.unwrap();
    }
}
