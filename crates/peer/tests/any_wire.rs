//! Any stack over any wire: options, buffers, segment sizes, faults and variants drawn from a seed.
//!
//! `TRAMMEL_SEED` is the first seed, one after the other is tried; what is drawn is printed.
#![allow(clippy::print_stdout)]

mod common;

use common::{MIB, Opener, Transfer};
use trammel_core::rng::Rng;
use trammel_core::time::Span;
use trammel_peer::faults::Rates;
use trammel_tcp::cc;
use trammel_tcp::stack::{AckPolicy, EcnMode, Stack};

/// Drawn from one stream in the order in which they are asked for.
struct Draw(Rng);

impl Draw {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.below(choices.len() as u64) as usize]
    }

    fn chance(&mut self) -> bool {
        self.of(&[true, false])
    }

    fn rates(&mut self) -> Rates {
        Rates {
            loss: self.of(&[0.0, 0.001, 0.01, 0.05]),
            duplication: self.of(&[0.0, 0.01, 0.1]),
            reordering: self.of(&[0.0, 0.01, 0.1, 1.0]),
            marking: self.of(&[0.0, 0.01, 0.1]),
            hold: Span::from_us(self.of(&[50, 500, 3_000])),
        }
    }

    fn stack(&mut self) -> Stack {
        let preset = self.of(Stack::PRESETS);
        let base = Stack::preset(preset).expect("the preset is built in");
        let buffer = self.of(&[16_384, 65_536, 1 << 20, 64 << 20]);
        Stack {
            mss: self.of(&[88, 536, 1460, 1460]),
            sack: self.of(&[true, true, false]),
            timestamps: self.of(&[true, true, false]),
            ecn: self.of(&[EcnMode::Off, EcnMode::Classic, EcnMode::Accurate]),
            window_scaling: self.of(&[true, true, false]),
            nagle: self.chance(),
            receive_buffer: buffer,
            max_receive_buffer: buffer * self.of(&[1, 8]),
            rmem_max: buffer * self.of(&[1, 16]),
            ack_policy: self.of(&[
                AckPolicy::Linux,
                AckPolicy::EverySegment,
                AckPolicy::Delayed(Span::from_ms(20)),
                AckPolicy::Stretched(8, Span::from_ms(10)),
            ]),
            // Timeouts of a second would make the test one of patience.
            min_rto: base.min_rto.min(Span::from_ms(200)),
            ..base
        }
    }

    fn transfer(&mut self, seed: u64) -> Transfer {
        let mut sysctls = Vec::new();
        for variable in [
            "tcp_sack",
            "tcp_timestamps",
            "tcp_window_scaling",
            "tcp_dsack",
        ] {
            sysctls.push((variable, self.of(&["1", "1", "0"])));
        }
        sysctls.push(("tcp_ecn", self.of(&["0", "1", "2"])));
        if self.of(&[true, false, false]) {
            sysctls.push(("tcp_rmem", "4096 16384 65536"));
        }
        let stack = self.stack();
        // What the smallest segments and the worst wires take some seconds to carry.
        let bytes = u64::from(stack.mss) * 150;
        Transfer {
            opener: self.of(&[Opener::Ours, Opener::Kernel]),
            to_kernel: self.of(&[0, 1, bytes, bytes]),
            to_us: self.of(&[0, 1, bytes, bytes.min(MIB / 8)]),
            cc: self.of(&cc::all()).about.name,
            rates: [self.rates(), self.rates()],
            mtu_bytes: self.of(&[1500, 1500, 576]),
            reads_every: self.of(&[None, None, Some(5), Some(50)]).map(Span::from_ms),
            stack,
            seed,
            sysctls,
        }
    }
}

fn try_seeds(count: u64) {
    let first = std::env::var("TRAMMEL_SEED").ok();
    let first: u64 = first.map_or(1, |seed| seed.parse().expect("`TRAMMEL_SEED` is a number"));
    for seed in first..first + count {
        let transfer = Draw(Rng::new(seed, "any wire")).transfer(seed);
        println!("{transfer:?}");
        if transfer.run().is_none() {
            return;
        }
    }
}

#[test]
fn any_stack_gets_along_with_the_kernel_over_any_wire() {
    try_seeds(20);
}

#[test]
#[ignore = "long: 500 connections over bad wires, two minutes"]
fn any_stack_gets_along_with_the_kernel_over_any_wire_five_hundred_times() {
    try_seeds(500);
}
