//! Receivers that are slower than senders: windows that close, probes, windows that open again.

mod common;

use common::tap::{self, OURS};
use common::{MIB, PATIENCE, PORT, TIMEOUT, listener, maker, or_skip, read_pattern, write_pattern};
use std::net::{Shutdown, TcpStream};
use std::sync::mpsc;
use trammel_core::time::{Span, Time};
use trammel_io::tcp;
use trammel_peer::drive::Turn;
use trammel_peer::faults::Rates;
use trammel_tcp::connection::State;
use trammel_tcp::stack::Stack;

#[test]
fn we_probe_a_window_that_the_kernel_has_closed_and_go_on_when_it_opens() {
    let Some(mut wire) = or_skip(tap::wire(1, [Rates::default(); 2])) else {
        return;
    };
    wire.kernel
        .set_sysctl("ipv4/tcp_rmem", "4096 16384 32768")
        .expect("a variable");
    let (listener, address) = listener(&wire.kernel);
    let (opens, is_opened) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a client connects");
        stream
            .set_read_timeout(Some(TIMEOUT))
            .expect("the time-out is above 0");
        is_opened.recv().expect("the window closes");
        read_pattern(&stream)
    });
    let now = wire.driver.now();
    let maker = maker(&Stack::linux_6(), "cubic");
    let flow = wire.driver.host.connect(now, address, &maker);
    let connection = wire.driver.host.connection(flow);
    connection.write(MIB);
    connection.close_when_written();
    // The kernel reads once we have probed its closed window three times.
    let (mut at_closing, mut probes) = (None, 0);
    let is_done = wire.driver.run(now + PATIENCE, |_, host| {
        let sent = host.counters().segments_sent;
        let connection = host.connection(flow);
        if connection.state() != State::SynSent && connection.peer_window() == 0 && probes < 3 {
            probes = sent - *at_closing.get_or_insert(sent);
            if probes == 3 {
                opens.send(()).expect("it waits");
            }
        }
        match connection.state() {
            State::FinWait2 | State::TimeWait => Turn::Done,
            _ => Turn::Until(Time::MAX),
        }
    });
    let connection = &wire.driver.host.flow(flow).connection;
    assert!(is_done.expect("the TAP is there"), "{connection:?}");
    assert_eq!(probes, 3);
    assert_eq!(thread.join().expect("the thread does not panic"), (MIB, 0));
    assert_eq!(connection.failure(), None);
}

#[test]
fn the_kernel_probes_a_window_that_we_have_closed() {
    for window_scaling in [true, false] {
        let Some(mut wire) = or_skip(tap::wire(1, [Rates::default(); 2])) else {
            return;
        };
        let stack = Stack {
            receive_buffer: 65_536,
            max_receive_buffer: 65_536,
            rmem_max: 131_072,
            window_scaling,
            ..Stack::linux_6()
        };
        wire.driver.host.listen(PORT, maker(&stack, "cubic"));
        let kernel = wire.kernel.clone();
        let thread = std::thread::spawn(move || {
            let stream = kernel.run(|| TcpStream::connect((OURS, PORT)));
            let stream = stream.expect("we accept");
            stream
                .set_write_timeout(Some(TIMEOUT))
                .expect("the time-out is above 0");
            stream
                .set_read_timeout(Some(TIMEOUT))
                .expect("the time-out is above 0");
            write_pattern(&stream, MIB / 4);
            stream
                .shutdown(Shutdown::Write)
                .expect("the connection is open");
            let end = read_pattern(&stream);
            (end, tcp::info(&stream).expect("the socket is there"))
        });
        let (mut flow, mut read, mut next) = (None, 0, Time::ZERO);
        let deadline = wire.driver.now() + PATIENCE;
        let is_done = wire.driver.run(deadline, |now, host| {
            flow = flow.or_else(|| host.accept());
            let Some(flow) = flow else {
                return Turn::Until(Time::MAX);
            };
            let connection = host.connection(flow);
            connection.set_auto_read(false);
            // Longer than the kernel waits before its first probe.
            if now >= next {
                next = now + Span::from_ms(300);
                read += u64::from(connection.read(now, 300_000));
            }
            match connection.state() {
                State::CloseWait if connection.readable() == 0 => connection.close(),
                State::Closed => return Turn::Done,
                _ => {}
            }
            Turn::Until(next)
        });
        let flow = wire.driver.host.flow(flow.expect("it came"));
        assert!(
            is_done.expect("the TAP is there"),
            "{read} {:?}",
            flow.connection
        );
        assert_eq!((read, flow.wrong_bytes()), (MIB / 4, 0));
        let (end, info) = thread.join().expect("the thread does not panic");
        assert_eq!(end, (0, 0));
        // Nearly all of the time in which the kernel had something to send.
        assert!(info.rwnd_limited > info.busy_time * 9 / 10, "{info:?}");
    }
}
