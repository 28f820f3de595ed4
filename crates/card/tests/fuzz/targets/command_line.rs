//! Whatever a client of the command line sends, by the local socket or by telnet, in whatever
//! pieces: each line is replied to once and in its order, and replies are whole.
//!
//! The first byte chooses telnet by its lowest bit; then come steps.

use super::client::{Client, steps};
use trammel_card::RegisterDataplane;
use trammel_card::service::console::Console;
use trammel_control::config::cpuhw;
use trammel_control::{Config, Control};
use trammel_core::{Span, Time};
use trammel_netfpga::{Device, design};

const CPUHW: &str = "eth0 10.0.0.1 255.255.255.0 2:0:0:0:1:0\neth1 10.0.1.1 255.255.255.0 \
                     2:0:0:0:1:1\n";
const PROMPT: &str = "router> ";
/// Bytes of a line, at most.
const LONGEST_LINE: usize = 4096;
/// Rounds of the card until it has nothing to do, at most.
const MOST_ROUNDS: usize = 10_000;
/// How long a command may wait for the network.
const LONGEST_WAIT: Span = Span::from_secs(60);
/// Frames that the software may send meanwhile, by far.
const MOST_FRAMES: usize = 100_000;

/// A card's software with its command line.
struct Rig {
    device: Device,
    control: Control,
    console: Console,
    now: Time,
    frames: usize,
}

impl Rig {
    /// Rounds until there is nothing to do for `client`.
    fn serve(&mut self, client: &mut Client) {
        for _ in 0..MOST_ROUNDS {
            let (control, device, now) = (&mut self.control, &mut self.device, self.now);
            let polled = self.console.poll(now, |line| {
                control.command(now, line, &mut RegisterDataplane::new(device))
            });
            let mut has_any = polled.expect("it has no listener");
            while let Some((number, reply)) = self.control.poll_reply() {
                self.console.reply(number, &reply);
                has_any = true;
            }
            while self.control.poll_transmit().is_some() {
                self.frames += 1;
            }
            let before = client.got.len();
            client.read();
            if !has_any && client.got.len() == before {
                return;
            }
        }
        panic!("there is always something to do");
    }

    /// Lets time pass.
    fn advance(&mut self, span: Span, client: &mut Client) {
        let end = self.now + span;
        while let Some(at) = self.control.next_timeout().filter(|at| *at <= end) {
            self.now = at.max(self.now);
            let mut dataplane = RegisterDataplane::new(&mut self.device);
            self.control.handle_timeout(self.now, &mut dataplane);
            self.serve(client);
        }
        self.now = end;
        self.serve(client);
    }
}

/// Whether each line of `sent` that is replied to is to be replied to in JSON.
fn lines(sent: &[u8]) -> Vec<bool> {
    let mut all = Vec::new();
    let mut rest = sent;
    while let Some(end) = rest
        .iter()
        .take(LONGEST_LINE)
        .position(|byte| *byte == b'\n')
    {
        let line = String::from_utf8_lossy(&rest[..end]);
        if matches!(line.trim(), "quit" | "exit") {
            return all;
        }
        all.push(line.trim().starts_with("json "));
        rest = &rest[end + 1..];
    }
    if rest.len() >= LONGEST_LINE {
        // It is too long, which is told as text.
        all.push(false);
    }
    all
}

/// Whether each reply of the local socket is JSON.
fn replies(mut got: &[u8]) -> Vec<bool> {
    let mut all = Vec::new();
    while let Some(end) = got.iter().position(|byte| *byte == b'\n') {
        let head = std::str::from_utf8(&got[..end]).expect("a head is text");
        let (state, bytes) = head.split_once(' ').expect("a head has two words");
        let bytes: usize = bytes.parse().expect("a length");
        let (text, rest) = got[end + 1..].split_at(bytes);
        let text = std::str::from_utf8(text).expect("a reply is text");
        let json: Option<serde_json::Value> = serde_json::from_str(text).ok();
        let json = json.filter(serde_json::Value::is_object);
        if let Some(json) = &json {
            assert_eq!(json["ok"], state == "ok", "{text}");
        }
        assert!(
            state == "ok" || (state == "error" && !text.is_empty()),
            "{head}"
        );
        all.push(json.is_some());
        got = rest;
    }
    assert!(got.is_empty(), "a reply is whole");
    all
}

/// The replies by telnet.
fn shown(got: &[u8]) -> usize {
    let text = std::str::from_utf8(got).expect("what telnet shows is text");
    assert!(text.starts_with(PROMPT), "{text}");
    assert_eq!(
        text.matches('\n').count(),
        text.matches("\r\n").count(),
        "{text}"
    );
    text.matches(PROMPT).count() - 1
}

pub(crate) fn run(bytes: &[u8]) {
    let [first, bytes @ ..] = bytes else {
        return;
    };
    let is_telnet = first & 1 == 1;
    let interfaces = cpuhw::read("cpuhw", CPUHW).expect("it is right");
    let mut rig = Rig {
        device: Device::new(design("reference-router").expect("there is such a design")),
        control: Control::new(Config::new(interfaces, Vec::new())).expect("it is right"),
        console: Console::open(None, None).expect("it needs nothing"),
        now: Time::ZERO,
        frames: 0,
    };
    let (mut client, theirs) = Client::pair();
    rig.console.serve(theirs, is_telnet);
    let mut sent = Vec::new();
    for (mut piece, wait_ms) in steps(bytes) {
        while !piece.is_empty() && !client.is_over {
            let count = client.send(piece);
            sent.extend_from_slice(&piece[..count]);
            piece = &piece[count..];
            rig.serve(&mut client);
            if count == 0 {
                // Its command waits for the network.
                rig.advance(Span::from_secs(1), &mut client);
            }
        }
        rig.advance(Span::from_ms(wait_ms), &mut client);
    }
    rig.advance(LONGEST_WAIT, &mut client);
    assert!(rig.frames < MOST_FRAMES, "{} frames", rig.frames);
    let wanted = lines(&sent);
    if is_telnet {
        // Negotiation may hold a line's end, and a line may be late.
        assert!(shown(&client.got) <= sent.split(|byte| *byte == b'\n').count());
        return;
    }
    let got = replies(&client.got);
    // A line that stays unfinished for ten seconds ends the connection.
    assert!(wanted.starts_with(&got), "{got:?}, not {wanted:?}");
    assert!(client.is_over || got.len() == wanted.len());
}
