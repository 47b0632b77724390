//! What the issuer sends back through the browser (RFC 6749, section 4.1.2; RFC 9207).

use secrecy::SecretString;

use super::{Fault, Refusal};

/// The query of the redirect URI. Whoever sends the browser here has written it.
pub(super) struct Reply<'q> {
    /// The state, sealed or not.
    pub(super) state: &'q str,
    code: Option<&'q str>,
    iss: Option<&'q str>,
    error: Option<&'q str>,
    description: Option<&'q str>,
}

impl<'q> Reply<'q> {
    /// Reads it. A parameter that stands twice, or no state, is no reply; others are ignored.
    pub(super) fn read(query: &'q [(String, String)]) -> Result<Self, Fault> {
        let one = |name: &str| {
            let mut values = query.iter().filter(|(key, _)| key == name).map(|(_, value)| value.as_str());
            let value = values.next();
            if values.next().is_some() { Err(Fault::NoReply) } else { Ok(value) }
        };
        Ok(Self {
            state: one("state")?.ok_or(Fault::NoReply)?,
            code: one("code")?,
            iss: one("iss")?,
            error: one("error")?,
            description: one("error_description")?,
        })
    }

    /// Whether it comes from this issuer: `iss` is identical wherever it stands, and stands wherever the issuer says that it
    /// sends it (RFC 9207, section 2.4); for errors as well.
    pub(super) fn is_from(&self, issuer: &str, always: bool) -> Result<(), Fault> {
        match self.iss {
            Some(iss) if iss == issuer => Ok(()),
            None if !always => Ok(()),
            _ => Err(Fault::OtherIssuer),
        }
    }

    /// The code, or what the issuer says instead.
    pub(super) fn code(&self) -> Result<SecretString, Fault> {
        match (self.code, self.error) {
            (Some(code), None) if !code.is_empty() => Ok(SecretString::from(code)),
            (None, Some(error)) => Err(Fault::Refused(Refusal::new(error, self.description))),
            _ => Err(Fault::NoReply),
        }
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret as _;

    use super::*;

    const ISSUER: &str = "https://id.example";

    fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_reply_is_a_state_and_either_a_code_or_an_error() {
        let query = pairs(&[("code", "c"), ("state", "s"), ("session_state", "x"), ("session_state", "y")]);
        let reply = Reply::read(&query).unwrap();
        assert_eq!((reply.state, reply.code().unwrap().expose_secret()), ("s", "c"));
        for wrong in [
            &[][..],
            &[("code", "c")],
            &[("state", "s"), ("state", "s"), ("code", "c")],
            &[("state", "s"), ("code", "c"), ("code", "d")],
            &[("state", "s"), ("code", "c"), ("iss", ISSUER), ("iss", ISSUER)],
        ] {
            assert!(matches!(Reply::read(&pairs(wrong)), Err(Fault::NoReply)), "{wrong:?}");
        }
        for wrong in
            [&[("state", "s")][..], &[("state", "s"), ("code", "")], &[("state", "s"), ("code", "c"), ("error", "e")]]
        {
            let query = pairs(wrong);
            assert!(matches!(Reply::read(&query).unwrap().code(), Err(Fault::NoReply)), "{wrong:?}");
        }
    }

    /// R-OAUTH-02, RFC 9207: the issuer is compared byte by byte, and may be missing only where it never stands.
    #[test]
    fn a_reply_names_its_issuer() {
        for (iss, always, fine) in [
            (Some(ISSUER), true, true),
            (Some(ISSUER), false, true),
            (None, false, true),
            (None, true, false),
            (Some("https://id.example/"), false, false),
            (Some("https://ID.example"), true, false),
            (Some(""), false, false),
        ] {
            let mut query = pairs(&[("state", "s"), ("error", "access_denied")]);
            query.extend(iss.map(|iss| ("iss".to_owned(), iss.to_owned())));
            assert_eq!(Reply::read(&query).unwrap().is_from(ISSUER, always).is_ok(), fine, "{iss:?} {always}");
        }
    }
}
