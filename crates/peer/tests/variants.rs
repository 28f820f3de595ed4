//! Every congestion control and every preset completes a lossy transfer to the kernel.
#![allow(clippy::print_stdout)]

mod common;

use common::{MIB, Opener, Transfer, lossy};
use trammel_core::time::Span;
use trammel_peer::faults::Rates;
use trammel_tcp::cc;
use trammel_tcp::stack::Stack;

/// All frames are held back alike: a delay, without reordering.
fn delay(hold: Span) -> Rates {
    Rates {
        reordering: 1.0,
        hold,
        ..Rates::default()
    }
}

#[test]
fn every_variant_completes_a_lossy_transfer() {
    for (number, entry) in cc::all().into_iter().enumerate() {
        println!("{}", entry.about.name);
        let transfer = Transfer {
            to_kernel: MIB,
            cc: entry.about.name,
            rates: [delay(Span::from_ms(3)), lossy()],
            seed: 100 + number as u64,
            // The variants that need ECN have it.
            sysctls: vec![("tcp_ecn", "1")],
            ..Transfer::default()
        };
        let Some(outcome) = transfer.run() else {
            return;
        };
        assert!(outcome.faults[1].lost == 0 || outcome.counters().retransmissions > 0);
    }
}

#[test]
fn every_preset_completes_lossy_transfers_both_ways() {
    for preset in Stack::PRESETS {
        println!("{preset}");
        for opener in [Opener::Ours, Opener::Kernel] {
            let transfer = Transfer {
                opener,
                to_kernel: MIB,
                to_us: MIB,
                stack: Stack::preset(preset).expect("the preset is built in"),
                rates: [lossy(); 2],
                ..Transfer::default()
            };
            if transfer.run().is_none() {
                return;
            }
        }
    }
}
