//! A file transfer by FTP through the device.
//!
//! # What it does
//! A real server and a real client stand in the tester's place, with the kernel's TCP at both ends.
//! The time is the client's own, from its first word to the last byte. Each transfer is made
//! without the device too, by turns.
//!
//! # References
//! Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between the Click Modular
//! Router and the NetFPGA Router", §5.7; RFC 959.

use super::super::{Entry, Form};
use crate::transfer::Protocol;
use crate::transfer_test::{BYTES, COLUMNS, REPEATS, tabulate};
use trammel_core::entry::About;

/// A file by FTP in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "ftp-transfer",
        aliases: &[],
        summary: "transfer time of a file by FTP, between a real server and a real client",
        references: &[
            "Linguaglossa et al., Click against NetFPGA, §5.7",
            "RFC 959",
        ],
        params: &[BYTES, REPEATS],
    },
    quick: &[("bytes", "100 MB"), ("repeats", "3")],
    columns: COLUMNS,
    form: Form::Table,
    run: |bench, params| tabulate(bench, &ENTRY, params, &Protocol::Ftp),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Hosts, Wire, made, refused, search, traffic};

    #[test]
    fn the_device_and_the_wire_take_turns_and_the_ratio_is_theirs() {
        let mut hosts = Hosts::default();
        let given = [("bytes", "1 MB"), ("repeats", "3")];
        let table = made(
            &ENTRY,
            &given,
            &mut hosts,
            &[traffic(64), traffic(128)],
            search(),
        );
        assert_eq!(table.len(), 1);
        let row = table.rows().next().unwrap();
        // 1, 2 and 3 s through the device, half a second without it.
        let number = |name| row.float(name).unwrap();
        assert_eq!(row.text("hosts"), "ftp at both ends");
        assert_eq!(
            (row.text("frame"), row.text("data_stream")),
            ("1518", "TCP")
        );
        assert_eq!(
            (row.int("bytes"), row.int("repeats")),
            (Some(1_000_000), Some(3))
        );
        assert_eq!((number("time_mean_s"), number("time_sd_s")), (2.0, 1.0));
        assert_eq!((number("time_min_s"), number("time_max_s")), (1.0, 3.0));
        assert_eq!(
            (number("goodput_mbps"), number("wire_goodput_mbps")),
            (4.0, 16.0)
        );
        assert_eq!(
            (number("wire_mean_s"), number("of_wire_percent")),
            (0.5, 25.0)
        );
        assert_eq!(row.int("retransmissions"), Some(6));
    }

    #[test]
    fn nothing_is_no_file_and_a_bed_without_hosts_says_so() {
        let said = refused(&ENTRY, &[("bytes", "0 B")], &mut Hosts::default());
        assert!(said.contains("give at least 1 byte"), "{said}");
        let said = refused(&ENTRY, &[], &mut Wire);
        assert!(said.contains("no hosts"), "{said}");
    }
}
