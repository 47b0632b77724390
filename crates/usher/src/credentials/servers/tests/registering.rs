//! Who registers a client, and whose it is then.

use std::time::Duration;

use super::*;

/// A provider of kind oauth whose users choose a tenant.
const TRACKER: &str = "\n[[provider]]\nname = \"tracker\"\nkind = \"oauth\"\nregistration = \"dynamic\"\nissuer = \"{issuer}/{tenant}\"\n\
    authorization_endpoint = \"{issuer}/authorize\"\ntoken_endpoint = \"{issuer}/{tenant}/token\"\n\
    registration_endpoint = \"{issuer}/{tenant}/register\"\n[[provider.input]]\nname = \"tenant\"\n";

impl World {
    fn tracker(&self) -> Provider {
        self.servers.parts.config.provider("tracker").unwrap().clone()
    }

    async fn of_tenant(&self, provider: &Provider, tenant: &str) -> Result<Account, AccountError> {
        self.servers.account(provider, &BTreeMap::from([("tenant".to_owned(), tenant.to_owned())])).await
    }

    /// Each tenant makes clients of its own.
    fn tenants_register(&self) {
        for tenant in ["a", "b"] {
            let reply = json!({ "client_id": tenant, "client_secret": format!("secret of {tenant}") });
            self.id.says(&format!("/{tenant}/register"), 201, &reply.to_string());
        }
    }
}

/// R-OAUTH-05: what was registered where one user said is used there alone, and forgotten there alone, whatever the issuer is.
#[tokio::test]
async fn what_one_user_chose_registers_no_client_for_another() {
    let world = World::start(LOCAL, TRACKER, json!({})).await;
    world.tenants_register();
    let mut fixed = world.tracker();
    let ProviderKind::OAuth(oauth) = &mut fixed.kind else { panic!("of kind oauth") };
    Arc::make_mut(&mut oauth.definition).issuer = None;
    for provider in [world.tracker(), fixed] {
        let (a, b) = (world.of_tenant(&provider, "a").await.unwrap(), world.of_tenant(&provider, "b").await.unwrap());
        assert_eq!((a.client.id.as_str(), b.client.id.as_str()), ("a", "b"));
        let registrations = world.id.paths().len();
        assert!(world.servers.client_refused(&a).await.unwrap());
        assert_eq!(world.of_tenant(&provider, "b").await.unwrap().client.id, "b");
        assert_eq!(world.id.paths().len(), registrations, "b's is kept");
        world.of_tenant(&provider, "a").await.unwrap();
        assert_eq!(world.id.paths().len(), registrations + 1, "and a's is made anew");
    }
}

/// R-SEC-04: a registration that hangs holds nobody up who has a client, or wants one elsewhere.
#[tokio::test]
async fn a_registration_that_hangs_holds_up_nobody_else() {
    let world = World::start(LOCAL, TRACKER, json!({})).await;
    world.tenants_register();
    world.registers("one", &json!({}));
    let (tracker, notes) = (world.tracker(), world.account().await.unwrap());
    let a = world.of_tenant(&tracker, "a").await.unwrap();
    let turns = &world.servers.parts.turns;
    let turns = [&a, &notes].map(|of| turns.of(&of.server.registered_at(), &of.client.redirect_uri));
    let _held = (turns[0].lock().await, turns[1].lock().await);
    let all = async {
        assert_eq!(world.of_tenant(&tracker, "b").await.unwrap().client.id, "b");
        assert_eq!(world.of_tenant(&tracker, "a").await.unwrap().client.id, "a");
        assert_eq!(world.account().await.unwrap().client.id, "one");
    };
    tokio::time::timeout(Duration::from_secs(10), all).await.unwrap();
}

/// R-SEC-04: who waited for a registration that failed does not wait for another one.
#[tokio::test]
async fn a_registration_that_fails_is_tried_once_for_all_who_wait() {
    let world = World::start(LOCAL, "", json!({})).await;
    world.id.says("/register", 503, "");
    let all = futures_util::future::join_all((0..5).map(|_| world.account())).await;
    assert!(all.iter().all(|account| account.as_ref().is_err_and(AccountError::is_transient)));
    assert_eq!(world.registrations(), 1);
    world.registers("one", &json!({}));
    world.hand.0.fetch_add(5, Ordering::SeqCst);
    assert_eq!(world.account().await.unwrap().client.id, "one");
}
