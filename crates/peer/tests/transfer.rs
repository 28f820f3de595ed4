//! Bytes between our host and the kernel's TCP, each way and both ways at once, on good wires and
//! on bad ones.

mod common;

use common::tap::{self, OURS};
use common::{
    MIB, Opener, PATIENCE, PORT, Transfer, kernel_counters, listener, lossy, maker, or_skip, talk,
};
use std::net::TcpStream;
use trammel_core::rng::Rng;
use trammel_core::time::Time;
use trammel_peer::drive::Turn;
use trammel_peer::faults::Rates;
use trammel_peer::host::FlowId;
use trammel_tcp::connection::{Connection, State};
use trammel_tcp::stack::Stack;

/// What a kernel counts when its peer breaks a rule. On a good wire that is never, however slow a
/// busy machine makes either end.
const COMPLAINTS: [&str; 5] = [
    "InErrs",
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

#[test]
fn sequence_numbers_wrap() {
    const BYTES: u64 = 4 * MIB;
    // As the host draws the first connection's: in the middle of the transfer they begin anew.
    let near = |seed: &u64| {
        let first = Rng::new(*seed, "flow:0").below(1 << 32);
        first.abs_diff((1 << 32) - BYTES / 2) < MIB
    };
    let seed = (1..100_000).find(near).expect("one in two thousand");
    let transfer = Transfer {
        to_kernel: BYTES,
        rates: [lossy(); 2],
        seed,
        ..Transfer::default()
    };
    let Some(outcome) = transfer.run() else {
        return;
    };
    let next = outcome
        .wire
        .driver
        .host
        .flow(outcome.flow)
        .connection
        .tp()
        .snd_nxt;
    assert!(
        u64::from(next) < BYTES,
        "it began after {next} or did not wrap"
    );
}

#[test]
fn connections_open_and_close_over_wires_that_lose_a_tenth() {
    let rates = Rates {
        loss: 0.1,
        ..lossy()
    };
    std::thread::scope(|scope| {
        for seed in 1..=10 {
            let opener = if seed % 2 == 0 {
                Opener::Ours
            } else {
                Opener::Kernel
            };
            let transfer = Transfer {
                opener,
                to_kernel: 10_000,
                to_us: 10_000,
                rates: [rates; 2],
                seed,
                ..Transfer::default()
            };
            scope.spawn(move || transfer.run().map(drop));
        }
    });
}

/// Half of the connections are opened by either end; all send both ways at once, over one bad wire.
#[test]
fn many_connections_share_a_host_and_a_wire() {
    const EACH: usize = 8;
    const BYTES: u64 = MIB / 4;
    let Some(mut wire) = or_skip(tap::wire(1, [lossy(); 2])) else {
        return;
    };
    let maker = || maker(&Stack::linux_6(), "cubic");
    wire.driver.host.listen(PORT, maker());
    let (listener, address) = listener(&wire.kernel);
    let now = wire.driver.now();
    let mut flows: Vec<_> = (0..EACH)
        .map(|_| wire.driver.host.connect(now, address, &maker()))
        .collect();
    let mut threads: Vec<_> = (0..EACH)
        .map(|_| {
            let kernel = wire.kernel.clone();
            std::thread::spawn(move || {
                let stream = kernel.run(|| TcpStream::connect((OURS, PORT)));
                talk(&stream.expect("we accept"), BYTES)
            })
        })
        .collect();
    threads.extend((0..EACH).map(|_| {
        let listener = listener.try_clone().expect("a second descriptor");
        std::thread::spawn(move || talk(&listener.accept().expect("a client connects").0, BYTES))
    }));
    for flow in &flows {
        write_and_close(wire.driver.host.connection(*flow), BYTES);
    }
    let is_done = wire.driver.run(now + PATIENCE, |_, host| {
        while let Some(flow) = host.accept() {
            write_and_close(host.connection(flow), BYTES);
            flows.push(flow);
        }
        let is_over = |flow: &FlowId| {
            let state = host.flow(*flow).connection.state();
            matches!(state, State::Closed | State::TimeWait)
        };
        if flows.len() == 2 * EACH && flows.iter().all(is_over) {
            Turn::Done
        } else {
            Turn::Until(Time::MAX)
        }
    });
    assert!(is_done.expect("the TAP is there"));
    for flow in flows {
        let flow = wire.driver.host.flow(flow);
        assert_eq!(flow.connection.failure(), None);
        assert_eq!(flow.connection.counters().bytes_delivered, BYTES);
        assert_eq!(flow.wrong_bytes(), 0);
    }
    for thread in threads {
        let (came, wrong, _) = thread.join().expect("the kernel's end is content");
        assert_eq!((came, wrong), (BYTES, 0));
    }
}

fn write_and_close(connection: &mut Connection, bytes: u64) {
    connection.write(bytes);
    connection.close_when_written();
}
