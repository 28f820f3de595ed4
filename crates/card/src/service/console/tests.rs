use super::*;
use crate::dataplane::RegisterDataplane;
use crate::service::buffered::PATIENCE;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use trammel_control::config::cpuhw;
use trammel_control::{Config, Control};
use trammel_netfpga::{Device, design};

struct Rig {
    console: Console,
    control: Control,
    card: Device,
    folder: tempfile::TempDir,
}

impl Rig {
    fn new() -> Rig {
        let folder = tempfile::tempdir().unwrap();
        let text = "eth0 10.0.0.1 255.255.255.0 2:0:0:0:1:0\n";
        let config = Config::new(cpuhw::read("cpuhw", text).unwrap(), Vec::new());
        let free = ([127, 0, 0, 1], 0).into();
        let path = folder.path().join("console");
        Rig {
            console: Console::open(Some(&path), Some(free)).unwrap(),
            control: Control::new(config).unwrap(),
            card: Device::new(design("reference-router").unwrap()),
            folder,
        }
    }

    fn poll(&mut self, now: Time) {
        let Rig { control, card, .. } = self;
        let polled = self.console.poll(now, |line| {
            control.command(now, line, &mut RegisterDataplane::new(card))
        });
        polled.unwrap();
    }

    fn connect(&self) -> UnixStream {
        let stream = UnixStream::connect(self.folder.path().join("console")).unwrap();
        stream.set_nonblocking(true).unwrap();
        stream
    }

    /// What is said to `lines`.
    fn said(&mut self, stream: &mut UnixStream, lines: &str) -> String {
        stream.write_all(lines.as_bytes()).unwrap();
        self.poll(Time::ZERO);
        read(stream)
    }
}

fn read(stream: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    String::from_utf8(bytes).unwrap()
}

#[test]
fn a_reply_has_its_state_and_its_length() {
    let mut rig = Rig::new();
    let mut stream = rig.connect();
    let said = rig.said(&mut stream, "show ip interface\n");
    let (head, text) = said.split_once('\n').unwrap();
    assert_eq!(head, format!("ok {}", text.len()));
    assert!(text.contains("eth0"), "{text}");
    let said = rig.said(&mut stream, "json show ip interface\n");
    assert!(said.contains("\"ok\":true"), "{said}");
    let said = rig.said(&mut stream, "shaw\r\n");
    assert!(said.starts_with("error "), "{said}");
    assert_eq!(rig.said(&mut stream, "\n"), "ok 0\n");
    // Half a line is none yet.
    assert_eq!(rig.said(&mut stream, "show ip "), "");
    assert!(rig.said(&mut stream, "arp\n").starts_with("ok "));
    assert_eq!(rig.said(&mut stream, "quit\nshow ip arp\n"), "");
    assert!(rig.console.sessions.is_empty());
}

#[test]
fn a_command_that_waits_is_replied_to_later_and_the_next_after_it() {
    let mut rig = Rig::new();
    let mut stream = rig.connect();
    assert_eq!(rig.said(&mut stream, "sping 10.0.0.2\nshow ip arp\n"), "");
    rig.poll(Time::ZERO.saturating_add(PATIENCE));
    assert_eq!(read(&mut stream), "");
    let number = rig.console.sessions[0].waits_for.unwrap().0;
    let reply = rig.control.command(
        Time::ZERO,
        "show ip route",
        &mut RegisterDataplane::new(&mut rig.card),
    );
    rig.console.reply(number + 1, &reply);
    assert_eq!(read(&mut stream), "");
    rig.console.reply(number, &reply);
    rig.poll(Time::ZERO.saturating_add(PATIENCE));
    assert_eq!(read(&mut stream).matches("ok ").count(), 2);
}

#[test]
fn lines_connections_and_patience_are_bounded() {
    let mut rig = Rig::new();
    let mut stream = rig.connect();
    let said = rig.said(&mut stream, &"x".repeat(LONGEST_LINE));
    assert!(said.ends_with("too long"), "{said}");
    let mut half = rig.connect();
    assert_eq!(rig.said(&mut half, "show"), "");
    rig.poll(Time::ZERO.saturating_add(PATIENCE));
    assert!(rig.console.sessions.is_empty());
    let _all: Vec<UnixStream> = (0..MOST_CONNECTIONS).map(|_| rig.connect()).collect();
    rig.poll(Time::ZERO);
    let mut refused = rig.connect();
    rig.poll(Time::ZERO);
    assert!(read(&mut refused).contains("too many connections"));
    assert_eq!(rig.console.sessions.len(), MOST_CONNECTIONS);
}

#[test]
fn telnet_takes_no_room_from_the_local_socket() {
    let mut rig = Rig::new();
    let (listener, _) = rig.console.telnet.as_ref().unwrap();
    let address = listener.local_addr().unwrap();
    let _all: Vec<TcpStream> = (0..MOST_CONNECTIONS)
        .map(|_| TcpStream::connect(address).unwrap())
        .collect();
    while rig.console.sessions.len() < MOST_CONNECTIONS {
        rig.poll(Time::ZERO);
    }
    let mut refused = TcpStream::connect(address).unwrap();
    let mut said = String::new();
    refused.set_nonblocking(true).unwrap();
    while !said.contains("too many connections") {
        rig.poll(Time::ZERO);
        said += &read(&mut refused);
    }
    let mut stream = rig.connect();
    assert!(rig.said(&mut stream, "show ip arp\n").starts_with("ok "));
}

#[test]
fn telnet_has_a_prompt_and_its_negotiation_is_no_command() {
    let mut rig = Rig::new();
    let (listener, _) = rig.console.telnet.as_ref().unwrap();
    let mut stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    stream
        .write_all(b"\xff\xfd\x01\xff\xf1show ip inter\xff\xfb\x03face")
        .unwrap();
    stream
        .write_all(b"\xff\xfa\x18\0xterm\xff\xf0\r\nquit\r\n")
        .unwrap();
    stream.set_nonblocking(true).unwrap();
    let mut said = String::new();
    while said.matches("router> ").count() < 2 {
        rig.poll(Time::ZERO);
        said += &read(&mut stream);
    }
    assert!(
        said.starts_with("router> ") && said.ends_with("\r\nrouter> "),
        "{said}"
    );
    assert!(
        said.contains("eth0") && !said.contains("no command"),
        "{said}"
    );
}

#[test]
fn any_bytes_are_taken() {
    let mut rig = Rig::new();
    for seed in 0..200_u32 {
        let mut stream = rig.connect();
        let mut state = seed.wrapping_mul(0x9e37_79b9) | 1;
        let bytes: Vec<u8> = std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            [b'\n', b' ', state as u8, state as u8][(state >> 8) as usize % 4]
        })
        .take(300)
        .collect();
        stream.write_all(&bytes).unwrap();
        rig.poll(Time::ZERO);
        drop(stream);
        rig.poll(Time::ZERO);
    }
    let mut stream = rig.connect();
    assert!(rig.said(&mut stream, "show ip arp\n").starts_with("ok "));
}
