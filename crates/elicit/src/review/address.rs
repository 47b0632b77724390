//! Hosts that are addresses: the IANA special-purpose address registries for IPv4 and IPv6.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::Reason;
use super::finding::Findings;

/// Reviews an IPv4 address; `written` is how the host was written, percent-decoded.
pub(super) fn review_ipv4(address: Ipv4Addr, written: &str, findings: &mut Findings<'_>) {
    findings.add(ipv4(address));
    findings.add_if(is_metadata_ipv4(address), Reason::MetadataEndpoint);
    findings.add_if(written != address.to_string(), Reason::NonCanonicalIp);
}

/// Reviews an IPv6 address. One that embeds an IPv4 address is what that one is.
pub(super) fn review_ipv6(address: Ipv6Addr, findings: &mut Findings<'_>) {
    let embedded = embedded(address);
    findings.add(embedded.map_or_else(|| ipv6(address), ipv4));
    findings.add_if(is_mapped(address), Reason::Ipv4MappedIpv6);
    findings.add_if(is_metadata_ipv6(address) || embedded.is_some_and(is_metadata_ipv4), Reason::MetadataEndpoint);
}

/// Whether the address, or the IPv4 address in it, is this computer.
pub(super) fn is_loopback_ipv6(address: Ipv6Addr) -> bool {
    embedded(address).map_or(address.is_loopback(), |address| address.is_loopback())
}

/// What kind of address it is. Ranges that the internet does not route count as private, but for
/// those of documentation, which lead nowhere.
fn ipv4(address: Ipv4Addr) -> Reason {
    match address.octets() {
        [0, ..] => Reason::UnspecifiedIp,
        [127, ..] => Reason::Loopback,
        [100, 64..=127, ..] => Reason::SharedAddressSpace,
        [169, 254, ..] => Reason::LinkLocal,
        [224..=239, ..] => Reason::Multicast,
        [255, 255, 255, 255] => Reason::Broadcast,
        // Private use; protocol assignments, benchmarks, and what is reserved.
        [10 | 240..=255, ..] | [172, 16..=31, ..] | [192, 168, ..] | [192, 0, 0, _] | [198, 18 | 19, ..] => {
            Reason::PrivateIp
        }
        _ => Reason::IpLiteral,
    }
}

fn ipv6(address: Ipv6Addr) -> Reason {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => Reason::UnspecifiedIp,
        [0, 0, 0, 0, 0, 0, 0, 1] => Reason::Loopback,
        [0xfc00..=0xfdff, ..] => Reason::UniqueLocal,
        [0xfe80..=0xfebf, ..] => Reason::LinkLocal,
        [0xff00..=0xffff, ..] => Reason::Multicast,
        // Local translation, discard, benchmarks, segment routing, and the old site-local range.
        [0x64, 0xff9b, 1, ..] | [0x100, 0, 0, 0, ..] | [0x2001, 2, 0, ..] | [0x5f00 | 0xfec0..=0xfeff, ..] => {
            Reason::PrivateIp
        }
        _ => Reason::IpLiteral,
    }
}

/// The IPv4 address in an IPv6 one: mapped (RFC 4291), compatible (the same, deprecated),
/// translated (`64:ff9b::/96`, RFC 6052) or 6to4 (`2002::/16`, RFC 3056).
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let (high, low) = match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => return None,
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            (high, low)
        }
        _ => return None,
    };
    Some(Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low)))
}

/// IPv4-mapped, or IPv4-compatible, which is as much of a disguise.
fn is_mapped(address: Ipv6Addr) -> bool {
    matches!(address.segments(), [0, 0, 0, 0, 0, 0 | 0xffff, ..]) && embedded(address).is_some()
}

/// Where clouds answer their machines: most of them; containers and pods at AWS; Tencent; Alibaba;
/// Azure's wire server; Oracle.
fn is_metadata_ipv4(address: Ipv4Addr) -> bool {
    matches!(
        address.octets(),
        [169, 254, 169, 254]
            | [169, 254, 170, 2 | 23]
            | [169, 254, 0, 23]
            | [100, 100, 100, 200]
            | [168, 63, 129, 16]
            | [192, 0, 0, 192]
    )
}

/// AWS (machines and pods), Google, and clouds that keep the IPv4 address in a link-local one.
fn is_metadata_ipv6(address: Ipv6Addr) -> bool {
    matches!(
        address.segments(),
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254 | 0x23]
            | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254]
            | [0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe]
    )
}
