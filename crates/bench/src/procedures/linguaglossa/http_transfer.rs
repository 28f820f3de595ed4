//! A file transfer by HTTP through the device.
//!
//! # What it does
//! As the test `ftp-transfer`, with a server and a client of HTTP.
//!
//! # References
//! Linguaglossa, Lombardo, Reforgiato, Schembra, "Performance Comparison between the Click Modular
//! Router and the NetFPGA Router", §5.7; RFC 9112.

use super::super::{Entry, Form};
use crate::transfer::Protocol;
use crate::transfer_test::{BYTES, COLUMNS, REPEATS, tabulate};
use trammel_core::entry::About;

/// A file by HTTP in the table of tests.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "http-transfer",
        aliases: &[],
        summary: "transfer time of a file by HTTP, between a real server and a real client",
        references: &[
            "Linguaglossa et al., Click against NetFPGA, §5.7",
            "RFC 9112",
        ],
        params: &[BYTES, REPEATS],
    },
    quick: &[("bytes", "100 MB"), ("repeats", "3")],
    columns: COLUMNS,
    form: Form::Table,
    run: |bench, params| tabulate(bench, &ENTRY, params, &Protocol::Http),
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fakes::{Hosts, made, search, traffic};

    #[test]
    fn it_asks_for_http() {
        let given = [("repeats", "1")];
        let table = made(
            &ENTRY,
            &given,
            &mut Hosts::default(),
            &[traffic(64)],
            search(),
        );
        let row = table.rows().next().unwrap();
        assert_eq!(row.text("hosts"), "http at both ends");
        assert_eq!(row.int("bytes"), Some(1_800_000_000));
        assert_eq!(row.float("time_sd_s"), None);
    }
}
