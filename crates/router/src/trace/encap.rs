//! The names by which configurations call the link types of captures.

use trammel_packet::capture::link::LinkType;

/// Names and numbers, the names to be printed first.
const NAMES: &[(&str, LinkType)] = &[
    ("NULL", LinkType::NULL),
    ("ETHER", LinkType::EN10MB),
    ("IP", LinkType::RAW),
    ("IP", LinkType(12)),
    ("IP", LinkType(14)),
    ("IP", LinkType::IPV4),
    ("IP6", LinkType::IPV6),
    ("802_11", LinkType(105)),
    ("802_11_RADIO", LinkType(127)),
    ("PRISM", LinkType(119)),
    ("FDDI", LinkType(10)),
    ("ATM", LinkType(100)),
    ("SUNATM", LinkType(123)),
    ("SLL", LinkType::LINUX_SLL),
    ("SLL2", LinkType::LINUX_SLL2),
    ("AIRONET", LinkType(120)),
    ("HDLC", LinkType(104)),
    ("PPP_HDLC", LinkType(50)),
    ("PPP", LinkType(9)),
    ("LOOP", LinkType::LOOP),
    ("RAW", LinkType::RAW),
    ("EN10MB", LinkType::EN10MB),
];

/// The link type of this name, or of this number.
pub(crate) fn parse(name: &str) -> Option<LinkType> {
    let row = NAMES.iter().find(|(known, _)| *known == name);
    let number = || {
        name.trim_start_matches('#')
            .parse::<u16>()
            .ok()
            .map(LinkType)
    };
    row.map(|(_, link)| *link).or_else(number)
}

/// The name, or the number where there is none.
pub(crate) fn name(link: LinkType) -> String {
    match NAMES.iter().find(|(_, known)| *known == link) {
        Some((name, _)) => (*name).to_owned(),
        None => format!("#{}", link.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for (name_of, link) in NAMES {
            assert!(parse(name_of).is_some());
            assert_eq!(parse(&name(*link)).map(name), Some(name(*link)));
        }
        assert_eq!((parse("147"), parse("NIX")), (Some(LinkType(147)), None));
        assert_eq!(
            (name(LinkType(147)).as_str(), parse("#147")),
            ("#147", Some(LinkType(147)))
        );
    }
}
