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

/// Names, folded as [`Name`] folds; in the order of their lengths, which are compared sooner than texts.
const ROLES: &[(&str, Role)] = &[
    ("q", Role::Redirect),
    ("r", Role::Redirect),
    ("u", Role::Redirect),
    ("go", Role::Redirect),
    ("rt", Role::Redirect),
    ("ru", Role::Redirect),
    ("se", Role::Signed),
    ("sv", Role::Signed),
    ("to", Role::Redirect),
    ("jwt", Role::Credential),
    ("out", Role::Redirect),
    ("pwd", Role::Credential),
    ("ret", Role::Redirect),
    ("sig", Role::Signature),
    ("sso", Role::SignOn),
    ("uri", Role::Redirect),
    ("url", Role::Redirect),
    ("back", Role::Redirect),
    ("dest", Role::Redirect),
    ("goto", Role::Redirect),
    ("href", Role::Redirect),
    ("jump", Role::Redirect),
    ("link", Role::Redirect),
    ("next", Role::Redirect),
    ("rurl", Role::Redirect),
    ("redir", Role::Redirect),
    ("state", Role::Opaque),
    ("token", Role::Token),
    ("apikey", Role::Credential),
    ("backto", Role::Redirect),
    ("bearer", Role::Credential),
    ("passwd", Role::Credential),
    ("policy", Role::Signed),
    ("returl", Role::Redirect),
    ("return", Role::Redirect),
    ("secret", Role::Credential),
    ("sessid", Role::Credential),
    ("sigalg", Role::SignOn),
    ("target", Role::Redirect),
    ("authkey", Role::Credential),
    ("backuri", Role::Redirect),
    ("backurl", Role::Redirect),
    ("desturl", Role::Redirect),
    ("expires", Role::Signed),
    ("forward", Role::Redirect),
    ("gotourl", Role::Redirect),
    ("idtoken", Role::Credential),
    ("jumpurl", Role::Redirect),
    ("landing", Role::Redirect),
    ("nexturi", Role::Redirect),
    ("nexturl", Role::Redirect),
    ("request", Role::Authorization),
    ("service", Role::Service),
    ("xapikey", Role::Credential),
    ("apitoken", Role::Credential),
    ("callback", Role::Return),
    ("clientid", Role::ClientId),
    ("continue", Role::Redirect),
    ("errorurl", Role::Redirect),
    ("finalurl", Role::Redirect),
    ("followup", Role::Redirect),
    ("location", Role::Redirect),
    ("loginurl", Role::Redirect),
    ("nextpage", Role::Redirect),
    ("passcode", Role::Credential),
    ("password", Role::Credential),
    ("redirect", Role::Redirect),
    ("redirurl", Role::Redirect),
    ("returnto", Role::Redirect),
    ("accesskey", Role::Credential),
    ("apisecret", Role::Credential),
    ("appsecret", Role::Credential),
    ("authtoken", Role::Credential),
    ("cancelurl", Role::Redirect),
    ("forwardto", Role::Redirect),
    ("keypairid", Role::Signed),
    ("logouturl", Role::Redirect),
    ("phpsessid", Role::Credential),
    ("returnuri", Role::Return),
    ("returnurl", Role::Return),
    ("secretkey", Role::Credential),
    ("sessionid", Role::Credential),
    ("signature", Role::Signature),
    ("targeturi", Role::Redirect),
    ("targeturl", Role::Redirect),
    ("continueto", Role::Redirect),
    ("credential", Role::Credential),
    ("failureurl", Role::Redirect),
    ("forwardurl", Role::Redirect),
    ("jsessionid", Role::Credential),
    ("landingurl", Role::Redirect),
    ("passphrase", Role::Credential),
    ("privatekey", Role::Credential),
    ("redirectto", Role::Redirect),
    ("relaystate", Role::RelayState),
    ("requesturi", Role::Authorization),
    ("returnpath", Role::Redirect),
    ("sessionkey", Role::Credential),
    ("successuri", Role::Redirect),
    ("successurl", Role::Redirect),
    ("xauthtoken", Role::Credential),
    ("accesskeyid", Role::Credential),
    ("accesstoken", Role::Credential),
    ("bearertoken", Role::Credential),
    ("callbackuri", Role::Return),
    ("callbackurl", Role::Return),
    ("checkouturl", Role::Redirect),
    ("continueurl", Role::Redirect),
    ("credentials", Role::Credential),
    ("destination", Role::Redirect),
    ("idtokenhint", Role::Opaque),
    ("redirecturi", Role::RedirectUri),
    ("redirecturl", Role::Return),
    ("samlrequest", Role::SignOn),
    ("clientsecret", Role::Credential),
    ("privatetoken", Role::Credential),
    ("redirectback", Role::Redirect),
    ("redirectlink", Role::Redirect),
    ("redirectpage", Role::Redirect),
    ("refreshtoken", Role::Credential),
    ("responsetype", Role::Authorization),
    ("samlresponse", Role::SignOn),
    ("sessiontoken", Role::Credential),
    ("userpassword", Role::Credential),
    ("authorization", Role::Credential),
    ("codechallenge", Role::Authorization),
    ("securitytoken", Role::Credential),
    ("xamzsignature", Role::Credential),
    ("awsaccesskeyid", Role::Credential),
    ("consumersecret", Role::Credential),
    ("destinationurl", Role::Redirect),
    ("googleaccessid", Role::Signed),
    ("ossaccesskeyid", Role::Signed),
    ("xamzcredential", Role::Credential),
    ("xgoogsignature", Role::Credential),
    ("xgoogcredential", Role::Credential),
    ("xamzsecuritytoken", Role::Credential),
    ("personalaccesstoken", Role::Credential),
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
        let by_length = |name: &str| name.len().cmp(&self.length).then_with(|| name.as_bytes().cmp(self.as_bytes()));
        let index = ROLES.binary_search_by(|(name, _)| by_length(name)).ok()?;
        ROLES.get(index).map(|(_, role)| *role)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_sorted_and_folded() {
        assert!(ROLES.is_sorted_by(|(a, _), (b, _)| (a.len(), a) < (b.len(), b)));
        for (name, role) in ROLES {
            assert_eq!(Name::of(name).as_bytes(), name.as_bytes(), "{name}");
            assert_eq!(Name::of(name).role(), Some(*role), "{name}");
        }
    }
}
