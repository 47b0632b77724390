//! Which addresses are on the public internet, and which an operator has allowed beside them (R-SEC-05).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Whether an address is on the public internet: not of this machine, not of a private network, not of the link (where
/// clouds keep their metadata), and none of the special ones (RFC 6890). An address that carries another one is as good as that.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => public_v4(address),
        IpAddr::V6(address) => public_v6(address),
    }
}

fn public_v4(address: Ipv4Addr) -> bool {
    // This network; carrier-grade NAT; protocol assignments; 6to4 relays; benchmarks; reserved and broadcast.
    let special = matches!(
        address.octets(),
        [0 | 240..=255, ..] | [100, 64..=127, ..] | [192, 0, 0, _] | [192, 88, 99, _] | [198, 18 | 19, ..]
    );
    let special = special || address.is_loopback() || address.is_private() || address.is_link_local();
    !(special || address.is_multicast() || address.is_documentation())
}

fn public_v6(address: Ipv6Addr) -> bool {
    if let Some(inner) = carried(address) {
        return public_v4(inner);
    }
    // What is global stands in 2000::/3; of that, Teredo, benchmarks, ORCHID and documentation are none of it.
    let [first, second, ..] = address.segments();
    let special = matches!((first, second), (0x2001, 0..=0x01ff | 0x0db8) | (0x3fff, 0..=0x0fff));
    (0x2000..=0x3fff).contains(&first) && !special
}

/// The IPv4 address that an IPv6 address stands for: mapped, by NAT64 or by 6to4.
fn carried(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let of = |high: u16, low: u16| Ipv4Addr::from((u32::from(high) << 16) | u32::from(low));
    match address.segments() {
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            Some(of(high, low))
        }
        _ => None,
    }
}

/// A range of addresses: `10.0.0.0/8`, `fd00::/8`, or one address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Reads a range. `None` where it is none, or where bits beyond its length are set.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, prefix) = text.split_once('/').map_or((text, None), |(address, prefix)| (address, Some(prefix)));
        let address: IpAddr = address.parse().ok()?;
        let whole = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => whole,
            Some(prefix) if prefix.bytes().all(|byte| byte.is_ascii_digit()) => prefix.parse().ok()?,
            Some(_) => return None,
        };
        let network = Self { address, prefix };
        (prefix <= whole && network.masked(address) == bits(address)).then_some(network)
    }

    /// Whether an address is in it.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.address.is_ipv4() == address.is_ipv4() && self.masked(address) == bits(self.address)
    }

    fn masked(&self, address: IpAddr) -> u128 {
        let whole: u32 = if address.is_ipv4() { 32 } else { 128 };
        let free = whole.saturating_sub(u32::from(self.prefix));
        // A shift by all the bits there are would be none.
        bits(address).checked_shr(free).and_then(|kept| kept.checked_shl(free)).unwrap_or(0)
    }
}

fn bits(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(u32::from(address)),
        IpAddr::V6(address) => u128::from(address),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R-SEC-05
    #[test]
    fn only_addresses_of_the_public_internet_are_public() {
        for (text, public) in [
            ("8.8.8.8", true),
            ("192.0.1.1", true),
            ("100.63.0.1", true),
            ("172.32.0.1", true),
            ("2606:4700::1111", true),
            ("64:ff9b::8.8.8.8", true),
            ("2002:0808:0808::1", true),
            ("0.0.0.0", false),
            ("0.1.2.3", false),
            ("10.0.0.1", false),
            ("100.64.0.1", false),
            ("127.0.0.1", false),
            ("127.255.255.254", false),
            ("169.254.169.254", false),
            ("172.16.0.1", false),
            ("192.0.0.8", false),
            ("192.0.2.1", false),
            ("192.168.1.1", false),
            ("198.18.0.1", false),
            ("198.51.100.1", false),
            ("203.0.113.1", false),
            ("224.0.0.1", false),
            ("240.0.0.1", false),
            ("255.255.255.255", false),
            ("::", false),
            ("::1", false),
            ("::127.0.0.1", false),
            ("::ffff:127.0.0.1", false),
            ("::ffff:169.254.169.254", false),
            ("64:ff9b::10.0.0.1", false),
            ("2002:7f00:0001::1", false),
            ("2001::1", false),
            ("2001:db8::1", false),
            ("3fff::1", false),
            ("fc00::1", false),
            ("fd00:ec2::254", false),
            ("fe80::1", false),
            ("fec0::1", false),
            ("ff02::1", false),
            ("100::1", false),
        ] {
            assert_eq!(is_public(text.parse().unwrap()), public, "{text}");
        }
    }

    #[test]
    fn a_network_contains_its_addresses_and_no_others() {
        for (network, address, inside) in [
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "fd00::1", true),
            ("fd00::/8", "fdff::1", true),
            ("fd00::/8", "fe80::1", false),
            ("10.0.0.0/8", "::ffff:10.0.0.1", false),
        ] {
            let network = Network::parse(network).unwrap();
            assert_eq!(network.contains(address.parse().unwrap()), inside, "{network:?} {address}");
        }
    }

    #[test]
    fn what_is_no_network_is_refused() {
        for text in
            ["", "10", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "fd00::/129", "host/8", "10.0.0.0/8/8"]
        {
            assert_eq!(Network::parse(text), None, "{text}");
        }
    }
}
