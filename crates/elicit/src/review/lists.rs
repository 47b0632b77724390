//! Names and numbers that stand for something. Each list is sorted, and searched so.

/// Ports that the fetch standard does not let pages be on, and those of databases, remote desktops,
/// container engines and debuggers.
const SERVICE_PORTS: &[u16] = &[
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109,
    110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 445, 465, 512, 513, 514, 515, 526, 530,
    531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1433, 1719, 1720, 1723, 2049, 2375, 2376,
    3306, 3389, 3659, 4045, 4190, 5060, 5061, 5432, 5900, 6000, 6379, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
    9222, 10080, 11211, 27017,
];

/// Registrable domains that forward to whatever somebody entered.
const SHORTENERS: &[&str] = &[
    "b.link",
    "bit.do",
    "bit.ly",
    "bitly.com",
    "bl.ink",
    "buff.ly",
    "clck.ru",
    "cli.gs",
    "cutt.ly",
    "db.tt",
    "dlvr.it",
    "goo.gl",
    "hyperurl.co",
    "is.gd",
    "j.mp",
    "lc.chat",
    "lnkd.in",
    "mcaf.ee",
    "ow.ly",
    "qr.ae",
    "rb.gy",
    "rebrand.ly",
    "s.id",
    "short.gy",
    "short.io",
    "shorturl.at",
    "shorturl.gg",
    "snip.ly",
    "soo.gd",
    "surl.li",
    "t.co",
    "t.ly",
    "t2m.io",
    "tiny.cc",
    "tiny.one",
    "tinyurl.com",
    "tr.im",
    "trib.al",
    "u.nu",
    "urlz.fr",
    "v.gd",
    "x.gd",
    "yourls.org",
];

/// Names under which clouds answer their machines.
const METADATA_NAMES: &[&str] = &[
    "instance-data",
    "instance-data.ec2.internal",
    "metadata",
    "metadata.azure.internal",
    "metadata.goog",
    "metadata.google.internal",
    "metadata.tencentyun.com",
];

pub(super) fn is_service_port(port: u16) -> bool {
    SERVICE_PORTS.binary_search(&port).is_ok()
}

pub(super) fn is_shortener(registrable: &str) -> bool {
    SHORTENERS.binary_search(&registrable).is_ok()
}

pub(super) fn is_metadata_name(host: &str) -> bool {
    METADATA_NAMES.binary_search(&host).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(SERVICE_PORTS.is_sorted_by(|a, b| a < b));
        for list in [SHORTENERS, METADATA_NAMES] {
            assert!(list.is_sorted_by(|a, b| a < b), "{list:?}");
        }
    }
}
