//! The language of IPFilter and IPClassifier: from words to expressions.
//!
//! ```text
//! expression := any [? expression : expression]
//! any        := all ((or | ||) all)*
//! all        := factor ([and | &&] factor)*
//! factor     := (not | !) factor | ( expression ) | true | false | clause
//! clause     := qualifier* [ '[' position [: length] ']' ] [& mask] [relation] [value]
//! ```
//! A clause may leave out what its value tells (`syn`, `www`, `10.0.0.0/8`) and what the clause
//! before has said (`src port 80 or 81`).
//!
//! Differs from Click: an order under a mask with gaps (`port & 4 >= 2`) compares the masked
//! number, where Click 2.1 errs. A field that a packet has only in part makes its clause false;
//! Click decides some orders by the part.

use super::clause::{Clause, Data, Ends, Faults, Field, Header, Kind, Mask, Order, protocol_text};
use super::expr::{Arena, Expr};
use super::names::{Names, TCP_OR_UDP, find};

/// How deep parentheses and `not` may stand in one another; the reader and the compiler recurse.
const DEEPEST: usize = 200;

/// Splits a filter into words and operators.
pub(crate) fn split(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let is_word = |c: u8| c.is_ascii_alphanumeric() || b"-./@_:".contains(&c);
    let mut words = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let first = at;
        let c = bytes[at];
        if c.is_ascii_whitespace() || c == 0x0b {
            at += 1;
            continue;
        }
        if is_word(c) {
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
        } else {
            let next = bytes.get(at + 1);
            let two = (b"&|".contains(&c) && next == Some(&c))
                || (b"<>!=".contains(&c) && next == Some(&b'='));
            // A letter beyond ASCII is one word, whole.
            at += if two {
                2
            } else {
                text[at..].chars().next().map_or(1, char::len_utf8)
            };
        }
        words.push(&text[first..at]);
    }
    words
}

/// Reads all of `words`; `-`, `any`, `all` and nothing at all match every packet.
pub(crate) fn read(
    words: &[&str],
    names: &dyn Names,
    arena: &mut Arena,
    faults: Faults<'_>,
) -> Expr {
    if matches!(words, [] | ["-" | "any" | "all"]) {
        return Expr::TRUE;
    }
    let mut reader = Reader {
        words,
        at: 0,
        depth: 0,
        names,
        arena,
        faults,
        last: Clause::default(),
    };
    let expr = reader.expression();
    if let Some(word) = words.get(reader.at) {
        reader
            .faults
            .error(&format!("garbage after expression at '{word}'"));
    }
    expr
}

struct Reader<'a> {
    words: &'a [&'a str],
    at: usize,
    depth: usize,
    names: &'a dyn Names,
    arena: &'a mut Arena,
    faults: Faults<'a>,
    /// The last good clause.
    last: Clause,
}

/// What a word is, where a kind and a protocol are expected.
enum Found {
    /// No name.
    Nothing,
    Kind(Kind),
    Value(Kind, u32),
    /// A name of several things, or of none that is meant.
    Wrong(String),
}

impl<'a> Reader<'a> {
    fn peek(&self) -> &'a str {
        self.words.get(self.at).copied().unwrap_or("")
    }

    /// Goes past the next word if it is one of these.
    fn take(&mut self, any: &[&str]) -> bool {
        let taken = self.at < self.words.len() && any.contains(&self.peek());
        self.at += usize::from(taken);
        taken
    }

    fn expression(&mut self) -> Expr {
        let condition = self.any();
        let first = self.at;
        if !self.take(&["?"]) {
            return condition;
        }
        if !self.deeper() {
            return Expr::FALSE;
        }
        let yes = self.expression();
        let is_empty = self.at == first + 1;
        if is_empty || !self.take(&[":"]) {
            self.faults.error("missing ':' in ternary expression");
            self.depth -= 1;
            return Expr::FALSE;
        }
        let no = self.expression();
        self.depth -= 1;
        self.arena.choice(condition, yes, no)
    }

    fn any(&mut self) -> Expr {
        let mut all = vec![self.all()];
        while self.take(&["or", "||"]) {
            all.push(self.all());
        }
        self.arena.or(&all)
    }

    fn all(&mut self) -> Expr {
        let mut all = Vec::new();
        let mut is_needed = true;
        loop {
            let first = self.at;
            let factor = self.factor(false);
            if self.at == first {
                if is_needed {
                    self.faults.error("missing expression");
                }
                return self.arena.and(&all);
            }
            all.push(factor);
            is_needed = self.take(&["and", "&&"]);
        }
    }

    /// Goes one level down, if there are not too many; else to the end.
    fn deeper(&mut self) -> bool {
        if self.depth == DEEPEST {
            self.faults.error("expression too deep");
            self.at = self.words.len();
            return false;
        }
        self.depth += 1;
        true
    }

    fn factor(&mut self, negated: bool) -> Expr {
        let word = self.peek();
        if self.take(&["not", "!"]) {
            if !self.deeper() {
                return Expr::FALSE;
            }
            let first = self.at;
            let inner = self.factor(!negated);
            if self.at == first {
                self.faults
                    .error(&format!("missing expression after '{word}'"));
            }
            self.depth -= 1;
            return inner;
        }
        if self.take(&["("]) {
            if !self.deeper() {
                return Expr::FALSE;
            }
            let first = self.at;
            let inner = self.expression();
            if self.at == first {
                self.faults.error("missing expression after '('");
            }
            if !self.take(&[")"]) && self.at != first {
                self.faults.error("missing ')'");
            }
            self.depth -= 1;
            return if negated {
                self.arena.not(inner)
            } else {
                inner
            };
        }
        self.clause(negated)
    }

    fn clause(&mut self, mut negated: bool) -> Expr {
        if matches!(self.peek(), "" | ")" | "||" | "or" | "?" | ":") {
            return Expr::FALSE;
        }
        for (word, truth) in [("true", true), ("false", false)] {
            if self.take(&[word]) {
                return if truth == negated {
                    Expr::FALSE
                } else {
                    Expr::TRUE
                };
            }
        }
        let first = self.at;
        let mut clause = Clause::default();
        let mut header = self.qualifiers(&mut clause, &mut negated);
        if self.at != first {
            self.last = Clause::default();
        }
        if self.last.data == Data::Of(Kind::Ether) {
            header = Some(Header::Ether);
        }
        // What follows needs a word after it.
        let follows = |reader: &Self| reader.at + 1 < reader.words.len();
        if self.at > first && clause.kind.is_none() && follows(self) && self.take(&["["]) {
            self.brackets(&mut clause);
        }
        let mask = if follows(self) && self.peek() == "&" {
            self.mask(header)
        } else {
            None
        };
        if follows(self) {
            (clause.order, clause.negated) = match self.peek() {
                "!=" => (Order::Equal, true),
                ">" => (Order::Greater, false),
                "<" => (Order::Less, false),
                ">=" => (Order::Less, true),
                "<=" => (Order::Greater, true),
                _ => (Order::Equal, false),
            };
            self.take(&["=", "==", "!=", ">", "<", ">=", "<="]);
        }
        let is_good = self.at >= self.words.len() || self.value(&mut clause, header);
        if self.at == first {
            self.faults
                .error(&format!("empty term near '{}'", self.peek()));
            return Expr::FALSE;
        }
        if !is_good {
            return Expr::FALSE;
        }
        if let Err(fault) = clause.check(&self.last, header, mask, &mut self.faults) {
            self.faults.error(&fault);
            return Expr::FALSE;
        }
        let tests = clause.tests(self.arena);
        self.last = clause;
        if negated {
            self.arena.not(tests)
        } else {
            tests
        }
    }

    /// Reads kinds, protocols, ends and headers, in any order.
    fn qualifiers(&mut self, clause: &mut Clause, negated: &mut bool) -> Option<Header> {
        let mut header = None;
        while self.at < self.words.len() {
            let word = self.peek();
            match self.find(word, None, None) {
                Found::Kind(kind) => {
                    clause.set_kind(kind, &mut self.faults);
                    if let Kind::Field(field) = kind
                        && field.protocol != 0
                    {
                        clause.set_protocol(field.protocol, &mut self.faults);
                    }
                }
                Found::Value(Kind::Protocol, protocol) => {
                    clause.set_protocol(protocol, &mut self.faults);
                }
                Found::Value(..) | Found::Wrong(_) => break,
                Found::Nothing => match word {
                    "src" => {
                        let then = self.words.get(self.at + 1..).unwrap_or_default();
                        let ends = match then {
                            ["and" | "&&", "dst" | "dest", ..] => Ends::Both,
                            ["or" | "||", "dst" | "dest", ..] => Ends::Either,
                            _ => Ends::Src,
                        };
                        clause.set_ends(ends, &mut self.faults);
                        self.at += if ends == Ends::Src { 0 } else { 2 };
                    }
                    "dst" | "dest" => clause.set_ends(Ends::Dst, &mut self.faults),
                    "ip" if header.is_none() => header = Some(Header::Ip),
                    "ether" if header.is_none() => header = Some(Header::Ether),
                    "not" | "!" => *negated = !*negated,
                    _ => break,
                },
            }
            self.at += 1;
        }
        header
    }

    /// What follows a `[`: the position of a field and how long it is, both in bytes.
    fn brackets(&mut self, clause: &mut Clause) {
        let Some(length) = self.words[self.at..].iter().position(|word| *word == "]") else {
            self.faults.error("missing ']'");
            return;
        };
        let inside = self.words[self.at..self.at + length].concat();
        self.at += length + 1;
        let parts: Option<(i64, i64)> = if let Some((from, bytes)) = inside.split_once(':') {
            integer(from).zip(integer(bytes))
        } else if let Some((from, to)) = inside.split_once(',') {
            integer(from)
                .zip(integer(to))
                .map(|(from, to)| (from, to - from + 1))
        } else {
            integer(&inside).map(|from| (from, 1))
        };
        // Sixteen bits hold the position in bits.
        let Some((from, bytes)) = parts.filter(|(from, _)| (0..8192).contains(from)) else {
            let text = "syntax error after '[', expected '[POS]' or '[POS:LEN]'";
            self.faults.error(text);
            return;
        };
        if !(1..=4).contains(&bytes) {
            let text = "LEN in '[POS:LEN]' out of range, should be between 1 and 4";
            self.faults.error(text);
        } else if from / 4 != (from + bytes - 1) / 4 {
            let text = format!("field [{from}:{bytes}] does not fit in a single word");
            self.faults.error(&text);
        } else {
            let field = Field {
                protocol: clause.protocol.unwrap_or(0),
                bit: from as u32 * 8,
                bits: bytes as u32 * 8,
            };
            clause.set_kind(Kind::Field(field), &mut self.faults);
        }
    }

    /// `& mask`; not taken where no mask follows.
    fn mask(&mut self, header: Option<Header>) -> Option<Mask> {
        let word = self.words[self.at + 1];
        let mask = if let Some(mask) = integer(word).and_then(|mask| u32::try_from(mask).ok()) {
            Mask::Int(mask)
        } else if let Some(mask) = self.address(word).filter(|_| header != Some(Header::Ether)) {
            Mask::Address(mask)
        } else if let Some(mask) = self.ether(word).filter(|_| header != Some(Header::Ip)) {
            Mask::Ether(mask)
        } else {
            return None;
        };
        self.at += 2;
        if matches!(mask, Mask::Int(0) | Mask::Address(0)) {
            self.faults.error("zero mask ignored");
            return None;
        }
        Some(mask)
    }

    /// Reads the value; false where it was a name of something else, which was told.
    fn value(&mut self, clause: &mut Clause, header: Option<Header>) -> bool {
        let word = self.peek();
        self.at += 1;
        let is_ip = header != Some(Header::Ether);
        match self.find(word, clause.kind, clause.protocol) {
            Found::Wrong(fault) => {
                self.faults.error(&fault);
                return false;
            }
            Found::Value(kind, value) => {
                (clause.data, clause.value) = (Data::Of(kind), value);
                return true;
            }
            Found::Kind(_) | Found::Nothing => {}
        }
        if let Some(value) = integer(word).and_then(|value| i32::try_from(value).ok()) {
            (clause.data, clause.value) = (Data::Int, value as u32);
        } else if let Some(address) = self.address(word).filter(|_| is_ip) {
            clause.value = address;
            clause.data = Data::Of(Kind::Host);
            let mask = self
                .words
                .get(self.at + 1)
                .and_then(|mask| self.address(mask));
            if let ("mask", Some(mask)) = (self.peek(), mask) {
                self.at += 2;
                (clause.data, clause.mask) = (Data::Of(Kind::Net), mask);
            } else if clause.kind == Some(Kind::Net)
                && let Some((address, mask)) = self.net(word)
            {
                (clause.data, clause.value, clause.mask) = (Data::Of(Kind::Net), address, mask);
            }
        } else if let Some((address, mask)) = self.net(word).filter(|_| is_ip) {
            (clause.data, clause.value, clause.mask) = (Data::Of(Kind::Net), address, mask);
        } else if let Some(ether) = self.ether(word).filter(|_| header != Some(Header::Ip)) {
            (clause.data, clause.ether.0) = (Data::Of(Kind::Ether), ether);
        } else {
            if clause.order != Order::Equal || clause.negated {
                self.faults
                    .error(&format!("dangling operator near '{word}'"));
            }
            self.at -= 1;
        }
        true
    }

    /// Looks a word up among the names of what `kind` and `protocol` allow.
    fn find(&self, word: &str, kind: Option<Kind>, protocol: Option<u32>) -> Found {
        if kind.is_none()
            && let Some(kind) = Kind::named(word)
        {
            return Found::Kind(kind);
        }
        let of = |any: &[u32]| protocol.is_none_or(|p| any.contains(&p));
        let all = [
            (Kind::Protocol, self.names.protocol(word), true),
            (Kind::Port, self.names.port(6, word), of(&[6, TCP_OR_UDP])),
            (Kind::Port, self.names.port(17, word), of(&[17, TCP_OR_UDP])),
            (Kind::TcpOpt, find(TCP_FLAGS, word), of(&[6, TCP_OR_UDP])),
            (Kind::ICMP_TYPE, self.names.icmp_type(word), of(&[1])),
        ];
        let known: Vec<(Kind, u32, bool)> = all
            .into_iter()
            .filter_map(|(of, value, fits)| value.map(|value| (of, value, fits)))
            .collect();
        if known.is_empty() {
            return Found::Nothing;
        }
        let mut meant: Vec<(Kind, u32)> = known
            .iter()
            .filter(|(of, _, fits)| *fits && kind.is_none_or(|kind| kind == *of))
            .map(|&(of, value, _)| (of, value))
            .collect();
        // A port of the same number with TCP and UDP is one.
        meant.dedup();
        if let [(kind, value)] = meant[..] {
            return Found::Value(kind, value);
        }
        let text = |kind: Option<Kind>| {
            format!("'{} {} {word}'", Kind::text(kind), protocol_text(protocol))
        };
        let what = if meant.is_empty() {
            "meaningless"
        } else {
            "ambiguous"
        };
        let others: Vec<String> = known.iter().map(|&(of, ..)| text(Some(of))).collect();
        Found::Wrong(format!(
            "{} is {what}; try {}",
            text(kind),
            others.join(", ")
        ))
    }

    fn address(&self, word: &str) -> Option<u32> {
        let plain = || word.parse::<std::net::Ipv4Addr>().ok().map(|a| a.octets());
        plain()
            .or_else(|| self.names.host(word))
            .map(u32::from_be_bytes)
    }

    /// `10/8`, `10.0.0.0/255.0.0.0`, or the name of a network.
    fn net(&self, word: &str) -> Option<(u32, u32)> {
        let plain = || {
            let (address, mask) = word.rsplit_once('/')?;
            let mut octets = [0; 4];
            let parts: Vec<&str> = address.split('.').collect();
            if parts.len() > 4 {
                return None;
            }
            for (octet, part) in octets.iter_mut().zip(parts) {
                *octet = part.parse().ok()?;
            }
            let mask = match mask.parse::<u32>() {
                Ok(bits @ 0..=32) => u32::MAX.checked_shl(32 - bits).unwrap_or(0),
                Ok(_) => return None,
                Err(_) => self.address(mask)?,
            };
            Some((u32::from_be_bytes(octets), mask))
        };
        let named = || {
            let (address, mask) = self.names.net(word)?;
            Some((u32::from_be_bytes(address), u32::from_be_bytes(mask)))
        };
        plain().or_else(named)
    }

    fn ether(&self, word: &str) -> Option<[u8; 6]> {
        let plain = || {
            let mut address = [0; 6];
            let mut parts = word.split([':', '-']);
            for octet in &mut address {
                let part = parts.next().filter(|part| (1..=2).contains(&part.len()))?;
                *octet = u8::from_str_radix(part, 16).ok()?;
            }
            parts.next().is_none().then_some(address)
        };
        plain().or_else(|| self.names.ether(word))
    }
}

const TCP_FLAGS: &[(&str, u32)] = &[
    ("fin", 1),
    ("syn", 2),
    ("rst", 4),
    ("psh", 8),
    ("ack", 16),
    ("urg", 32),
];

/// A number: decimal, `0x…`, `0b…`, or octal with a leading 0; perhaps negative.
fn integer(word: &str) -> Option<i64> {
    let (sign, digits) = match word.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, word),
    };
    let (radix, digits) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (16, &digits[2..]),
        [b'0', b'b' | b'B', ..] => (2, &digits[2..]),
        [b'0', _, ..] => (8, &digits[1..]),
        _ => (10, digits),
    };
    if !digits.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        return None;
    }
    i64::from_str_radix(digits, radix)
        .ok()
        .filter(|n| *n <= i64::from(u32::MAX))
        .map(|n| sign * n)
}

#[cfg(test)]
mod tests {
    use super::split;
    use crate::classify::names::Usual;
    use crate::classify::{Action, Program};

    fn said(filter: &str) -> String {
        match Program::ip(&[(Action::Output(0), filter.to_owned())], &Usual) {
            Ok(program) => program.warnings().click(),
            Err(faults) => faults.click(),
        }
    }

    #[test]
    fn words_and_operators_are_parted() {
        assert_eq!(
            split("ip[6:2]&0x3fff!=0||!tcp"),
            [
                "ip", "[", "6:2", "]", "&", "0x3fff", "!=", "0", "||", "!", "tcp"
            ]
        );
        assert_eq!(split(" a<=b  >c\té "), ["a", "<=", "b", ">", "c", "é"]);
    }

    #[test]
    fn each_fault_is_told_in_clicks_words() {
        for (filter, texts) in [
            (
                "foo",
                "empty term near 'foo'|missing expression|garbage after expression at 'foo'",
            ),
            (
                "src foo",
                "partial directive|empty term near 'foo'|garbage after expression at 'foo'",
            ),
            ("5", "specify header field or 'port'"),
            ("src", "partial directive"),
            ("port", "'port': value missing"),
            ("port 99999", "'port': out of range, bound 65535"),
            (
                "port & 0x1ffff 7",
                "'port': mask out of range, bound 0xFFFF",
            ),
            ("port & 0 5", "zero mask ignored"),
            ("icmp port 3", "'port': bad protocol 1"),
            ("opt 256", "'tcp opt': value 256 out of range"),
            (
                "tcp port icmp",
                "transport protocol specified twice|'port': value missing",
            ),
            ("tcp udp", "transport protocol specified twice"),
            ("type type 3", "type specified twice"),
            ("src src port 5", "'src' or 'dst' specified twice"),
            ("host 5", "'ip host': address missing"),
            ("frag 3", "'ip frag': value not supported"),
            ("ether ttl 3", "'ip ttl': ip only"),
            (
                "port tcp > foo",
                "dangling operator near 'foo'|'port': value missing|\
                 empty term near 'foo'|garbage after expression at 'foo'",
            ),
            (
                "ip[3:5] 1",
                "LEN in '[POS:LEN]' out of range, should be between 1 and 4|\
                 specify header field or 'port'",
            ),
            (
                "ip[2:4] 1",
                "field [2:4] does not fit in a single word|\
                 specify header field or 'port'",
            ),
            (
                "ip[a] 3",
                "syntax error after '[', expected '[POS]' or '[POS:LEN]'|\
                 specify header field or 'port'",
            ),
            ("(", "missing expression|missing expression after '('"),
            ("!", "missing expression after '!'"),
            ("tcp &&", "missing expression"),
            ("|| tcp", "missing expression"),
            ("tcp and or udp", "missing expression"),
            ("tcp ? udp", "missing ':' in ternary expression"),
            ("tcp )", "garbage after expression at ')'"),
            (
                "echo",
                "'<none>  echo' is ambiguous; try 'port  echo', 'port  echo', \
                 'icmp type  echo'",
            ),
            (
                "type syn",
                "'icmp type icmp syn' is meaningless; try 'tcp opt icmp syn'",
            ),
            (
                "host syn",
                "'ip host  syn' is meaningless; try 'tcp opt  syn'",
            ),
            ("src ttl 5", "'src ip ttl': 'src' or 'dst' ignored"),
            (
                "port > 70000",
                "relation '> 70000' is always false (range 0-65535)",
            ),
            ("ttl >= 0", "relation '>= 0' is always true (range 0-255)"),
        ] {
            let found = said(filter);
            let found = found.replace("warning: ", "").replace("pattern 0: ", "");
            assert_eq!(
                found.lines().collect::<Vec<_>>().join("|"),
                texts,
                "{filter}"
            );
        }
    }

    #[test]
    fn nesting_is_bounded_without_a_fault_of_the_stack() {
        assert!(said(&"(".repeat(100_000)).contains("too deep"));
        assert!(said(&"!".repeat(100_000)).contains("too deep"));
        assert!(said(&"tcp ? ".repeat(100_000)).contains("too deep"));
    }

    #[test]
    fn what_is_left_out_is_understood() {
        let text = |filter: &str| {
            let program = Program::ip(&[(Action::Output(0), filter.to_owned())], &Usual);
            program
                .unwrap_or_else(|faults| panic!("{filter}: {}", faults.click()))
                .text()
                .to_owned()
        };
        for (short, long) in [
            ("tcp", "ip proto 6"),
            ("www", "src or dst port 80"),
            ("syn", "tcp opt syn"),
            ("10.0.0.0/24", "src or dst net 10.0.0.0 mask 255.255.255.0"),
            ("10.0.0.1", "src or dst ip host 10.0.0.1"),
            ("src port 80 or 81", "src port 80 or src port 81"),
            (
                "dst udp port 53 or ntp",
                "dst udp port 53 or dst udp port 123",
            ),
            (
                "src 10.0.0.1 or 10.0.0.2",
                "src host 10.0.0.1 or src host 10.0.0.2",
            ),
            ("icmp type echo", "icmp[0] 8"),
            ("tcp win 5", "tcp[14:2] == 5"),
            ("ip dscp 3", "ip[1] & 0xfc == 12"),
            ("src 0:1:2:3:4:5", "src ether host 00-01-02-03-04-05"),
        ] {
            assert_eq!(text(short), text(long), "{short}");
        }
        // These differ, but only for packets too short to tell.
        let but_short = text("not ip frag").replace("  short->yes", "");
        assert_eq!(text("unfrag"), but_short);
    }
}
