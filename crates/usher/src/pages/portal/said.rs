//! Names as the portal says them: by the operator's title where there is one, and harmless to look at where somebody else
//! chose them.

use std::borrow::Cow;

use usher_store::Destination;

use crate::{
    config::Config,
    pages::words::{Html, Words},
};

/// The longest name of somebody else's that is shown, in characters.
const LONGEST: usize = 200;

/// The operator's title for a provider, or its name.
pub(crate) fn provider_title(words: Words, config: &Config, name: &str) -> String {
    match config.provider(name) {
        Some(provider) => provider.title.get(words.language().code()).to_owned(),
        None => shown(name).into_owned(),
    }
}

/// The operator's title for a server, or its name.
pub(crate) fn server_title(words: Words, config: &Config, name: &str) -> String {
    match config.upstream(name) {
        Some(upstream) => upstream.title.get(words.language().code()).to_owned(),
        None => shown(name).into_owned(),
    }
}

/// A client's verified id, or what another one chose to be called: one line, nothing invisible or backwards in it.
pub(crate) fn shown(name: &str) -> Cow<'_, str> {
    elicit::text::line(name, LONGEST)
}

/// A server with its address.
pub(crate) fn destination(words: Words, config: &Config, destination: &Destination) -> Html {
    let server = server_title(words, config, &destination.upstream);
    words.rich("portal.destination", &[("server", server.as_str()), ("target", shown(&destination.target).as_ref())])
}
