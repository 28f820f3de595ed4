//! The longest prefix that matches, in two tables (DIR-24-8).
//!
//! # Cost
//! `array_access(es, 16M)`, and `array_access(es, 255)` where the prefix is longer than three
//! bytes.
//!
//! # References
//! Baldi and Sapio 2018, §2.2, item 8; Gupta, Lin and McKeown, "Routing lookups in hardware at
//! memory access speeds", 1998.

use super::{Entry, LINE, Memory, PAPER, Touch, about, param};
use crate::expr::Expr;

/// Entries of the first table, one for each 24 bits.
const FIRST: f64 = 16_777_216.0;
/// Bytes of a prefix that the first table knows.
const KNOWN: f64 = 3.0;

/// The operation in the table of operations.
pub static ENTRY: Entry = Entry {
    about: about(
        "lpm_lookup",
        "the longest prefix that matches, in two tables",
        PAPER,
        &[
            param("b", "B", "bytes of the prefix that matches, on average"),
            param("es", "B", "bytes of an entry"),
        ],
    ),
    constants: &[],
    constants_of: Some("array_access"),
    terms: |args| {
        let tables = tables(&args[0]);
        vec![tables.clone(), args[1].clone().pieces(8.0) * tables]
    },
    touches: |args| {
        let lines = args[1].clone().pieces(LINE);
        let second = args[0].clone().above(KNOWN);
        let touch = |accesses: Expr, entries: f64| Touch {
            accesses,
            of: Memory::Table {
                bytes: args[1].clone() * entries,
                entry: args[1].clone(),
                span: args[1].clone() * entries,
            },
        };
        vec![touch(lines.clone(), FIRST), touch(lines * second, 255.0)]
    },
    probe: None,
};

/// The tables that are asked.
fn tables(bytes: &Expr) -> Expr {
    bytes.clone().above(KNOWN) + 1.0
}
