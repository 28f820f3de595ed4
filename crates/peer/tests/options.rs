//! What both ends agree on: options that one of them lacks, segment sizes, ECN.

mod common;

use common::{MIB, Opener, Transfer, lossy};
use trammel_peer::faults::Rates;
use trammel_tcp::stack::{EcnMode, Stack};

/// `tcpi_options` of linux/tcp.h.
const TIMESTAMPS: u8 = 1;
const SACK: u8 = 2;
const WINDOW_SCALING: u8 = 4;
const ECN: u8 = 8;
const ECN_SEEN: u8 = 16;
const ALL: u8 = TIMESTAMPS | SACK | WINDOW_SCALING;

/// Each option with the variable of the kernel that turns it off, and how our stack does without.
type Row = (u8, &'static str, fn(&mut Stack));

const ROWS: [Row; 3] = [
    (TIMESTAMPS, "tcp_timestamps", |stack| {
        stack.timestamps = false;
    }),
    (SACK, "tcp_sack", |stack| {
        stack.sack = false;
    }),
    (WINDOW_SCALING, "tcp_window_scaling", |stack| {
        stack.window_scaling = false;
    }),
];

/// A bad wire, both ways at once.
fn both_ways(opener: Opener) -> Transfer {
    Transfer {
        opener,
        to_kernel: MIB,
        to_us: MIB,
        rates: [lossy(); 2],
        ..Transfer::default()
    }
}

#[test]
fn the_kernel_lacks_an_option_or_all() {
    for opener in [Opener::Ours, Opener::Kernel] {
        for missing in [0, TIMESTAMPS, SACK, WINDOW_SCALING, ALL] {
            let mut transfer = both_ways(opener);
            for (_, variable, _) in ROWS.iter().filter(|(option, ..)| missing & option != 0) {
                transfer.sysctls.push((variable, "0"));
            }
            let Some(outcome) = transfer.run() else {
                return;
            };
            assert_eq!(outcome.info.options & ALL, ALL & !missing, "{opener:?}");
        }
    }
}

#[test]
fn we_lack_an_option_or_all() {
    for opener in [Opener::Ours, Opener::Kernel] {
        for missing in [TIMESTAMPS, SACK, WINDOW_SCALING, ALL] {
            let mut transfer = both_ways(opener);
            for (_, _, lack) in ROWS.iter().filter(|(option, ..)| missing & option != 0) {
                lack(&mut transfer.stack);
            }
            let Some(outcome) = transfer.run() else {
                return;
            };
            assert_eq!(outcome.info.options & ALL, ALL & !missing, "{opener:?}");
        }
    }
}

#[test]
fn segments_are_as_small_as_either_end_asks() {
    for opener in [Opener::Ours, Opener::Kernel] {
        for (ours, mtu_bytes, payload) in [(1460, 1500, 1448), (536, 1500, 524), (1460, 576, 524)] {
            let mut transfer = both_ways(opener);
            transfer.stack.mss = ours;
            transfer.mtu_bytes = mtu_bytes;
            let Some(outcome) = transfer.run() else {
                return;
            };
            let connection = &outcome.wire.driver.host.flow(outcome.flow).connection;
            assert_eq!(
                (connection.tp().mss, outcome.info.snd_mss),
                (payload, payload)
            );
        }
    }
}

#[test]
fn marks_of_the_wire_reduce_the_windows_of_both_ends() {
    let marking = Rates {
        marking: 0.02,
        ..Rates::default()
    };
    for opener in [Opener::Ours, Opener::Kernel] {
        let mut transfer = Transfer {
            opener,
            to_kernel: 4 * MIB,
            to_us: 4 * MIB,
            rates: [marking; 2],
            sysctls: vec![("tcp_ecn", "1")],
            ..Transfer::default()
        };
        transfer.stack.ecn = EcnMode::Classic;
        let Some(outcome) = transfer.run() else {
            return;
        };
        assert_eq!(outcome.info.options & (ECN | ECN_SEEN), ECN | ECN_SEEN);
        let [inward, outward] = outcome.faults;
        let ours = outcome.counters();
        assert_eq!(
            ours.ce_received, inward.marked,
            "each mark is on a packet with data"
        );
        // A mark is echoed until the sender says that it has reduced its window, so there may be
        // one for many.
        assert!(outward.marked > 0 && (1..=outward.marked).contains(&ours.ecn_reductions));
        assert!(outcome.info.delivered_ce > 0, "we echo marks to the kernel");
    }
}

#[test]
fn ecn_is_off_where_one_end_does_not_want_it() {
    for opener in [Opener::Ours, Opener::Kernel] {
        for (kernel, ours) in [("0", EcnMode::Classic), ("1", EcnMode::Off)] {
            let mut transfer = Transfer {
                opener,
                to_kernel: MIB,
                to_us: MIB,
                sysctls: vec![("tcp_ecn", kernel)],
                ..Transfer::default()
            };
            transfer.stack.ecn = ours;
            let Some(outcome) = transfer.run() else {
                return;
            };
            assert_eq!(outcome.info.options & (ECN | ECN_SEEN), 0);
        }
    }
}
