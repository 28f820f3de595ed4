//! One clause of a filter, `src tcp port & 0xff >= 8`: its parts, checked, and the tests it stands
//! for.
//!
//! Ports, TCP's flags and window, ICMP's type and bytes of a transport header are asked of the
//! first fragment of a packet of the protocol, whatever the relation: `tcp port != 5` is false for
//! UDP.

use super::expr::{Arena, Base, Expr, Relation, Test, Word};
use super::names::{TCP_OR_UDP, TRANSP};
use crate::diagnostic::Diagnostics;

/// A field of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Field {
    /// Whose: 0 for the network header.
    pub(crate) protocol: u32,
    /// Its first bit.
    pub(crate) bit: u32,
    /// How many bits, 1 to 32.
    pub(crate) bits: u32,
}

impl Field {
    const fn ip(bit: u32, bits: u32) -> Field {
        Field {
            protocol: 0,
            bit,
            bits,
        }
    }
}

const TOS: Field = Field::ip(8, 8);
const ICMP_TYPE: Field = Field {
    protocol: 1,
    bit: 0,
    bits: 8,
};

/// What a clause asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Host,
    Net,
    Ether,
    Protocol,
    Frag,
    Unfrag,
    Port,
    TcpOpt,
    Ect,
    Ce,
    Field(Field),
}

impl Kind {
    pub(crate) const ICMP_TYPE: Kind = Kind::Field(ICMP_TYPE);

    /// The fields that have a word, with the words that people read.
    const FIELDS: &[(&str, &str, Field)] = &[
        ("dscp", "ip dscp", Field::ip(8, 6)),
        ("hl", "ip hl", Field::ip(4, 4)),
        ("id", "ip id", Field::ip(32, 16)),
        ("len", "ip len", Field::ip(16, 16)),
        ("tos", "ip tos", TOS),
        ("ttl", "ip ttl", Field::ip(64, 8)),
        ("vers", "ip vers", Field::ip(0, 4)),
        ("type", "icmp type", ICMP_TYPE),
        (
            "win",
            "tcp win",
            Field {
                protocol: 6,
                bit: 112,
                bits: 16,
            },
        ),
    ];

    /// The kinds that have a word, with the words that people read.
    const KINDS: &[(&str, &str, Kind)] = &[
        ("host", "ip host", Kind::Host),
        ("net", "ip net", Kind::Net),
        ("", "ether host", Kind::Ether),
        ("proto", "proto", Kind::Protocol),
        ("frag", "ip frag", Kind::Frag),
        ("unfrag", "ip unfrag", Kind::Unfrag),
        ("port", "port", Kind::Port),
        ("opt", "tcp opt", Kind::TcpOpt),
        ("ect", "ip ect", Kind::Ect),
        ("ce", "ip ce", Kind::Ce),
    ];

    /// The kind that a word names.
    pub(crate) fn named(word: &str) -> Option<Kind> {
        let kinds = Kind::KINDS.iter().map(|&(name, _, kind)| (name, kind));
        let fields = Kind::FIELDS
            .iter()
            .map(|&(name, _, field)| (name, Kind::Field(field)));
        let found = kinds
            .chain(fields)
            .find(|&(name, _)| name == word && !word.is_empty());
        found.map(|(_, kind)| kind)
    }

    /// As people read it.
    pub(crate) fn text(kind: Option<Kind>) -> String {
        let Some(kind) = kind else {
            return "<none>".to_owned();
        };
        if let Kind::Field(field) = kind {
            let known = Kind::FIELDS.iter().find(|&&(_, _, other)| other == field);
            return match known {
                Some((_, text, _)) => (*text).to_owned(),
                None if field.protocol == 0 => "ip[...]".to_owned(),
                None => format!("{}[...]", protocol_text(Some(field.protocol))),
            };
        }
        let known = Kind::KINDS.iter().find(|&&(_, _, other)| other == kind);
        known
            .map(|(_, text, _)| (*text).to_owned())
            .unwrap_or_default()
    }
}

/// A protocol as people read it.
pub(crate) fn protocol_text(protocol: Option<u32>) -> String {
    match protocol {
        None => String::new(),
        Some(1) => "icmp".to_owned(),
        Some(2) => "igmp".to_owned(),
        Some(4) => "ipip".to_owned(),
        Some(6) => "tcp".to_owned(),
        Some(17) => "udp".to_owned(),
        Some(TCP_OR_UDP) => "tcpudp".to_owned(),
        Some(TRANSP) => "transp".to_owned(),
        Some(other) => format!("ip proto {other}"),
    }
}

/// Which of the two ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    Src,
    Dst,
    Both,
    Either,
}

/// Which header a clause said it means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    Ip,
    Ether,
}

/// How the value stands to the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Order {
    #[default]
    Equal,
    Greater,
    Less,
}

/// What the value of a clause turned out to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Data {
    #[default]
    None,
    Int,
    /// A value that by its name belongs to a kind.
    Of(Kind),
}

/// A mask given after `&`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mask {
    Int(u32),
    Address(u32),
    Ether([u8; 6]),
}

/// A clause as read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clause {
    pub(crate) kind: Option<Kind>,
    pub(crate) ends: Option<Ends>,
    pub(crate) protocol: Option<u32>,
    pub(crate) order: Order,
    /// The relation is the opposite of `order`.
    pub(crate) negated: bool,
    pub(crate) data: Data,
    pub(crate) value: u32,
    /// Of a network; elsewhere what the field or `&` says.
    pub(crate) mask: u32,
    pub(crate) ether: ([u8; 6], [u8; 6]),
}

/// Why a clause cannot be.
type Fault = String;

impl Clause {
    /// Sets the kind, which is said once.
    pub(crate) fn set_kind(&mut self, kind: Kind, said: &mut Faults<'_>) {
        if self.kind.is_some() {
            said.error("type specified twice");
        }
        self.kind = Some(kind);
    }

    /// Sets the ends, which are said once.
    pub(crate) fn set_ends(&mut self, ends: Ends, said: &mut Faults<'_>) {
        if self.ends.is_some() {
            said.error("'src' or 'dst' specified twice");
        }
        self.ends = Some(ends);
    }

    /// Sets the protocol, which is said once or alike.
    pub(crate) fn set_protocol(&mut self, protocol: u32, said: &mut Faults<'_>) {
        if self.protocol.is_some_and(|other| other != protocol) {
            said.error("transport protocol specified twice");
        }
        self.protocol = Some(protocol);
    }

    fn text(&self) -> String {
        let ends = match self.ends {
            None => "",
            Some(Ends::Src) => "src ",
            Some(Ends::Dst) => "dst ",
            Some(Ends::Either) => "src or dst ",
            Some(Ends::Both) => "src and dst ",
        };
        format!("{ends}{}", Kind::text(self.kind))
    }

    fn wrong(&self, what: &str) -> Fault {
        format!("'{}': {what}", self.text())
    }

    /// Completes the clause from its value and from the clause before, `last`, and checks it.
    pub(crate) fn check(
        &mut self,
        last: &Clause,
        header: Option<Header>,
        mask: Option<Mask>,
        said: &mut Faults<'_>,
    ) -> Result<(), Fault> {
        let ends_said = self.ends.is_some();
        if self.kind.is_none() {
            self.guess_kind(last)?;
        }
        let header = header.unwrap_or(match self.data {
            Data::Of(Kind::Ether) => Header::Ether,
            _ => Header::Ip,
        });
        if header == Header::Ether && self.kind == Some(Kind::Host) {
            self.kind = Some(Kind::Ether);
        }
        let kind = self.kind.ok_or("partial directive")?;
        match kind {
            Kind::Host | Kind::Net => self.check_address(kind, header, mask)?,
            Kind::Ether => self.check_ether(header, mask)?,
            _ if header == Header::Ether => return Err(self.wrong("ip only")),
            Kind::Protocol => self.check_protocol(mask, said)?,
            Kind::Port => {
                self.need_value(kind)?;
                match *self.protocol.get_or_insert(TCP_OR_UDP) {
                    6 | 17 | 33 | TCP_OR_UDP => {}
                    other => return Err(format!("'port': bad protocol {other}")),
                }
                self.set_mask(0xffff, mask, said)?;
            }
            Kind::TcpOpt => {
                self.need_value(kind)?;
                match *self.protocol.get_or_insert(6) {
                    6 => {}
                    other => return Err(format!("'tcp opt': bad protocol {other}")),
                }
                if self.order != Order::Equal || self.negated || mask.is_some() {
                    return Err(self.wrong("operator or mask not supported"));
                }
                if self.value > 255 {
                    return Err(format!(
                        "'tcp opt': value {} out of range",
                        self.value as i32
                    ));
                }
                self.mask = self.value;
            }
            Kind::Ect => {
                if !matches!(self.data, Data::None | Data::Int) {
                    return Err(self.wrong("value missing"));
                }
                if self.data == Data::None {
                    self.value = 0;
                    self.negated = true;
                }
                self.set_mask(3, mask, said)?;
                self.kind = Some(Kind::Field(TOS));
            }
            Kind::Ce | Kind::Frag | Kind::Unfrag => {
                if self.data != Data::None || mask.is_some() {
                    return Err(self.wrong("value not supported"));
                }
                match kind {
                    Kind::Ce => {
                        (self.value, self.mask) = (3, 3);
                        self.kind = Some(Kind::Field(TOS));
                    }
                    Kind::Unfrag => {
                        self.negated = true;
                        self.kind = Some(Kind::Frag);
                    }
                    _ => {}
                }
            }
            Kind::Field(field) => {
                self.need_value(kind)?;
                self.set_mask(u32::MAX >> (32 - field.bits), mask, said)?;
            }
        }
        if matches!(self.kind, Some(Kind::Host | Kind::Port | Kind::Ether)) {
            self.ends.get_or_insert(Ends::Either);
        } else if ends_said {
            said.warning(&self.wrong("'src' or 'dst' ignored"));
        }
        Ok(())
    }

    /// Finds the kind from the value; a bare number means what the clause before did.
    fn guess_kind(&mut self, last: &Clause) -> Result<(), Fault> {
        let kind = match self.data {
            Data::Of(kind) => kind,
            Data::None if self.protocol.is_some() => Kind::Protocol,
            Data::None => return Err("partial directive".to_owned()),
            Data::Int => match last.kind {
                Some(kind @ (Kind::Field(_) | Kind::Protocol | Kind::Port)) => {
                    self.data = Data::Of(kind);
                    kind
                }
                _ => return Err("specify header field or 'port'".to_owned()),
            },
        };
        self.kind = Some(kind);
        match kind {
            Kind::Host | Kind::Net | Kind::TcpOpt | Kind::Ether => {
                self.ends = self.ends.or(last.ends);
            }
            Kind::Port => {
                self.ends = self.ends.or(last.ends);
                self.protocol = self.protocol.or(last.protocol);
            }
            Kind::Field(field) if field.protocol != 0 => {
                self.protocol.get_or_insert(field.protocol);
            }
            _ => {}
        }
        Ok(())
    }

    /// The value is a number, or one of this kind.
    fn need_value(&self, kind: Kind) -> Result<(), Fault> {
        if self.data == Data::Int || self.data == Data::Of(kind) {
            Ok(())
        } else {
            Err(self.wrong("value missing"))
        }
    }

    fn check_address(
        &mut self,
        kind: Kind,
        header: Header,
        mask: Option<Mask>,
    ) -> Result<(), Fault> {
        if header != Header::Ip || self.data != Data::Of(kind) {
            return Err(self.wrong("address missing"));
        }
        if self.order != Order::Equal {
            return Err(self.wrong("operator not supported"));
        }
        if kind == Kind::Host {
            self.mask = u32::MAX;
        }
        self.kind = Some(Kind::Host);
        match mask {
            None => {}
            Some(Mask::Address(mask)) => self.mask = mask,
            // Click keeps addresses in the network's order and numbers in the machine's, which with
            // it is the opposite.
            Some(Mask::Int(mask)) => self.mask = mask.swap_bytes(),
            Some(Mask::Ether(_)) => return Err(self.wrong("bad mask")),
        }
        Ok(())
    }

    fn check_ether(&mut self, header: Header, mask: Option<Mask>) -> Result<(), Fault> {
        if header != Header::Ether || self.data != Data::Of(Kind::Ether) {
            return Err(self.wrong("address missing"));
        }
        if self.order != Order::Equal {
            return Err(self.wrong("operator not supported"));
        }
        self.ether.1 = match mask {
            None => [0xff; 6],
            Some(Mask::Ether(mask)) => mask,
            Some(_) => return Err(self.wrong("bad mask")),
        };
        Ok(())
    }

    fn check_protocol(&mut self, mask: Option<Mask>, said: &mut Faults<'_>) -> Result<(), Fault> {
        match self.data {
            Data::Int | Data::Of(Kind::Protocol) => {
                if self.protocol.is_some_and(|other| other != self.value) {
                    return Err(self.wrong("specified twice"));
                }
            }
            Data::None if self.protocol.is_some() => {
                self.value = self.protocol.unwrap_or_default();
            }
            _ => return Err(self.wrong("value missing")),
        }
        self.protocol = None;
        if (256..=TRANSP + 1).contains(&self.value) {
            if self.order != Order::Equal || mask.is_some() {
                let text = protocol_text(Some(self.value));
                return Err(format!("'{text}': operator or mask not supported"));
            }
            self.mask = 0xff;
        } else {
            self.set_mask(0xff, mask, said)?;
        }
        // A plain protocol counts for the ports that follow: `tcp 80 or 81`.
        if self.order == Order::Equal && self.mask == 0xff && !self.negated {
            self.protocol = Some(self.value);
        }
        Ok(())
    }

    /// Settles mask and value of a number of the bits `full`.
    fn set_mask(
        &mut self,
        full: u32,
        mask: Option<Mask>,
        said: &mut Faults<'_>,
    ) -> Result<(), Fault> {
        let mask = match mask {
            None => full,
            Some(Mask::Int(mask)) => mask,
            Some(_) => return Err(self.wrong("bad mask")),
        };
        if mask & !full != 0 {
            return Err(self.wrong(&format!("mask out of range, bound 0x{full:X}")));
        }
        self.mask = mask;
        let always = match self.order {
            Order::Equal if self.value > full => {
                return Err(self.wrong(&format!("out of range, bound {full}")));
            }
            Order::Less if self.value > mask => Some(true),
            Order::Less if self.value == 0 => Some(false),
            Order::Greater if self.value >= mask => Some(false),
            _ => None,
        };
        if let Some(always) = always {
            let always = always != self.negated;
            let relation = match (self.order, self.negated) {
                (Order::Greater, false) => ">",
                (Order::Greater, true) => "<=",
                (Order::Less, false) => "<",
                (Order::Less, true) => ">=",
                (Order::Equal, _) => "=",
            };
            let value = self.value;
            said.warning(&format!(
                "relation '{relation} {value}' is always {always} (range 0-{mask})"
            ));
            (self.value, self.mask, self.order, self.negated) = (0, 0, Order::Equal, !always);
        } else if self.order == Order::Less {
            self.value -= 1;
            self.order = Order::Greater;
            self.negated = !self.negated;
        }
        Ok(())
    }

    /// The tests that a checked clause stands for.
    pub(crate) fn tests(&self, arena: &mut Arena) -> Expr {
        let kind = self.kind.expect("a checked clause has a kind");
        let mut all = Vec::new();
        if let Some(protocol) = self.protocol {
            all.push(of_protocol(protocol, arena));
        }
        let in_transport = match kind {
            Kind::Port | Kind::TcpOpt => true,
            Kind::Field(field) => field.protocol != 0,
            _ => false,
        };
        if in_transport {
            all.push(arena.test(equal(Base::Network, 4, 0x1fff, 0), false));
        }
        all.push(match kind {
            Kind::Host | Kind::Net => {
                let end = |offset| vec![self.compared(Base::Network, offset, 0)];
                self.ended(end(12), end(16), arena)
            }
            Kind::Port => {
                let end = |shift| vec![self.compared(Base::Transport, 0, shift)];
                self.ended(end(16), end(0), arena)
            }
            Kind::Ether => self.ended(self.ether_at(6), self.ether_at(0), arena),
            Kind::Protocol if self.protocol.is_some() => Expr::TRUE,
            Kind::Protocol if self.value >= 256 => {
                let inner = of_protocol(self.value, arena);
                arena.not(inner)
            }
            Kind::Protocol => arena.test(self.compared(Base::Network, 8, 16), self.negated),
            Kind::Frag | Kind::Unfrag => {
                arena.test(equal(Base::Network, 4, 0x3fff, 0), !self.negated)
            }
            Kind::TcpOpt => {
                let flags = self.value << 16;
                arena.test(equal(Base::Transport, 12, flags, flags), false)
            }
            Kind::Field(field) => {
                let base = if field.protocol == 0 {
                    Base::Network
                } else {
                    Base::Transport
                };
                let offset = field.bit / 32 * 4;
                let shift = 32 - (field.bit % 32 + field.bits);
                arena.test(self.compared(base, offset as i32, shift), self.negated)
            }
            Kind::Ect | Kind::Ce => unreachable!("`check` made a field of it"),
        });
        arena.and(&all)
    }

    /// The comparison with a word.
    fn compared(&self, base: Base, offset: i32, shift: u32) -> Test {
        let relation = match self.order {
            Order::Equal => Relation::Equal,
            _ => Relation::Greater,
        };
        let value = match relation {
            Relation::Equal => self.value & self.mask,
            Relation::Greater => self.value,
        };
        Test {
            word: Word { base, offset },
            mask: self.mask << shift,
            relation,
            value: value << shift,
        }
    }

    /// The Ethernet address at `at` of the link header. Words are aligned with the header that
    /// follows.
    fn ether_at(&self, at: i32) -> Vec<Test> {
        let word = |first: i32| {
            let byte = |bytes: &[u8; 6], i: i32| {
                usize::try_from(i - at)
                    .ok()
                    .and_then(|i| bytes.get(i))
                    .copied()
                    .unwrap_or(0)
            };
            let all = |bytes| u32::from_be_bytes([0, 1, 2, 3].map(|i| byte(bytes, first + i)));
            let mask = all(&self.ether.1);
            equal(Base::Link, first, mask, all(&self.ether.0) & mask)
        };
        if at == 0 {
            vec![word(-2), word(2)]
        } else {
            vec![word(6), word(10)]
        }
    }

    /// Joins the comparisons of source and destination, each of which all must hold.
    fn ended(&self, src: Vec<Test>, dst: Vec<Test>, arena: &mut Arena) -> Expr {
        let of = match self.ends {
            Some(Ends::Src) => vec![src],
            Some(Ends::Dst) => vec![dst],
            _ => vec![src, dst],
        };
        let each: Vec<Expr> = of
            .into_iter()
            .map(|tests| {
                let tests: Vec<Expr> = tests
                    .into_iter()
                    .map(|test| arena.test(test, self.negated))
                    .collect();
                // The opposite of `all` is `any` of the opposites.
                if self.negated {
                    arena.or(&tests)
                } else {
                    arena.and(&tests)
                }
            })
            .collect();
        if (self.ends == Some(Ends::Both)) == self.negated {
            arena.or(&each)
        } else {
            arena.and(&each)
        }
    }
}

fn equal(base: Base, offset: i32, mask: u32, value: u32) -> Test {
    Test {
        word: Word { base, offset },
        mask,
        relation: Relation::Equal,
        value,
    }
}

fn of_protocol(protocol: u32, arena: &mut Arena) -> Expr {
    let mut one = |p: u32| arena.test(equal(Base::Network, 8, 0xff0000, p << 16), false);
    match protocol {
        TCP_OR_UDP => {
            let both = [one(6), one(17)];
            arena.or(&both)
        }
        ..256 => one(protocol),
        _ => Expr::TRUE,
    }
}

/// Says faults of one pattern, its number before them.
#[derive(Debug)]
pub(crate) struct Faults<'a> {
    pub(crate) pattern: usize,
    pub(crate) said: &'a mut Diagnostics,
}

impl Faults<'_> {
    pub(crate) fn error(&mut self, text: &str) {
        self.said
            .error(None, format!("pattern {}: {text}", self.pattern));
    }

    pub(crate) fn warning(&mut self, text: &str) {
        self.said
            .warning(None, format!("pattern {}: {text}", self.pattern));
    }
}
