//! Segments in packetdrill's notation, as they are read.

use super::segment::{ECN, FLAGS};
use super::{SegmentLine, TcpOption};
use std::fmt::{Display, Formatter, Result};
use trammel_tcp::segment::{Ecn, Flags};

impl Display for SegmentLine {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(ecn) = self.ecn
            && let Some((word, _)) = ECN.iter().find(|(_, value)| *value == ecn)
        {
            write!(f, "[{word}] ")?;
        }
        if self.flags == Flags::default() {
            f.write_str("-")?;
        }
        for (letter, flag) in FLAGS {
            if self.flags.has(*flag) {
                write!(f, "{letter}")?;
            }
        }
        let end = self.seq.wrapping_add(self.len);
        write!(f, " {}:{end}({})", self.seq, self.len)?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match &self.options {
            None => f.write_str(" <...>"),
            Some(options) if options.is_empty() => Ok(()),
            Some(options) => {
                f.write_str(" <")?;
                for (n, option) in options.iter().enumerate() {
                    write!(f, "{}{option}", if n == 0 { "" } else { "," })?;
                }
                f.write_str(">")
            }
        }
    }
}

impl Display for TcpOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TcpOption::Nop => f.write_str("nop"),
            TcpOption::Eol => f.write_str("eol"),
            TcpOption::Mss(mss) => write!(f, "mss {mss}"),
            TcpOption::WindowScale(shift) => write!(f, "wscale {shift}"),
            TcpOption::SackPermitted => f.write_str("sackOK"),
            TcpOption::Timestamps(value, echo) => write!(f, "TS val {value} ecr {echo}"),
            TcpOption::Sack(blocks) => {
                f.write_str("sack")?;
                for (start, end) in blocks {
                    write!(f, " {start}:{end}")?;
                }
                Ok(())
            }
            TcpOption::AccEcn(option) => {
                f.write_str("ECN")?;
                for (field, counter) in option.fields() {
                    let name = match field {
                        Ecn::Ect0 => "e0b",
                        Ecn::Ect1 => "e1b",
                        Ecn::Ce | Ecn::NotEct => "ceb",
                    };
                    write!(f, " {name} {counter}")?;
                }
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{Action, Script};
    use proptest::prelude::*;
    use trammel_tcp::accecn::{AccEcn, Order};

    fn option() -> impl Strategy<Value = TcpOption> {
        prop_oneof![
            Just(TcpOption::Nop),
            Just(TcpOption::Eol),
            Just(TcpOption::SackPermitted),
            any::<u16>().prop_map(TcpOption::Mss),
            any::<u8>().prop_map(TcpOption::WindowScale),
            any::<(u32, u32)>().prop_map(|(value, echo)| TcpOption::Timestamps(value, echo)),
            prop::collection::vec(any::<(u32, u32)>(), 1..=4).prop_map(TcpOption::Sack),
            (any::<bool>(), prop::collection::vec(any::<u32>(), 1..=3)).prop_map(
                |(is_ect0_first, counters)| {
                    let order = if is_ect0_first {
                        Order::Ect0First
                    } else {
                        Order::Ect1First
                    };
                    TcpOption::AccEcn(AccEcn::new(order, &counters))
                }
            ),
        ]
    }

    fn segment() -> impl Strategy<Value = SegmentLine> {
        let ecn = prop::option::of(prop_oneof![
            Just(Ecn::NotEct),
            Just(Ecn::Ect0),
            Just(Ecn::Ect1),
            Just(Ecn::Ce)
        ]);
        let options = prop::option::of(prop::collection::vec(option(), 0..5));
        let rest = (any::<u32>(), 0_u32..1 << 31, any::<u32>());
        let letters = prop::collection::vec(any::<bool>(), FLAGS.len());
        (ecn, letters, rest, any::<Option<u16>>(), options).prop_map(
            |(ecn, letters, (seq, len, ack), window, options)| {
                let set = FLAGS.iter().zip(letters).filter(|(_, is_set)| *is_set);
                let flags = set.fold(Flags::default(), |all, ((_, flag), _)| all.with(*flag));
                SegmentLine {
                    ecn,
                    flags,
                    seq,
                    len,
                    ack: flags.has(Flags::ACK).then_some(ack),
                    window,
                    options,
                }
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_as_the_same(line in segment()) {
            let script = Script::read(&format!("+0 > {line}")).unwrap();
            prop_assert_eq!(&script.events[0].action, &Action::Expect(line));
        }

        #[test]
        fn no_text_makes_the_parser_panic(text in "[-+.0-9a-zSFRPTW<>(){}\\[\\]:=|~*`%,\"/ \n\
                                                   …]{0,80}") {
            let _ = Script::read(&text);
        }
    }
}
