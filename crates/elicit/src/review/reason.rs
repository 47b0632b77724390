use std::fmt;

use super::Verdict;

/// The type of what a reason carries.
macro_rules! data {
    ($data:ident) => {
        String
    };
}

/// Everything that is said of a reason stands in one row: variant, data, name, message.
macro_rules! reasons {
    ($( $verdict:ident { $( $variant:ident $(($data:ident))? $name:literal $message:literal )* } )*) => {
        /// What a review can find.
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Reason {
            $($(
                #[doc = concat!("`", $name, "`: ", $message)]
                $variant $((data!($data)))?,
            )*)*
        }

        impl Reason {
            /// The name without its data, in `snake_case`.
            pub fn name(&self) -> &'static str {
                match self {
                    $($( Self::$variant { .. } => $name, )*)*
                }
            }

            /// The domain or label that the reason is about, where it is about one of the
            /// profile's.
            pub fn data(&self) -> Option<&str> {
                match self {
                    $($( $( Self::$variant($data) => Some($data), )? )*)*
                    _ => None,
                }
            }

            /// One sentence for a person: what is odd, and what to do.
            pub fn message(&self) -> String {
                match self {
                    $($( Self::$variant $(($data))? => format!($message), )*)*
                }
            }

            /// How bad it is where no profile says otherwise.
            pub(super) fn verdict(&self) -> Verdict {
                match self {
                    $( $( Self::$variant { .. } )|* => Verdict::$verdict, )*
                }
            }
        }

        /// Every name, with its verdict where no profile says otherwise, and its message.
        #[cfg(test)]
        pub(super) const ROWS: &[(&str, Verdict, &str)] = &[ $($( ($name, Verdict::$verdict, $message), )*)* ];
    };
}

reasons! {
    Block {
        UrlTooLong "url_too_long"
            "The link is far longer than any honest one; it was not looked into and is not opened."
        ForbiddenScheme "forbidden_scheme"
            "This is no web page but a link that starts something else on your computer; it is not opened."
        InsecureScheme "insecure_scheme"
            "The page is not encrypted (http), so others can read and change it; ask for an https link."
        RelativeUrl "relative_url"
            "The link is incomplete and names no place on the web; ask for the full https link."
        Unparseable "unparseable"
            "This is not a valid link, so it cannot be said where it leads; ask for a correct one."
        EmptyHost "empty_host"
            "The link names no host, so it leads nowhere; ask for a correct one."
        Userinfo "userinfo"
            "What stands before the @ is a user name made to look like an address; the link is not opened."
        Backslash "backslash"
            "The link holds a backslash, which programs read in different ways; ask for a link without it."
        ControlOrWhitespaceInRaw "control_or_whitespace_in_raw"
            "The link holds spaces or hidden control characters; ask for a clean one."
        BidiControlInRaw "bidi_control_in_raw"
            "The link holds characters that turn the direction of text and hide what it says; it is not opened."
        InvisibleCharInRaw "invisible_char_in_raw"
            "The link holds characters that cannot be seen; it is not opened."
        NonCanonicalSlashes "non_canonical_slashes"
            "The link does not begin with https:// as it should; ask for a correct one."
        PercentEncodedHost "percent_encoded_host"
            "The host is disguised by percent signs; the link is not opened."
        EmptyLabel "empty_label"
            "The host has two dots in a row or begins with one, so it is no valid name; ask for a correct link."
        LabelTooLong "label_too_long"
            "A part of the host is longer than a name can be (63 characters); the link is not opened."
        HostTooLong "host_too_long"
            "The host is longer than a name can be (253 characters); the link is not opened."
        InvalidPunycode "invalid_punycode"
            "A part of the host that begins with xn-- stands for no valid name; the link is not opened."
        BidiRuleViolation "bidi_rule_violation"
            "The host mixes writing from the left and from the right, so it cannot be read safely; it is not opened."
        NonCanonicalIp "non_canonical_ip"
            "The host is a disguised number address; the link is not opened."
        Ipv4MappedIpv6 "ipv4_mapped_ipv6"
            "The host is one number address disguised as another; the link is not opened."
        MetadataEndpoint "metadata_endpoint"
            "This is where cloud machines keep their secrets, never a page for people; it is not opened."
        PrivateIp "private_ip"
            "The link leads into a private network, where a server has no business to send you; it is not opened."
        LinkLocal "link_local"
            "The link leads to a device on the local network; it is not opened."
        UniqueLocal "unique_local"
            "The link leads into a private network, where a server has no business to send you; it is not opened."
        SharedAddressSpace "shared_address_space"
            "The link leads into a provider's or overlay network, not to the web; it is not opened."
        UnspecifiedIp "unspecified_ip"
            "The host is the address of nothing, which can reach this computer; the link is not opened."
        Multicast "multicast"
            "The host is an address of many computers at once, never a page; the link is not opened."
        Broadcast "broadcast"
            "The host is the address of all computers at once, never a page; the link is not opened."
        InternalName "internal_name"
            "The host is a name of an internal network, where a server has no business to send you; it is not opened."
        MixedScript "mixed_script"
            "The host mixes letters of several scripts that look alike; the link is not opened."
        WholeScriptConfusable "whole_script_confusable"
            "The host is written in foreign letters that look like Latin ones; the link is not opened."
        SkeletonMatch(domain) "skeleton_match"
            "The host looks like {domain} but is another one; go to {domain} yourself if that is where you want to be."
        SlashLookalike "slash_lookalike"
            "The host holds a character that looks like a slash, ?, # or :, so it seems to end too early; it is not opened."
    }
    Warn {
        Punycode "punycode"
            "The host has letters outside a to z; compare both of its spellings with the one that you expect."
        Loopback "loopback"
            "The link leads to a program on this very computer; open it only if you started that program."
        InsecureSchemeLoopback "insecure_scheme_loopback"
            "The page is not encrypted, which is usual on your own computer; open it only if you expect that."
        IpLiteral "ip_literal"
            "The host is a bare number address that says nothing about its owner; open it only if you know it."
        NonDefaultPort "non_default_port"
            "The link names an unusual port; open it only if you expect that of this host."
        SuspiciousPort "suspicious_port"
            "The port belongs to another service than the web; better do not open the link."
        SingleLabelHost "single_label_host"
            "The host is a short name that means something else in every network; open it only if it is yours."
        TrailingDot "trailing_dot"
            "The host ends in a dot, which is odd; open it only if you know the host."
        HostIsPublicSuffix "host_is_public_suffix"
            "The host is no one's own but a domain under which many have names; check with the sender."
        NoKnownPublicSuffix "no_known_public_suffix"
            "The host ends in a name that the public internet does not know; open it only in your own network."
        SpecialUseTld "special_use_tld"
            "The host ends in a name that is reserved for special uses; open it only if you know what it is for."
        NotIdentifierAllowed "not_identifier_allowed"
            "The host holds symbols that are unusual in names; check it letter by letter."
        RestrictedScript "restricted_script"
            "The host is in a script that is hardly used today; check it letter by letter."
        UncommonLetter "uncommon_letter"
            "The host holds an uncommon letter that may look like another; check it letter by letter."
        DigitLookalike "digit_lookalike"
            "The host holds letters that look like digits; check it character by character."
        DeviationCharacter "deviation_character"
            "The host holds a character (such as ß) that older programs read as another host; check where you arrive."
        DotLookalike "dot_lookalike"
            "The host holds a character that looks like a dot; check where the name really ends."
        HostMappedToAscii "host_mapped_to_ascii"
            "The host was written in unusual characters and turned into the plain one shown; check that one."
        DigitLookalikeOf(domain) "digit_lookalike"
            "The host looks like {domain} with digits for letters; go to {domain} yourself if you want to be there."
        EditDistance1(domain) "edit_distance_1"
            "The host differs from {domain} in one character; check that it is no misspelling."
        KnownLabelEmbedded(label) "known_label_embedded"
            "The host has {label} in its name but need not belong to it; check the end of the host."
        KnownDomainInSubdomain(domain) "known_domain_in_subdomain"
            "The host has {domain} in it but belongs to somebody else; look at the end of the host."
        ManyLabels "many_labels"
            "The host has so many parts that its end, which counts, is easily overlooked; look there."
        LongLabel "long_label"
            "A part of the host is so long that the end of the host, which counts, is easily overlooked; look there."
        UnderscoreInHost "underscore_in_host"
            "The host holds an underscore, which names of web sites do not have; open it only if you know it."
        IpEmbeddedInHost "ip_embedded_in_host"
            "The host carries a number address in its name and may lead there; open it only if you know it."
        OpenRedirectParam "open_redirect_param"
            "The page may send you on to another site that is named in the link; check where you arrive."
        CredentialInUrl "credential_in_url"
            "The link seems to carry a password or key, which should never be in a link; tell the sender."
        ShellMetacharacters "shell_metacharacters"
            "The link holds characters that a command line would run; open it here, and do not paste it into one."
        MalformedPercentEncoding "malformed_percent_encoding"
            "A percent sign in the link is not followed by two digits, so it may be read differently; check it."
        VeryLongUrl "very_long_url"
            "The link is so long that much of it escapes the eye; look at the host above all."
        UrlShortener "url_shortener"
            "A link shortener hides where the link leads; ask for the full one."
        UrlInPath "url_in_path"
            "The link has another address inside its path; the host decides where you go, not that address."
        AtSignOutsideAuthority "at_sign_outside_authority"
            "An address after an @ stands inside the link; the host decides where you go, not that address."
        EmptyPort "empty_port"
            "The host is followed by a colon without a port, which is odd; check the host."
        RawDiffersFromSerialized "raw_differs_from_serialized"
            "The link was written in another way than it is opened; the one that is shown is the one that counts."
    }
    Ok {
        PrivateSuffixRegistrable "private_suffix_registrable"
            "Anyone can have a name under this domain, so its first part says whose page this is."
        OauthRedirectUriLoopback "oauth_redirect_uri_loopback"
            "After you have signed in, the page sends you back to a program on this computer."
    }
}

/// The whole name, as `skeleton_match:apple.com`.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match self.data() {
            Some(data) => write!(f, ":{data}"),
            None => Ok(()),
        }
    }
}
