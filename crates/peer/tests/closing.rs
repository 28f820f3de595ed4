//! Ends of connections: in both orders, at once, and by resets.

mod common;

use common::tap::{self, OURS, Wire};
use common::{Opener, PATIENCE, PORT, TIMEOUT, listener, maker, or_skip};
use std::io::{ErrorKind, Read};
use std::net::{Shutdown, SocketAddrV4, TcpStream};
use std::sync::mpsc;
use trammel_core::time::{Span, Time};
use trammel_io::tcp;
use trammel_peer::drive::Turn;
use trammel_peer::faults::Rates;
use trammel_peer::host::FlowId;
use trammel_tcp::connection::{Connection, Failure, State};
use trammel_tcp::stack::Stack;

/// A connection that is open at both ends, the kernel's as a socket.
fn open(opener: Opener, rates: Rates) -> Option<(Wire, FlowId, TcpStream)> {
    let mut wire = or_skip(tap::wire(1, [rates; 2]))?;
    let maker = maker(&Stack::linux_6(), "cubic");
    let (told, socket) = mpsc::channel();
    let mut flow = None;
    match opener {
        Opener::Ours => {
            let (listener, address) = listener(&wire.kernel);
            std::thread::spawn(move || told.send(listener.accept().expect("a client connects").0));
            let now = wire.driver.now();
            flow = Some(wire.driver.host.connect(now, address, &maker));
        }
        Opener::Kernel => {
            wire.driver.host.listen(PORT, maker);
            let kernel = wire.kernel.clone();
            std::thread::spawn(move || {
                let stream = kernel.run(|| TcpStream::connect((OURS, PORT)));
                told.send(stream.expect("we accept"))
            });
        }
    }
    let deadline = wire.driver.now() + PATIENCE;
    let is_open = wire.driver.run(deadline, |_, host| {
        flow = flow.or_else(|| host.accept());
        match flow.map(|flow| host.connection(flow).state()) {
            Some(State::Established) => Turn::Done,
            _ => Turn::Until(Time::MAX),
        }
    });
    assert!(is_open.expect("the TAP is there"));
    // What opened it for us may still be on a slow wire; the run that follows carries it.
    let mut stream = None;
    let is_open = wire.driver.run(deadline, |now, _| {
        stream = stream.take().or_else(|| socket.try_recv().ok());
        match stream {
            Some(_) => Turn::Done,
            None => Turn::Until(now + Span::from_ms(1)),
        }
    });
    assert!(is_open.expect("the TAP is there"));
    let stream = stream.expect("it is open");
    stream
        .set_read_timeout(Some(TIMEOUT))
        .expect("the time-out is above 0");
    Some((wire, flow.expect("it is open"), stream))
}

/// Runs until `is_over` says so of our end; the states that it went through.
fn watch(
    wire: &mut Wire,
    flow: FlowId,
    mut step: impl FnMut(Time, &mut Connection) -> Turn,
) -> Vec<State> {
    let mut states = Vec::new();
    let deadline = wire.driver.now() + PATIENCE;
    let is_over = wire.driver.run(deadline, |now, host| {
        let connection = host.connection(flow);
        let turn = step(now, connection);
        let state = connection.state();
        if states.last() != Some(&state) {
            states.push(state);
        }
        turn
    });
    assert!(is_over.expect("the TAP is there"), "{states:?}");
    states
}

fn until(state: State) -> impl FnMut(Time, &mut Connection) -> Turn {
    move |_, connection| {
        if connection.state() == state {
            Turn::Done
        } else {
            Turn::Until(Time::MAX)
        }
    }
}

#[test]
fn we_close_first() {
    for opener in [Opener::Ours, Opener::Kernel] {
        let Some((mut wire, flow, mut stream)) = open(opener, Rates::default()) else {
            return;
        };
        wire.driver.host.connection(flow).close();
        let states = watch(&mut wire, flow, until(State::FinWait2));
        assert_eq!(states.last(), Some(&State::FinWait2));
        assert_eq!(stream.read(&mut [0]).expect("an orderly end"), 0);
        drop(stream);
        assert_eq!(
            watch(&mut wire, flow, until(State::TimeWait)),
            [State::TimeWait]
        );
        // The end of TIME-WAIT need not be waited for.
        let host = &mut wire.driver.host;
        host.on_timer(host.next_timer());
        assert_eq!(host.flow(flow).connection.state(), State::Closed);
        assert_eq!(host.next_timer(), Time::MAX);
    }
}

#[test]
fn the_kernel_closes_first() {
    for opener in [Opener::Ours, Opener::Kernel] {
        let Some((mut wire, flow, stream)) = open(opener, Rates::default()) else {
            return;
        };
        stream
            .shutdown(Shutdown::Write)
            .expect("the connection is open");
        watch(&mut wire, flow, until(State::CloseWait));
        wire.driver.host.connection(flow).close();
        let states = watch(&mut wire, flow, until(State::Closed));
        assert_eq!(states, [State::LastAck, State::Closed]);
        assert_eq!(wire.driver.host.flow(flow).connection.failure(), None);
        assert_eq!((&stream).read(&mut [0]).expect("an orderly end"), 0);
    }
}

#[test]
fn both_close_at_once() {
    // A tenth of a second each way: the kernel's FIN is on its way when ours leaves.
    let hold = Span::from_ms(100);
    let slow = Rates {
        reordering: 1.0,
        hold,
        ..Rates::default()
    };
    let Some((mut wire, flow, stream)) = open(Opener::Ours, slow) else {
        return;
    };
    stream
        .shutdown(Shutdown::Write)
        .expect("the connection is open");
    wire.driver.host.connection(flow).close();
    let states = watch(&mut wire, flow, until(State::TimeWait));
    assert_eq!(states, [State::FinWait1, State::Closing, State::TimeWait]);
    assert_eq!((&stream).read(&mut [0]).expect("an orderly end"), 0);
    assert_eq!(wire.driver.host.flow(flow).connection.failure(), None);
}

#[test]
fn the_kernel_resets() {
    let Some((mut wire, flow, stream)) = open(Opener::Ours, Rates::default()) else {
        return;
    };
    tcp::abort(stream).expect("it is open");
    watch(&mut wire, flow, until(State::Closed));
    let connection = &wire.driver.host.flow(flow).connection;
    assert_eq!(connection.failure(), Some(Failure::Reset));
}

#[test]
fn we_reset() {
    let Some((mut wire, flow, mut stream)) = open(Opener::Kernel, Rates::default()) else {
        return;
    };
    wire.driver.host.connection(flow).abort();
    watch(&mut wire, flow, until(State::Closed));
    let error = stream.read(&mut [0]).expect_err("it was reset");
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
}

#[test]
fn where_nobody_listens_a_connection_is_refused() {
    let Some(mut wire) = or_skip(tap::wire(1, [Rates::default(); 2])) else {
        return;
    };
    // A port that was free a moment ago, and is not taken: the namespace is ours.
    let (listener, address) = listener(&wire.kernel);
    drop(listener);
    let now = wire.driver.now();
    let maker = maker(&Stack::linux_6(), "cubic");
    let flow = wire.driver.host.connect(now, address, &maker);
    watch(&mut wire, flow, until(State::Closed));
    let connection = &wire.driver.host.flow(flow).connection;
    assert_eq!(connection.failure(), Some(Failure::Refused));

    let kernel = wire.kernel.clone();
    let thread = std::thread::spawn(move || {
        let ours = SocketAddrV4::new(OURS, PORT);
        kernel.run(|| TcpStream::connect_timeout(&ours.into(), TIMEOUT))
    });
    let strays = wire.driver.host.counters().strays;
    let is_refused = wire.driver.run(now + PATIENCE, |_, host| {
        if host.counters().strays > strays {
            Turn::Done
        } else {
            Turn::Until(Time::MAX)
        }
    });
    assert!(is_refused.expect("the TAP is there"));
    let error = thread
        .join()
        .expect("the thread does not panic")
        .expect_err("nobody listens");
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}
