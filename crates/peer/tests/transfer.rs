//! Bytes between our host and the kernel's TCP, each way and both ways at once, on good wires and on bad ones.

mod common;

use common::{MIB, Opener, Transfer, kernel_counters, lossy};

/// What a kernel counts when its peer breaks a rule. On a good wire that is never, however slow a busy machine makes
/// either end.
const COMPLAINTS: [&str; 5] = [
    "OutRsts",
    "PAWSEstab",
    "TCPChallengeACK",
    "TCPSACKDiscard",
    "TCPSYNChallenge",
];

#[test]
fn the_kernel_accepts_our_connection_and_takes_a_mebibyte() {
    let transfer = Transfer {
        to_kernel: MIB,
        ..Transfer::default()
    };
    transfer.run();
}

#[test]
fn streams_arrive_whichever_end_opens_and_sends() {
    for opener in [Opener::Ours, Opener::Kernel] {
        for (to_kernel, to_us) in [(4 * MIB, 0), (0, 4 * MIB), (4 * MIB, 4 * MIB), (0, 0)] {
            let transfer = Transfer {
                opener,
                to_kernel,
                to_us,
                ..Transfer::default()
            };
            let Some(outcome) = transfer.run() else {
                return;
            };
            let told = kernel_counters(&outcome.wire.kernel);
            for complaint in COMPLAINTS {
                assert_eq!(told.get(complaint), None, "{told:?}");
            }
        }
    }
}

#[test]
fn streams_arrive_over_wires_that_lose_double_and_reorder() {
    for (seed, opener) in [(1, Opener::Ours), (2, Opener::Kernel)] {
        let transfer = Transfer {
            opener,
            to_kernel: 4 * MIB,
            to_us: 4 * MIB,
            rates: [lossy(); 2],
            seed,
            ..Transfer::default()
        };
        let Some(outcome) = transfer.run() else {
            return;
        };
        for faults in outcome.faults {
            assert!(
                faults.lost > 0 && faults.duplicated > 0 && faults.held > 0,
                "{faults:?}"
            );
        }
        assert!(outcome.counters().retransmissions > 0);
        assert!(outcome.info.total_retrans > 0, "the kernel sent again too");
    }
}
