//! Signing out at the issuer as well (OpenID Connect RP-Initiated Logout 1.0).

use std::{sync::Arc, time::Duration};

use secrecy::{ExposeSecret as _, SecretString};
use url::Url;

use super::OpenIdProvider;
use crate::app::App;

/// How long the issuer's metadata are waited for: the person is signed out here already.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where the issuer sends the browser afterwards.
const BACK: &str = "/logout";

/// Where a browser signs out at the issuer; `None` where it offers no such place, or cannot be asked. `id_token` is that of
/// the sign-in. There is no `state`: nothing rests on the way back.
pub(crate) async fn address(
    app: &App,
    issuer: &Arc<OpenIdProvider>,
    id_token: Option<&SecretString>,
    language: &str,
) -> Option<Url> {
    let metadata = tokio::time::timeout(PATIENCE, issuer.metadata()).await.ok()?.ok()?;
    let mut url = metadata.end_session_endpoint.clone()?;
    {
        let mut query = url.query_pairs_mut();
        if let Some(token) = id_token {
            query.append_pair("id_token_hint", token.expose_secret());
        }
        query
            .append_pair("client_id", &issuer.config.client_id)
            .append_pair("post_logout_redirect_uri", &app.config.public_url.join(BACK))
            .append_pair("ui_locales", language);
    }
    Some(url)
}
