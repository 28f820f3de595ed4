//! The tests of SCONE, the reference router's software, on the live card with control software.
//!
//! Its command line is reached by the console's socket. Frames reach the software by the card only.

use crate::bench::{Bench as _, Card};
use crate::common;
use crate::common::frames::Frame;
use crate::common::scone::{self, Bench, every_scone};
use crate::lab::Lab;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;
use trammel_card::{Client, CommandLine, RegisterDataplane};
use trammel_control::dataplane::Mac;
use trammel_control::{Config, Dataplane, Neighbour, Route};
use trammel_core::{Span, Time};
use trammel_io::clock;
use trammel_netfpga::design;
use trammel_netfpga::stages::{Fcs, Queue};

/// Between two requests of ARP, so that nothing has to be waited for long.
const ARP_INTERVAL: Span = Span::from_ms(200);
/// How much sooner something may be than computed: the card may have taken the instant of a frame
/// just before the test did.
const EARLY: Span = Span::from_ms(50);
/// How much later: others may have the processor.
const LATE: Span = Span::from_secs(20);
/// Where telnet and the web page are offered, in the namespace of the card.
const TELNET: ([u8; 4], u16) = ([127, 0, 0, 1], 23);
const WEB: ([u8; 4], u16) = ([127, 0, 0, 1], 80);

/// The card with its software.
struct Live {
    card: Card<Lab>,
    console: CommandLine,
    asked: Option<JoinHandle<String>>,
    /// Frames that left by each port, in all.
    left: u64,
}

impl Live {
    fn new() -> Option<Live> {
        let lab = Lab::new(|options, rig| {
            options.control = Some(Config {
                arp_interval: ARP_INTERVAL,
                ..common::config()
            });
            options.console = Some(rig.socket("console"));
            options.telnet = Some(TELNET.into());
            options.web = Some(WEB.into());
            options.has_hosts = false;
        })?;
        let console = CommandLine::connect(&lab.rig.socket("console"));
        let map = design("reference-router").expect("it is there").map();
        let mut live = Live {
            console: console.expect("it listens"),
            card: Card::new(Box::new(lab), map),
            asked: None,
            left: 0,
        };
        // Whoever is answered knows that the tables are filled.
        live.cli("show ip");
        Some(live)
    }

    fn dataplane<T>(&mut self, look: impl FnOnce(RegisterDataplane<Client>) -> T) -> T {
        look(RegisterDataplane::new(self.card.bench.registers()))
    }
}

impl Bench for Live {
    fn arrive(&mut self, port: usize, frame: &[u8]) {
        self.card.bench.send(Queue::mac(port), frame, Fcs::Good);
    }

    fn punt(&mut self, _: usize, _: &[u8]) -> bool {
        false
    }

    fn take(&mut self) -> Vec<(usize, Frame)> {
        let mut all = Vec::new();
        for port in 0..4 {
            let left = self.card.bench.left_by(Queue::mac(port));
            all.extend(left.iter().map(|frame| (port, Frame::parse(frame))));
        }
        self.left += all.len() as u64;
        all
    }

    fn next(&mut self) -> (Time, usize, Frame) {
        let patience = self.now() + LATE;
        loop {
            for port in 0..4 {
                if let Some(frame) = self.card.bench.next_left_by(Queue::mac(port)) {
                    self.left += 1;
                    return (self.now(), port, Frame::parse(&frame));
                }
            }
            assert!(self.now() < patience, "no frame left");
            std::thread::yield_now();
        }
    }

    fn now(&self) -> Time {
        Time::from_ns(clock::monotonic_ns().cast_unsigned())
    }

    fn advance(&mut self, span: Span) {
        clock::sleep_until(clock::monotonic_ns() + span.as_ns().cast_signed());
    }

    fn assert_at(&self, at: Time, due: Time) {
        let range = due.saturating_sub(EARLY)..due + LATE;
        assert!(range.contains(&at), "{at:?}, not {due:?}");
    }

    fn arp_interval(&self) -> Span {
        ARP_INTERVAL
    }

    fn cli(&mut self, line: &str) -> (bool, String) {
        // What was sent before a command came before it.
        self.card.bench.registers();
        self.console.run(line, false).expect("the card answers")
    }

    fn ask(&mut self, line: &str) {
        let path = self.card.bench.rig.socket("console");
        let line = line.to_owned();
        self.asked = Some(std::thread::spawn(move || {
            let mut console = CommandLine::connect(&path).expect("it listens");
            let (is_ok, text) = console.run(&line, false).expect("the card answers");
            assert!(is_ok, "{text}");
            text
        }));
    }

    fn answer(&mut self) -> String {
        let asked = self.asked.take().expect("there was a command");
        asked.join().expect("it was answered")
    }

    fn own_addresses(&mut self) -> Vec<Ipv4Addr> {
        self.dataplane(|dataplane| dataplane.own_addresses())
    }

    fn routes(&mut self) -> Vec<Route> {
        self.dataplane(|dataplane| dataplane.routes())
    }

    fn neighbours(&mut self) -> Vec<Neighbour> {
        self.dataplane(|dataplane| dataplane.neighbours())
    }

    fn mac(&mut self, port: usize) -> Mac {
        self.dataplane(|dataplane| dataplane.mac(port))
    }

    fn is_up(&mut self, port: usize) -> bool {
        self.card.get(&format!("MAC_GRP_{port}_CONTROL")) == 0
    }

    fn software(&mut self) -> Vec<(String, u64)> {
        self.card.bench.registers();
        let (is_ok, text) = self.console.run("show counters", true).expect("it answers");
        let reply: Value = serde_json::from_str(&text).expect("the reply is JSON");
        assert!(is_ok, "{text}");
        let rows = reply["counters"].as_array().expect("a table");
        let row = |row: &Value| {
            let name = row["counter"].as_str().expect("a name");
            (name.to_owned(), row["value"].as_u64().expect("a number"))
        };
        rows.iter().map(row).collect()
    }

    fn assert_card_and_ports(&mut self, expected: &[(&str, u64)], refused: &[(usize, u64)]) {
        let mut all: BTreeMap<String, u32> = BTreeMap::new();
        for (name, value) in expected {
            let name = name.to_ascii_uppercase();
            all.insert(format!("ROUTER_OP_LUT_{name}"), *value as u32);
        }
        for (port, value) in refused {
            let name = format!("MAC_GRP_{port}_RX_QUEUE_NUM_PKTS_DROPPED_FULL");
            all.insert(name, *value as u32);
        }
        // What left was forwarded or is the software's.
        let _ = self.take();
        let forwarded = expected
            .iter()
            .find(|(name, _)| *name == "num_pkts_forwarded");
        let by_software = self.left - forwarded.map_or(0, |(_, count)| *count);
        let name = "ROUTER_OP_LUT_NUM_CPU_PKTS_SENT".to_owned();
        all.insert(name, by_software as u32);
        let all: Vec<(&str, u32)> = all.iter().map(|(name, value)| (&**name, *value)).collect();
        self.card.expect(&all);
    }
}

/// Each function is a test of the live card.
macro_rules! live {
    ($($name:ident)*) => {
        $(#[test] fn $name() {
            if let Some(mut live) = Live::new() {
                scone::$name(&mut live);
            }
        })*
    };
}

every_scone!(live);

/// Beside the addresses of the router, where every port is closed, command line and web page answer
/// where they are told to.
#[test]
fn tcp_port_of_the_command_line_and_of_the_web_page() {
    let Some(live) = Live::new() else { return };
    let said = |address: ([u8; 4], u16), text: &str| {
        live.card.bench.rig.home.run(|| {
            let mut stream = TcpStream::connect(SocketAddr::from(address)).expect("it listens");
            let patience = Duration::from_nanos(LATE.as_ns());
            stream.set_read_timeout(Some(patience)).expect("above 0");
            stream.write_all(text.as_bytes()).expect("the card reads");
            let mut said = String::new();
            stream.read_to_string(&mut said).expect("the card answers");
            said
        })
    };
    let answer = said(TELNET, "show ip interface\r\nquit\r\n");
    assert!(answer.contains("eth3"), "{answer}");
    let answer = said(WEB, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
}
