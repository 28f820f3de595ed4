//! What the tests share: a card in a namespace of its own, and a namespace at the end of each port.

use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use trammel_card::tables::Row;
use trammel_card::{Card, Client, Error, Options};
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::clock;
use trammel_io::netns::{Namespace, veth};
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// How long anything may take, in nanoseconds.
pub(crate) const PATIENCE_NS: i64 = 60_000_000_000;
/// MAC addresses of the card's ports before software gives them others.
pub(crate) const MACS: [[u8; 6]; 2] = [
    [0xca, 0xfe, 0xf0, 0x0d, 0, 1],
    [0xca, 0xfe, 0xf0, 0x0d, 0, 2],
];

pub(crate) fn or_skip<T>(result: trammel_io::error::Result<T>) -> Option<T> {
    use trammel_io::error::Error::{NoRight, Unsupported};
    match result {
        Ok(value) => Some(value),
        Err(error @ (NoRight { .. } | Unsupported { .. })) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Whether a program of others is installed; it is said where not.
pub(crate) fn has(program: &str) -> bool {
    let is_there = trammel_io::program::find(program).is_some();
    if !is_there {
        println!("skipped: `{program}` is not installed");
    }
    is_there
}

/// `ends[0]:e ── p0:home:p1 ── ends[1]:e`, and a card on `p0`, `p1` and so on.
pub(crate) struct Rig<const PORTS: usize = 2> {
    pub(crate) home: Namespace,
    pub(crate) ends: [Namespace; PORTS],
    folder: tempfile::TempDir,
}

impl<const PORTS: usize> Rig<PORTS> {
    /// Interfaces without addresses: nothing but what a test sends is on their wires.
    pub(crate) fn silent() -> Option<Self> {
        let home = or_skip(Namespace::new())?;
        let mut ends = Vec::new();
        for _ in 0..PORTS {
            ends.push(or_skip(Namespace::new())?);
        }
        let rig = Rig {
            home,
            ends: ends.try_into().expect("one for each port"),
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
        };
        for (port, end) in rig.ends.iter().enumerate() {
            let name = format!("p{port}");
            veth(&rig.home, &name, end, "e").expect("the pair of devices can be made");
            rig.home.set_offloads(&name, false).expect("offloads off");
            end.set_offloads("e", false).expect("offloads off");
        }
        Some(rig)
    }
}

impl Rig {
    /// Interfaces with addresses, whose kernels have a default route by the card.
    pub(crate) fn new() -> Option<Rig> {
        let rig = Rig::<2>::silent()?;
        for (port, end) in rig.ends.iter().enumerate() {
            end.add_address("e", &format!("10.0.{port}.2/24"))
                .expect("the address is free");
            let gateway = format!("10.0.{port}.1");
            end.add_route("0.0.0.0/0", Some(&gateway), "e")
                .expect("the gateway is near");
        }
        Some(rig)
    }

    /// Waits, with `ask` as the question, until the answer is `wanted`.
    pub(crate) fn until<T: PartialEq + std::fmt::Debug>(wanted: &T, mut ask: impl FnMut() -> T) {
        let patience = clock::monotonic_ns() + PATIENCE_NS;
        loop {
            let answer = ask();
            if answer == *wanted {
                return;
            }
            assert!(
                clock::monotonic_ns() < patience,
                "{answer:?}, not {wanted:?}"
            );
            std::thread::yield_now();
        }
    }
}

impl<const PORTS: usize> Rig<PORTS> {
    /// A socket of the card.
    pub(crate) fn socket(&self, kind: &str) -> PathBuf {
        self.folder.path().join(kind)
    }

    /// Runs a card with options that `change` changes.
    pub(crate) fn start(&self, change: impl FnOnce(&mut Options)) -> Result<Running, Error> {
        let mut options = Options::new(&["p0", "p1", "p2", "p3"][..PORTS]);
        options.registers = Some(self.socket("registers"));
        change(&mut options);
        launch(&self.home, &options)
    }

    /// A card that runs, or nothing where the machine lacks something.
    pub(crate) fn run(&self, change: impl FnOnce(&mut Options)) -> Option<Running> {
        unless_lacking(self.start(change))
    }

    pub(crate) fn client(&self) -> Client {
        Client::connect(&self.socket("registers")).expect("the card runs")
    }

    /// Writes rows as `table set` does.
    pub(crate) fn set(&self, rows: &[&str]) {
        let mut client = self.client();
        for text in rows {
            let words: Vec<&str> = text.split(' ').collect();
            let row = Row::parse(&words).expect("a row");
            client
                .together(|accesses| row.write(accesses))
                .expect("the card runs");
        }
    }

    /// The counters of the lookup that are not 0.
    pub(crate) fn counters(&self) -> Vec<(String, u32)> {
        let mut client = self.client();
        let map = client.map();
        let all = client.dump().expect("the card runs");
        let named = all.into_iter().filter_map(|(address, value)| {
            let name = map.at(address)?.name;
            let short = name.strip_prefix("ROUTER_OP_LUT_")?.strip_suffix("_REG")?;
            let is_counter = short.contains("NUM_");
            (is_counter && value > 0).then(|| (short.to_ascii_lowercase(), value))
        });
        named.collect()
    }
}

/// Opens a card in `home` and runs it.
pub(crate) fn launch(home: &Namespace, options: &Options) -> Result<Running, Error> {
    let mut card = home.run(|| Card::open(options))?;
    let page = card.page();
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_over);
    let thread = std::thread::spawn(move || card.run(&|| seen.load(Ordering::Relaxed)));
    Ok(Running {
        page,
        is_over,
        thread: Some(thread),
    })
}

/// The card, or nothing where the machine lacks something, which is said.
pub(crate) fn unless_lacking(started: Result<Running, Error>) -> Option<Running> {
    match started {
        Ok(running) => Some(running),
        Err(why @ Error::Lack { .. }) => {
            println!("skipped: {why}");
            None
        }
        Err(why) => panic!("{why}"),
    }
}

/// A card that runs until this is dropped.
pub(crate) struct Running {
    /// The address of its web page with the token, if it has one.
    pub(crate) page: Option<String>,
    is_over: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Running {
    fn end(&mut self) -> Option<Result<(), Error>> {
        self.is_over.store(true, Ordering::Relaxed);
        let thread = self.thread.take()?;
        Some(thread.join().expect("the card does not panic"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let ended = self.end();
        if !std::thread::panicking() {
            ended.expect("it ran").expect("the card ran to its end");
        }
    }
}

/// Frames at an interface.
pub(crate) struct Wire {
    device: AfPacket,
    pool: Pool,
}

impl Wire {
    pub(crate) fn open(namespace: &Namespace, name: &str) -> Wire {
        let device = namespace.run(|| AfPacket::open(name, &afpacket::Options::default()));
        Wire {
            device: device.expect("a packet socket"),
            pool: Pool::new(256, 256),
        }
    }

    pub(crate) fn send(&mut self, frame: &[u8]) {
        let mut batch = Packets::new();
        batch.push(self.pool.alloc_with(frame).expect("a free slot"));
        while !batch.is_empty() {
            let sent = self.device.transmit(&mut self.pool, &mut batch);
            sent.and_then(|_| self.device.flush(&mut self.pool))
                .expect("the device sends");
        }
    }

    /// Appends what has come to `frames`.
    pub(crate) fn gather(&mut self, frames: &mut Vec<Vec<u8>>) {
        let mut batch = Packets::new();
        loop {
            let received = self.device.receive(&mut self.pool, &mut batch);
            if received.expect("the device receives") == 0 {
                return;
            }
            for packet in batch.drain() {
                frames.push(self.pool[&packet].data().to_vec());
                self.pool.free(packet);
            }
        }
    }

    /// The next frame that `is_wanted`.
    pub(crate) fn receive(&mut self, is_wanted: impl Fn(&[u8]) -> bool) -> Vec<u8> {
        let patience = clock::monotonic_ns() + PATIENCE_NS;
        loop {
            let mut batch = Packets::new();
            let received = self.device.receive(&mut self.pool, &mut batch);
            received.expect("the device receives");
            let mut found = None;
            for packet in batch.drain() {
                let frame = self.pool[&packet].data().to_vec();
                self.pool.free(packet);
                if found.is_none() && is_wanted(&frame) {
                    found = Some(frame);
                }
            }
            if let Some(frame) = found {
                return frame;
            }
            assert!(clock::monotonic_ns() < patience, "no such frame");
            let descriptor = self.device.descriptor().expect("it has one");
            clock::wait(&[descriptor], Some(10_000_000)).expect("it can be waited on");
        }
    }
}

/// A UDP packet in a frame to `mac`, from 10.0.0.2 to `to`.
pub(crate) fn udp(mac: [u8; 6], to: [u8; 4], number: u8) -> Vec<u8> {
    let mut frame = vec![number; 80];
    frame[..6].copy_from_slice(&mac);
    frame[6..14].copy_from_slice(&[2, 0, 0, 0, 0, 9, 8, 0]);
    frame[14..26].copy_from_slice(&[0x45, 0, 0, 66, 0, number, 0, 0, 64, 17, 0, 0]);
    frame[26..30].copy_from_slice(&[10, 0, 0, 2]);
    frame[30..34].copy_from_slice(&to);
    let sum = checksum(&frame[14..34]);
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame[34..42].copy_from_slice(&[0, 9, 0, 9, 0, 46, 0, 0]);
    frame
}

/// The checksum of RFC 1071; of bytes with theirs in them, 0.
pub(crate) fn checksum(bytes: &[u8]) -> u16 {
    let halves = bytes
        .chunks(2)
        .map(|half| u32::from(half[0]) << 8 | u32::from(half[1]));
    let mut sum: u32 = halves.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

pub(crate) fn ping(from: &Namespace, to: &str) -> Output {
    from.run(|| {
        Command::new("ping")
            .args(["-n", "-c", "3", "-i", "0.2", "-W", "20", to])
            .output()
            .expect("`ping` is there: apt-get install iputils-ping")
    })
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}
