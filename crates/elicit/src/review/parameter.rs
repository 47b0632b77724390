//! Parameters whose names say what they carry.

/// What a parameter is to the page that it is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Where the page sends its visitor.
    Redirect,
    /// The same of an authorization request (RFC 6749, section 4.1.1), or of a page that is none.
    RedirectUri,
    /// What some authorization servers call a redirect URI.
    Return,
    /// The same of a request to a Central Authentication Service.
    Service,
    /// The same of a SAML request, if it is an address at all.
    RelayState,
    /// Who asks for authorization.
    ClientId,
    /// What only an authorization request has.
    Authorization,
    /// What the page only hands back or reads, and may have the form of a token.
    Opaque,
    /// What makes a request for single sign-on of a URL, which may well be signed.
    SignOn,
    /// A credential, whatever its value is.
    Credential,
    /// A credential if its value looks like one: the number of a payment is called so, too.
    Token,
    /// A signature, which is a credential where it opens what the URL names.
    Signature,
    /// What stands beside such a signature: until when it holds, and whose key it was made with.
    Signed,
}

/// Names, folded as [`Name`] folds.
const ROLES: &[(&str, Role)] = &[
    ("accesskey", Role::Credential),
    ("accesskeyid", Role::Credential),
    ("accesstoken", Role::Credential),
    ("apikey", Role::Credential),
    ("apisecret", Role::Credential),
    ("apitoken", Role::Credential),
    ("appsecret", Role::Credential),
    ("authkey", Role::Credential),
    ("authorization", Role::Credential),
    ("authtoken", Role::Credential),
    ("awsaccesskeyid", Role::Credential),
    ("back", Role::Redirect),
    ("backto", Role::Redirect),
    ("backuri", Role::Redirect),
    ("backurl", Role::Redirect),
    ("bearer", Role::Credential),
    ("bearertoken", Role::Credential),
    ("callback", Role::Return),
    ("callbackuri", Role::Return),
    ("callbackurl", Role::Return),
    ("cancelurl", Role::Redirect),
    ("checkouturl", Role::Redirect),
    ("clientid", Role::ClientId),
    ("clientsecret", Role::Credential),
    ("codechallenge", Role::Authorization),
    ("consumersecret", Role::Credential),
    ("continue", Role::Redirect),
    ("continueto", Role::Redirect),
    ("continueurl", Role::Redirect),
    ("credential", Role::Credential),
    ("credentials", Role::Credential),
    ("dest", Role::Redirect),
    ("destination", Role::Redirect),
    ("destinationurl", Role::Redirect),
    ("desturl", Role::Redirect),
    ("errorurl", Role::Redirect),
    ("expires", Role::Signed),
    ("failureurl", Role::Redirect),
    ("finalurl", Role::Redirect),
    ("followup", Role::Redirect),
    ("forward", Role::Redirect),
    ("forwardto", Role::Redirect),
    ("forwardurl", Role::Redirect),
    ("go", Role::Redirect),
    ("googleaccessid", Role::Signed),
    ("goto", Role::Redirect),
    ("gotourl", Role::Redirect),
    ("href", Role::Redirect),
    ("idtoken", Role::Credential),
    ("idtokenhint", Role::Opaque),
    ("jsessionid", Role::Credential),
    ("jump", Role::Redirect),
    ("jumpurl", Role::Redirect),
    ("jwt", Role::Credential),
    ("keypairid", Role::Signed),
    ("landing", Role::Redirect),
    ("landingurl", Role::Redirect),
    ("link", Role::Redirect),
    ("location", Role::Redirect),
    ("loginurl", Role::Redirect),
    ("logouturl", Role::Redirect),
    ("next", Role::Redirect),
    ("nextpage", Role::Redirect),
    ("nexturi", Role::Redirect),
    ("nexturl", Role::Redirect),
    ("ossaccesskeyid", Role::Signed),
    ("out", Role::Redirect),
    ("passcode", Role::Credential),
    ("passphrase", Role::Credential),
    ("passwd", Role::Credential),
    ("password", Role::Credential),
    ("personalaccesstoken", Role::Credential),
    ("phpsessid", Role::Credential),
    ("policy", Role::Signed),
    ("privatekey", Role::Credential),
    ("privatetoken", Role::Credential),
    ("pwd", Role::Credential),
    ("q", Role::Redirect),
    ("r", Role::Redirect),
    ("redir", Role::Redirect),
    ("redirect", Role::Redirect),
    ("redirectback", Role::Redirect),
    ("redirectlink", Role::Redirect),
    ("redirectpage", Role::Redirect),
    ("redirectto", Role::Redirect),
    ("redirecturi", Role::RedirectUri),
    ("redirecturl", Role::Return),
    ("redirurl", Role::Redirect),
    ("refreshtoken", Role::Credential),
    ("relaystate", Role::RelayState),
    ("request", Role::Authorization),
    ("requesturi", Role::Authorization),
    ("responsetype", Role::Authorization),
    ("ret", Role::Redirect),
    ("returl", Role::Redirect),
    ("return", Role::Redirect),
    ("returnpath", Role::Redirect),
    ("returnto", Role::Redirect),
    ("returnuri", Role::Return),
    ("returnurl", Role::Return),
    ("rt", Role::Redirect),
    ("ru", Role::Redirect),
    ("rurl", Role::Redirect),
    ("samlrequest", Role::SignOn),
    ("samlresponse", Role::SignOn),
    ("se", Role::Signed),
    ("secret", Role::Credential),
    ("secretkey", Role::Credential),
    ("securitytoken", Role::Credential),
    ("service", Role::Service),
    ("sessid", Role::Credential),
    ("sessionid", Role::Credential),
    ("sessionkey", Role::Credential),
    ("sessiontoken", Role::Credential),
    ("sig", Role::Signature),
    ("sigalg", Role::SignOn),
    ("signature", Role::Signature),
    ("sso", Role::SignOn),
    ("state", Role::Opaque),
    ("successuri", Role::Redirect),
    ("successurl", Role::Redirect),
    ("sv", Role::Signed),
    ("target", Role::Redirect),
    ("targeturi", Role::Redirect),
    ("targeturl", Role::Redirect),
    ("to", Role::Redirect),
    ("token", Role::Token),
    ("u", Role::Redirect),
    ("uri", Role::Redirect),
    ("url", Role::Redirect),
    ("userpassword", Role::Credential),
    ("xamzcredential", Role::Credential),
    ("xamzsecuritytoken", Role::Credential),
    ("xamzsignature", Role::Credential),
    ("xapikey", Role::Credential),
    ("xauthtoken", Role::Credential),
    ("xgoogcredential", Role::Credential),
    ("xgoogsignature", Role::Credential),
];

/// A set of roles.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Roles(u16);

impl Roles {
    pub(super) fn add(&mut self, role: Role) {
        self.0 |= 1 << role as u16;
    }

    pub(super) fn have(self, role: Role) -> bool {
        self.0 & (1 << role as u16) != 0
    }
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

    pub(super) fn role(&self) -> Option<Role> {
        let index = ROLES.binary_search_by(|(name, _)| name.as_bytes().cmp(self.as_bytes())).ok()?;
        ROLES.get(index).map(|(_, role)| *role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_sorted_and_folded() {
        assert!(ROLES.is_sorted_by(|(a, _), (b, _)| a < b));
        for (name, role) in ROLES {
            assert_eq!(Name::of(name).as_bytes(), name.as_bytes(), "{name}");
            assert_eq!(Name::of(name).role(), Some(*role), "{name}");
        }
    }
}
