//! What the tests against the kernel share: one connection, from its opening to the end of both
//! directions.
#![allow(dead_code, clippy::print_stdout)]

pub(crate) mod tap;

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;
use tap::{KERNEL, OURS, Wire};
use trammel_core::entry::Params;
use trammel_core::time::{Span, Time};
use trammel_io::error::{Error, Result};
use trammel_io::netns::Namespace;
use trammel_io::tcp::{self, TcpInfo};
use trammel_peer::drive::Turn;
use trammel_peer::faults::{Counters, Rates};
use trammel_peer::host::{FlowId, Maker};
use trammel_peer::pattern;
use trammel_tcp::cc;
use trammel_tcp::connection::State;
use trammel_tcp::stack::Stack;

/// How long a connection may take before a test gives up.
pub(crate) const PATIENCE: Span = Span::from_secs(60);
/// As the kernel's sockets have it.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);
/// Where our host listens.
pub(crate) const PORT: u16 = 5001;
/// What most transfers carry each way.
pub(crate) const MIB: u64 = 1 << 20;

/// The value, or `None` with the reason printed where the machine lacks something.
pub(crate) fn or_skip<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ (Error::NoRight { .. } | Error::Unsupported { .. })) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Connections with this stack and the variant called `cc`.
pub(crate) fn maker(stack: &Stack, cc: &str) -> Maker {
    let entry = cc::find(cc).expect("the variant is built in");
    let params =
        Params::resolve(&entry.about, &[]).expect("the parameters are within their ranges");
    Maker::new(stack, move || (entry.build)(&params))
}

/// A wire that loses, doubles and holds back a hundredth of frames.
pub(crate) fn lossy() -> Rates {
    Rates {
        loss: 0.01,
        duplication: 0.01,
        reordering: 0.01,
        hold: Span::from_ms(2),
        ..Rates::default()
    }
}

/// Who opens a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opener {
    Kernel,
    Ours,
}

/// One connection between our host and the kernel.
#[derive(Debug)]
pub(crate) struct Transfer {
    pub(crate) opener: Opener,
    /// Bytes that we send.
    pub(crate) to_kernel: u64,
    /// Bytes that the kernel sends.
    pub(crate) to_us: u64,
    pub(crate) stack: Stack,
    pub(crate) cc: &'static str,
    /// Faults on the ways in and out.
    pub(crate) rates: [Rates; 2],
    pub(crate) seed: u64,
    /// Variables below `/proc/sys/net/ipv4` of the kernel's end.
    pub(crate) sysctls: Vec<(&'static str, &'static str)>,
    /// The MTU of the kernel's end.
    pub(crate) mtu_bytes: u32,
    /// How often our application reads, where not at once.
    pub(crate) reads_every: Option<Span>,
}

impl Default for Transfer {
    fn default() -> Transfer {
        Transfer {
            opener: Opener::Ours,
            to_kernel: 0,
            to_us: 0,
            stack: Stack::linux_6(),
            cc: "cubic",
            rates: [Rates::default(); 2],
            seed: 1,
            sysctls: Vec::new(),
            mtu_bytes: 1500,
            reads_every: None,
        }
    }
}

/// What became of it.
pub(crate) struct Outcome {
    pub(crate) wire: Wire,
    pub(crate) flow: FlowId,
    /// The kernel's end, once all was sent and received.
    pub(crate) info: TcpInfo,
    /// What the faults did on the ways in and out.
    pub(crate) faults: [Counters; 2],
}

impl Outcome {
    pub(crate) fn counters(&self) -> trammel_tcp::connection::Counters {
        *self.wire.driver.host.flow(self.flow).connection.counters()
    }
}

/// A listener in the kernel, at any port that is free.
pub(crate) fn listener(kernel: &Namespace) -> (TcpListener, SocketAddrV4) {
    let listener = kernel
        .run(|| TcpListener::bind((KERNEL, 0)))
        .expect("a port");
    let port = listener
        .local_addr()
        .expect("a bound socket has an address")
        .port();
    (listener, SocketAddrV4::new(KERNEL, port))
}

/// Writes the stream's first `bytes` bytes.
pub(crate) fn write_pattern(mut stream: &TcpStream, bytes: u64) {
    let mut buffer = vec![0; 65_536];
    let mut done = 0;
    while done < bytes {
        let part = &mut buffer[..(bytes - done).min(65_536) as usize];
        pattern::fill(done as u32, part);
        stream.write_all(part).expect("the peer takes it");
        done += part.len() as u64;
    }
}

/// Reads to the end of the stream; says how many bytes came and how many were wrong.
pub(crate) fn read_pattern(mut stream: &TcpStream) -> (u64, u64) {
    let mut buffer = vec![0; 65_536];
    let (mut done, mut wrong) = (0, 0);
    loop {
        match stream.read(&mut buffer).expect("the peer sends") {
            0 => return (done, wrong),
            count => {
                wrong += pattern::wrong_bytes(done as u32, &buffer[..count]);
                done += count as u64;
            }
        }
    }
}

/// The kernel's half of a transfer: writes and reads at once.
pub(crate) fn talk(stream: &TcpStream, to_us: u64) -> (u64, u64, TcpInfo) {
    stream
        .set_read_timeout(Some(TIMEOUT))
        .expect("the time-out is above 0");
    stream
        .set_write_timeout(Some(TIMEOUT))
        .expect("the time-out is above 0");
    let (came, wrong) = std::thread::scope(|scope| {
        scope.spawn(|| {
            write_pattern(stream, to_us);
            stream
                .shutdown(Shutdown::Write)
                .expect("the connection is open");
        });
        read_pattern(stream)
    });
    (came, wrong, tcp::info(stream).expect("the socket is there"))
}

/// What the kernel of a namespace counts of TCP (`/proc/net/snmp` and `netstat`), by name; zeros
/// are left out.
pub(crate) fn kernel_counters(kernel: &Namespace) -> BTreeMap<String, u64> {
    let read = |file: &str| std::fs::read_to_string(format!("/proc/thread-self/net/{file}"));
    let text = kernel.run(|| Ok::<_, std::io::Error>(read("snmp")? + &read("netstat")?));
    let text = text.expect("the kernel shows its counters");
    let lines: Vec<_> = text
        .lines()
        .filter(|line| line.starts_with("Tcp"))
        .collect();
    let mut counters = BTreeMap::new();
    // A line of names, then one of numbers.
    for pair in lines.chunks_exact(2) {
        for (name, value) in pair[0].split(' ').zip(pair[1].split(' ')).skip(1) {
            // One of the first kind is negative: no limit to connections.
            match value.parse().unwrap_or(0) {
                0 => {}
                value => drop(counters.insert(name.to_owned(), value)),
            }
        }
    }
    counters
}

impl Transfer {
    /// Runs it, and holds both ends to what they should have received.
    pub(crate) fn run(&self) -> Option<Outcome> {
        println!("seed {}", self.seed);
        let mut wire = or_skip(tap::wire(self.seed, self.rates))?;
        for (variable, value) in &self.sysctls {
            let variable = format!("ipv4/{variable}");
            wire.kernel
                .set_sysctl(&variable, value)
                .expect("a variable");
        }
        wire.kernel.set_mtu("t0", self.mtu_bytes).expect("an MTU");
        let maker = maker(&self.stack, self.cc);
        let (thread, mut flow) = self.open(&mut wire, maker);
        let (to_kernel, mut is_written) = (self.to_kernel, false);
        let mut next_read = Time::ZERO;
        let now = wire.driver.now();
        let is_done = wire.driver.run(now + PATIENCE, |now, host| {
            flow = flow.or_else(|| host.accept());
            let Some(flow) = flow else {
                return Turn::Until(Time::MAX);
            };
            let connection = host.connection(flow);
            if !is_written {
                connection.write(to_kernel);
                connection.close_when_written();
                connection.set_auto_read(self.reads_every.is_none());
                is_written = true;
            }
            if let Some(gap) = self.reads_every
                && now >= next_read
            {
                connection.read(now, u32::MAX);
                next_read = now + gap;
            }
            match connection.state() {
                State::Closed | State::TimeWait => Turn::Done,
                _ if self.reads_every.is_some() => Turn::Until(next_read),
                _ => Turn::Until(Time::MAX),
            }
        });
        assert!(
            is_done.expect("the TAP is there"),
            "stuck: {}",
            self.state(&wire, flow)
        );
        let flow = flow.expect("it was opened");
        let ours = wire.driver.host.flow(flow);
        assert_eq!(ours.connection.failure(), None);
        assert_eq!(ours.connection.counters().bytes_delivered, self.to_us);
        assert_eq!(ours.wrong_bytes(), 0);
        assert_eq!(wire.driver.host.counters().damaged, 0);
        let (came, wrong, info) = thread.join().expect("the kernel's end is content");
        assert_eq!((came, wrong), (self.to_kernel, 0));
        let told = kernel_counters(&wire.kernel);
        assert_eq!(told.get("InCsumErrors"), None, "{told:?}");
        let faults = [
            *wire.driver.inward.counters(),
            *wire.driver.outward.counters(),
        ];
        Some(Outcome {
            wire,
            flow,
            info,
            faults,
        })
    }

    fn open(
        &self,
        wire: &mut Wire,
        maker: Maker,
    ) -> (JoinHandle<(u64, u64, TcpInfo)>, Option<FlowId>) {
        let to_us = self.to_us;
        match self.opener {
            Opener::Ours => {
                let (listener, address) = listener(&wire.kernel);
                let thread = std::thread::spawn(move || {
                    let (stream, _) = listener.accept().expect("a client connects");
                    talk(&stream, to_us)
                });
                let now = wire.driver.now();
                (thread, Some(wire.driver.host.connect(now, address, &maker)))
            }
            Opener::Kernel => {
                wire.driver.host.listen(PORT, maker);
                let kernel = wire.kernel.clone();
                let thread = std::thread::spawn(move || {
                    let stream = kernel.run(|| TcpStream::connect((OURS, PORT)));
                    talk(&stream.expect("we accept"), to_us)
                });
                (thread, None)
            }
        }
    }

    fn state(&self, wire: &Wire, flow: Option<FlowId>) -> String {
        let flow = flow.map(|flow| {
            let connection = &wire.driver.host.flow(flow).connection;
            let window = connection.peer_window();
            let (state, tp) = (connection.state(), connection.tp());
            format!(
                "{state:?} {tp:?} {:?}, window {window}",
                connection.counters()
            )
        });
        let told = kernel_counters(&wire.kernel);
        let (seed, counters) = (self.seed, wire.driver.host.counters());
        format!("seed {seed}, {flow:?}, {counters:?}, kernel {told:?}")
    }
}
