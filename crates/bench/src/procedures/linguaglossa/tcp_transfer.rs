//! A file transfer over simulated TCP through the device.
//!
//! # What it does
//! Two hosts in virtual time, with the preset `linux-6` and the congestion control `variant`; every
//! segment and every ACK goes through the simulated device. The time is from the first SYN to the
//! last byte. FTP's and HTTP's own words are not in it.
//!
//! # References
//! Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between the Click Modular
//! Router and the NetFPGA Router", §5.7; RFC 9293.

use super::super::{Entry, Form};
use crate::transfer::Protocol;
use crate::transfer_test::{BYTES, COLUMNS, REPEATS, tabulate};
use trammel_core::entry::{About, Kind, Param};

/// A file over simulated TCP in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "tcp-transfer",
        aliases: &[],
        summary: "transfer time of a file over simulated TCP",
        references: &[
            "Linguaglossa et al., Click against NetFPGA, §5.7",
            "RFC 9293",
        ],
        params: &[
            Param {
                // Every segment is simulated, and nothing changes after the first ones but by
                // losses.
                default: "100 MB",
                ..BYTES
            },
            REPEATS,
            Param {
                name: "variant",
                kind: Kind::Choice(&["cubic", "reno", "bbr"]),
                default: "cubic",
                unit: "",
                help: "the congestion control",
            },
            Param::time(
                "rtt",
                "0.1 ms",
                "the round trip of the links without the device",
            ),
        ],
    },
    quick: &[("bytes", "20 MB"), ("repeats", "1")],
    columns: COLUMNS,
    form: Form::Table,
    run: |bench, params| {
        let protocol = Protocol::Tcp {
            variant: params.text("variant").to_owned(),
            rtt: params.time("rtt"),
        };
        tabulate(bench, &ENTRY, params, &protocol)
    },
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Hosts, made, search, traffic};

    #[test]
    fn its_hosts_are_told_the_variant_and_the_round_trip() {
        let mut hosts = Hosts::default();
        let given = [("repeats", "1"), ("variant", "reno"), ("rtt", "2 ms")];
        made(&ENTRY, &given, &mut hosts, &[traffic(64)], search());
        let Protocol::Tcp { variant, rtt } = &hosts.asked[0].protocol else {
            panic!("{:?}", hosts.asked)
        };
        assert_eq!((variant.as_str(), rtt.as_ms()), ("reno", 2));
    }
}
