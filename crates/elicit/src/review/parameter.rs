//! Parameters whose names say what they carry.

/// Parameters that carry where a page sends its visitor, folded as [`Name`] folds.
const REDIRECT_NAMES: &[&str] = &[
    "back",
    "backto",
    "backuri",
    "backurl",
    "callback",
    "callbackuri",
    "callbackurl",
    "cancelurl",
    "checkouturl",
    "continue",
    "continueto",
    "continueurl",
    "dest",
    "destination",
    "destinationurl",
    "desturl",
    "errorurl",
    "failureurl",
    "finalurl",
    "followup",
    "forward",
    "forwardto",
    "forwardurl",
    "go",
    "goto",
    "gotourl",
    "href",
    "jump",
    "jumpurl",
    "landing",
    "landingurl",
    "link",
    "location",
    "loginurl",
    "logouturl",
    "next",
    "nextpage",
    "nexturi",
    "nexturl",
    "out",
    "q",
    "r",
    "redir",
    "redirect",
    "redirectback",
    "redirectlink",
    "redirectpage",
    "redirectto",
    "redirecturi",
    "redirecturl",
    "redirurl",
    "relaystate",
    "ret",
    "returl",
    "return",
    "returnpath",
    "returnto",
    "returnuri",
    "returnurl",
    "rt",
    "ru",
    "rurl",
    "service",
    "successuri",
    "successurl",
    "target",
    "targeturi",
    "targeturl",
    "to",
    "u",
    "uri",
    "url",
];

/// Parameters that make an OAuth authorization request of a URL, folded.
const OAUTH_NAMES: &[&str] = &["clientid", "request", "requesturi", "responsetype"];

/// Parameters that carry a credential, folded.
const CREDENTIAL_NAMES: &[&str] = &[
    "accesskey",
    "accesskeyid",
    "accesstoken",
    "apikey",
    "apisecret",
    "apitoken",
    "appsecret",
    "authkey",
    "authorization",
    "authtoken",
    "awsaccesskeyid",
    "bearer",
    "bearertoken",
    "clientsecret",
    "consumersecret",
    "credential",
    "credentials",
    "idtoken",
    "jsessionid",
    "jwt",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "personalaccesstoken",
    "phpsessid",
    "privatekey",
    "privatetoken",
    "pwd",
    "refreshtoken",
    "secret",
    "secretkey",
    "securitytoken",
    "sessid",
    "sessionid",
    "sessionkey",
    "sessiontoken",
    "token",
    "userpassword",
    "xamzcredential",
    "xamzsecuritytoken",
    "xamzsignature",
    "xapikey",
    "xauthtoken",
    "xgoogcredential",
    "xgoogsignature",
];

/// How well-known secrets begin, and how long they are at least.
const SECRET_PREFIXES: &[(&str, usize)] = &[
    ("AIza", 35),
    ("AKIA", 20),
    ("gho_", 20),
    ("ghp_", 20),
    ("ghs_", 20),
    ("ghu_", 20),
    ("github_pat_", 30),
    ("glpat-", 20),
    ("sk-", 24),
    ("sk_live_", 20),
    ("xoxa-", 20),
    ("xoxb-", 20),
    ("xoxp-", 20),
];

pub(super) fn is_secret(value: &str) -> bool {
    value.len() >= 20
        && SECRET_PREFIXES.iter().any(|(prefix, length)| value.len() >= *length && value.starts_with(prefix))
}

const LONGEST_NAME: usize = 24;

/// The name of a parameter, without case and without `-`, `_` and `.`. Longer names are in no list.
pub(super) struct Name {
    bytes: [u8; LONGEST_NAME],
    length: usize,
}

impl Name {
    pub(super) fn of(name: &str) -> Self {
        let (mut bytes, mut length) = ([0; LONGEST_NAME], 0);
        for byte in name.bytes().filter(|byte| !matches!(byte, b'-' | b'_' | b'.')) {
            let Some(place) = bytes.get_mut(length) else {
                return Self { bytes, length: 0 };
            };
            *place = byte.to_ascii_lowercase();
            length += 1;
        }
        Self { bytes, length }
    }

    fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    fn is_in(&self, list: &[&str]) -> bool {
        list.binary_search_by(|entry| entry.as_bytes().cmp(self.as_bytes())).is_ok()
    }

    pub(super) fn is_redirect(&self) -> bool {
        self.is_in(REDIRECT_NAMES)
    }

    pub(super) fn is_redirect_uri(&self) -> bool {
        self.as_bytes() == b"redirecturi"
    }

    pub(super) fn is_oauth(&self) -> bool {
        self.is_in(OAUTH_NAMES)
    }

    pub(super) fn is_credential(&self) -> bool {
        self.is_in(CREDENTIAL_NAMES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_folded() {
        for list in [REDIRECT_NAMES, OAUTH_NAMES, CREDENTIAL_NAMES] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
            for name in list {
                assert_eq!(Name::of(name).as_bytes(), name.as_bytes(), "{name}");
            }
        }
    }
}
