//! The arguments of elements that check IPv4 headers, and the check of a batch.

use crate::args::addresses::{parse_ip_list, parse_ip_prefix};
use crate::args::kinds::INT;
use crate::args::names::Names;
use crate::args::numbers::parse_int;
use crate::args::text::split_words;
use crate::args::{Args, Kind, Need, Param, flag, keyword, param};
use crate::diagnostic::Diagnostics;
use crate::engine::Ctx;
use crate::engine::setup::Setup;
use crate::headers::header_faults::{DETAILS, Faults, VERBOSE};
use crate::headers::ip_packet::{FAULTS, Fault, Sources, check};
use crate::reason::Reason;
use trammel_packet::batch::Packets;

/// Where the router's interfaces are.
pub(crate) const INTERFACES: Param = keyword(
    "INTERFACES",
    Kind::Raw,
    "",
    "the router's addresses with their prefixes; their broadcast addresses are no sources",
);
/// Sources to refuse.
pub(crate) const BADSRC: Param = keyword("BADSRC", Kind::IpList, "", "sources that are refused");
/// Destinations that are exempted.
pub(crate) const GOODDST: Param = keyword(
    "GOODDST",
    Kind::IpList,
    "",
    "destinations whose packets may have any source",
);

/// The arguments of `CheckIPHeader`.
pub(crate) const PARAMS: &[Param] = &[
    INTERFACES,
    BADSRC,
    GOODDST,
    keyword("OFFSET", INT, "0", "where the header begins"),
    VERBOSE,
    DETAILS,
    flag("CHECKSUM", "", "whether the checksum is checked"),
    param(
        "PLACES",
        Need::Rest,
        Kind::Raw,
        "",
        "the offset; or bad sources, then the offset",
    ),
];

/// The sources that `INTERFACES`, `BADSRC` and `GOODDST` forbid.
pub(crate) fn sources(args: &Args, names: &dyn Names) -> Result<Sources, Diagnostics> {
    let mut sources = Sources::default();
    for word in split_words(args.text("INTERFACES")) {
        let prefix = parse_ip_prefix(&word, true, names).map_err(|why| {
            let mut said = Diagnostics::new();
            said.error(None, format!("INTERFACES: {why}"));
            said
        })?;
        sources.bad.push(prefix.broadcast().octets());
        sources.good_destinations.push(prefix.address.octets());
    }
    if !sources.bad.is_empty() {
        add_usual(&mut sources);
    }
    let list = |name| args.ip_list(name).iter().map(std::net::Ipv4Addr::octets);
    sources.bad.extend(list("BADSRC"));
    sources.good_destinations.extend(list("GOODDST"));
    Ok(sources)
}

/// Addresses that are never sources.
pub(crate) fn add_usual(sources: &mut Sources) {
    sources.bad.extend([[0; 4], [255; 4]]);
}

/// What is checked, and what was found.
#[derive(Debug, Default)]
pub(crate) struct IpCheck {
    offset: usize,
    with_checksum: bool,
    sources: Sources,
    /// What was found.
    pub faults: Faults,
}

impl IpCheck {
    /// A check that looks at checksums or not, unless the arguments say.
    pub(crate) fn new(with_checksum: bool) -> IpCheck {
        IpCheck {
            with_checksum,
            ..IpCheck::default()
        }
    }

    /// Takes the arguments of [`PARAMS`].
    pub(crate) fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let names = setup.names();
        let mut said = Diagnostics::new();
        self.sources = sources(args, &names)?;
        let mut offset = args.int("OFFSET");
        let number = |text: &str| parse_int(text, i64::from(i32::MIN), i64::from(i32::MAX));
        match args.rest() {
            [] => {}
            [one] if number(one).is_ok() => offset = number(one).unwrap_or(0),
            [old, rest @ ..] => {
                match parse_ip_list(old, &names) {
                    Ok(list) => {
                        self.sources
                            .bad
                            .extend(list.iter().map(std::net::Ipv4Addr::octets));
                        add_usual(&mut self.sources);
                    }
                    Err(why) => said.error(None, format!("BADSRC: {why}")),
                }
                match rest {
                    [] => {}
                    [at] => match number(at) {
                        Ok(number) => offset = number,
                        Err(why) => said.error(None, format!("OFFSET: {why}")),
                    },
                    _ => said.error(None, "too many arguments"),
                }
            }
        }
        // Beyond any packet where it is negative: each is too short then.
        self.offset = usize::try_from(offset).unwrap_or(usize::MAX);
        self.with_checksum = args.opt_bool("CHECKSUM").unwrap_or(self.with_checksum);
        self.faults = Faults::new(FAULTS, args);
        if said.has_errors() { Err(said) } else { Ok(()) }
    }

    /// Keeps the good packets.
    #[inline]
    pub(crate) fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|packet| {
            let inner = &mut ctx.pool()[&packet];
            match check(inner, self.offset, self.with_checksum, &self.sources) {
                Ok(()) => Some(packet),
                Err(fault) => {
                    let introduction =
                        |ctx: &Ctx| format!("{}: IP header check failed", ctx.name(ctx.me()));
                    self.faults
                        .reject(ctx, packet, fault as usize, reason(fault), introduction);
                    None
                }
            }
        });
    }
}

/// For the count of drops.
pub(crate) fn reason(fault: Fault) -> Reason {
    match fault {
        Fault::Tiny => Reason::TooShort,
        Fault::Version => Reason::BadVersion,
        Fault::HeaderLength => Reason::BadHeader,
        Fault::Length => Reason::BadLength,
        Fault::Checksum => Reason::BadChecksum,
        Fault::Source => Reason::BadSource,
    }
}
