//! Cookies as a strict browser keeps them (RFC 6265bis): host only, `Secure` needs https, prefixes are enforced.

use super::page::{host_of, path_of};

/// A cookie with the attributes that set it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cookie {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The host that set it; cookies do not know ports.
    pub host: String,
    /// `Path`, or the directory of the page.
    pub path: String,
    /// `Domain`, if it was given.
    pub domain: Option<String>,
    /// `Max-Age` in seconds, if it was given.
    pub max_age: Option<i64>,
    /// Whether it is `Secure`.
    pub secure: bool,
    /// Whether it is `HttpOnly`.
    pub http_only: bool,
    /// `SameSite` as written.
    pub same_site: Option<String>,
}

#[derive(Debug, Default)]
pub(super) struct Jar {
    pub(super) cookies: Vec<Cookie>,
    pub(super) lines: Vec<String>,
}

impl Jar {
    /// Obeys one `Set-Cookie` line of `url`.
    pub(super) fn take(&mut self, url: &str, line: &str) {
        self.lines.push(line.to_owned());
        let mut parts = line.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { return };
        let path = path_of(url);
        let directory = path.rfind('/').map_or("/", |end| &path[..end.max(1)]);
        let mut cookie = Cookie {
            name: name.to_owned(),
            value: value.trim_matches('"').to_owned(),
            host: host_of(url).to_owned(),
            path: directory.to_owned(),
            domain: None,
            max_age: None,
            secure: false,
            http_only: false,
            same_site: None,
        };
        let mut expired = false;
        for part in parts {
            let (key, value) = part.split_once('=').unwrap_or((part, ""));
            match key.to_ascii_lowercase().as_str() {
                "path" => value.clone_into(&mut cookie.path),
                "domain" => cookie.domain = Some(value.to_owned()),
                "max-age" => cookie.max_age = value.parse().ok(),
                "expires" => expired = value.contains("1970"),
                "secure" => cookie.secure = true,
                "httponly" => cookie.http_only = true,
                "samesite" => cookie.same_site = Some(value.to_owned()),
                _ => {}
            }
        }
        if !acceptable(url, &cookie) {
            return;
        }
        self.cookies.retain(|old| (&old.name, &old.host, &old.path) != (&cookie.name, &cookie.host, &cookie.path));
        if !expired && cookie.max_age.is_none_or(|age| age > 0) {
            self.cookies.push(cookie);
        }
    }

    /// The `Cookie` header for `url`. From another site only `SameSite=None` goes along, and `Lax` (the default)
    /// where a person follows a link.
    pub(super) fn header(&self, url: &str, from_elsewhere: bool, link: bool) -> Option<String> {
        let allowed = |cookie: &&Cookie| {
            let same_site = cookie.same_site.as_deref().unwrap_or("Lax").to_ascii_lowercase();
            let sent = !from_elsewhere || same_site == "none" || (link && same_site == "lax");
            let below = path_of(url).strip_prefix(cookie.path.as_str());
            let inside =
                below.is_some_and(|rest| rest.is_empty() || cookie.path.ends_with('/') || rest.starts_with('/'));
            let safe = !cookie.secure || url.starts_with("https:");
            sent && inside && safe && cookie.host == host_of(url)
        };
        let pairs: Vec<String> =
            self.cookies.iter().filter(allowed).map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

fn acceptable(url: &str, cookie: &Cookie) -> bool {
    let safe = url.starts_with("https:");
    let secure = !cookie.secure || safe;
    let prefix = !cookie.name.starts_with("__Secure-") || cookie.secure;
    let host = !cookie.name.starts_with("__Host-") || (cookie.secure && cookie.domain.is_none() && cookie.path == "/");
    secure && prefix && host
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "http://127.0.0.1:80/a/b?c";

    #[test]
    fn a_cookie_goes_back_to_its_host_whatever_the_port_and_only_below_its_path() {
        let mut jar = Jar::default();
        jar.take(PAGE, "s=1; Path=/a; HttpOnly; SameSite=Lax");
        assert_eq!(jar.header("http://127.0.0.1:81/a", false, false).as_deref(), Some("s=1"));
        assert_eq!(jar.header("http://127.0.0.1:81/a/x", false, false).as_deref(), Some("s=1"));
        assert_eq!(jar.header("http://127.0.0.1:81/ab", false, false), None);
        assert_eq!(jar.header("http://localhost/a", false, false), None);
    }

    #[test]
    fn a_lax_cookie_follows_a_link_but_no_foreign_form() {
        let mut jar = Jar::default();
        jar.take(PAGE, "s=1; Path=/; SameSite=Lax");
        assert_eq!(jar.header(PAGE, true, true).as_deref(), Some("s=1"));
        assert_eq!(jar.header(PAGE, true, false), None);
    }

    #[test]
    fn secure_and_prefixed_cookies_are_refused_over_http_and_old_ones_deleted() {
        let mut jar = Jar::default();
        jar.take(PAGE, "__Host-s=1; Path=/; Secure");
        jar.take(PAGE, "s=1; Secure");
        assert!(jar.cookies.is_empty());
        jar.take(PAGE, "s=1; Path=/");
        jar.take(PAGE, "s=; Path=/; Max-Age=0");
        assert!(jar.cookies.is_empty());
        assert_eq!(jar.lines.len(), 4);
    }
}
