//! Opens the sign-in link in the person's browser, through a page on disk, so that the link stands in no process list.

use std::path::Path;

use url::Url;

use crate::{commands::environment, config::private_file};

/// Opens `link`, a link of ours, by way of a file at `page` for its owner alone (R-SEC-07). False where there is no
/// browser to be seen.
pub(super) fn open(page: &Path, link: &str) -> bool {
    // The link is an origin, a path and base64url: nothing in it means anything in HTML.
    let html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Usher</title>\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={link}\">\n\
         <p><a href=\"{link}\">Sign in to Usher</a></p>\n"
    );
    has_screen()
        && private_file::replace(page, &html).is_ok()
        && Url::from_file_path(page).is_ok_and(|url| webbrowser::open(url.as_str()).is_ok())
}

/// Whether a browser would have a screen. Without one the system starts a text browser in this very terminal.
fn has_screen() -> bool {
    let set = |name: &&str| environment(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"].iter().any(set)
}
