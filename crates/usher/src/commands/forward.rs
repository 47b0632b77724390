//! A page on disk that leads a browser to a link, so that the link stands in no process list.

use std::io;
use std::path::{Path, PathBuf};

use secrecy::{ExposeSecret, SecretString};
use url::Url;
use zeroize::Zeroizing;

use crate::config::private_file;

/// Where the page stands: beside the control file. The next one overwrites it, and its link works once.
pub(super) fn page(control_file: &Path) -> PathBuf {
    control_file.with_extension("login.html")
}

/// Writes the page, readable for its owner alone (R-SEC-07).
pub(super) fn write(page: &Path, link: &SecretString) -> io::Result<()> {
    let link = Zeroizing::new(escape(link.expose_secret()));
    let html = Zeroizing::new(format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>Usher</title>\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n\
         <meta http-equiv=\"refresh\" content=\"0; url={0}\">\n\
         <p><a href=\"{0}\">Sign in to Usher</a></p>\n",
        *link,
    ));
    private_file::replace(page, &html)
}

/// Opens the page in the person's browser. False if there is none to be seen, on a server for example.
pub(super) fn show(page: &Path, env: &dyn Fn(&str) -> Option<String>) -> bool {
    has_screen(env) && Url::from_file_path(page).is_ok_and(|url| webbrowser::open(url.as_str()).is_ok())
}

/// Whether a page could be opened here. Opens none.
pub(super) fn can_show(env: &dyn Fn(&str) -> Option<String>) -> bool {
    has_screen(env) && webbrowser::Browser::is_available()
}

/// Whether a browser would have a screen. Without one the system starts a text browser in this very terminal.
fn has_screen(env: &dyn Fn(&str) -> Option<String>) -> bool {
    let set = |name: &&str| env(name).is_some_and(|value| !value.is_empty());
    cfg!(any(windows, target_os = "macos")) || ["BROWSER", "DISPLAY", "WAYLAND_DISPLAY"].iter().any(set)
}

/// A text inside of an HTML attribute.
fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('"', "&quot;").replace('\'', "&#39;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::folder::Folder;

    /// R-SEC-07
    #[test]
    fn the_page_leads_to_the_link_and_is_for_its_owner_alone() {
        let folder = Folder::new();
        let page = page(&folder.path("usher.control"));
        assert_eq!(page, folder.path("usher.login.html"));
        let link = SecretString::from("http://127.0.0.1:8420/login?token=a&x=\"><script>'");
        write(&page, &link).unwrap();
        let html = std::fs::read_to_string(&page).unwrap();
        insta::assert_snapshot!(html, @r##"
        <!doctype html>
        <html lang="en">
        <meta charset="utf-8">
        <title>Usher</title>
        <meta name="referrer" content="no-referrer">
        <meta http-equiv="refresh" content="0; url=http://127.0.0.1:8420/login?token=a&amp;x=&quot;&gt;&lt;script&gt;&#39;">
        <p><a href="http://127.0.0.1:8420/login?token=a&amp;x=&quot;&gt;&lt;script&gt;&#39;">Sign in to Usher</a></p>
        "##);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            assert_eq!(std::fs::metadata(&page).unwrap().mode() & 0o777, 0o600);
        }
    }

    #[cfg(not(any(windows, target_os = "macos")))]
    #[test]
    fn without_a_screen_no_browser_is_opened() {
        assert!(!has_screen(&|_| None));
        assert!(!has_screen(&|_| Some(String::new())));
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"] {
            assert!(has_screen(&|asked| (asked == name).then(|| ":0".to_owned())), "{name}");
        }
    }
}
