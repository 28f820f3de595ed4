//! `trammel netfpga`: a card in a namespace, and the commands that reach it.
//!
//! Where the machine does not allow namespaces, a test prints why it did nothing.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use trammel_io::error::Error;
use trammel_io::netns::{Namespace, veth};
use trammel_io::signals;

const TRAMMEL: &str = env!("CARGO_BIN_EXE_trammel");
const SIGTERM: i32 = 15;

/// Two interfaces in a namespace, and a card on them.
struct Rig {
    home: Namespace,
    _end: Namespace,
    folder: tempfile::TempDir,
}

impl Rig {
    fn new() -> Option<Rig> {
        let made = Namespace::new().and_then(|home| Ok((home, Namespace::new()?)));
        let (home, end) = match made {
            Ok(both) => both,
            Err(why @ (Error::NoRight { .. } | Error::Unsupported { .. })) => {
                println!("skipped: {why}");
                return None;
            }
            Err(why) => panic!("{why}"),
        };
        for port in ["0", "1"] {
            veth(&home, &format!("p{port}"), &end, &format!("e{port}"))
                .expect("the pair of devices can be made");
        }
        Some(Rig {
            home,
            _end: end,
            folder: tempfile::tempdir().expect("a temporary folder can be made"),
        })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(TRAMMEL);
        command.arg("netfpga").args(words);
        command.env("XDG_RUNTIME_DIR", self.folder.path());
        command
    }

    /// A card that runs, or nothing where the machine lacks something.
    fn card(&self, more: &[&str]) -> Option<Card> {
        let words = [&["run", "--ports", "p0,p1"], more].concat();
        let mut command = self.command(&words);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let spawned = self.home.run(move || command.spawn());
        let mut child = spawned.expect("the program can be started");
        let mut said = BufReader::new(child.stderr.take().expect("the stream is piped"));
        let (mut line, mut all) = (String::new(), String::new());
        while said.read_line(&mut line).expect("the card speaks") > 0 {
            all += &line;
            if line.contains("runs on") {
                return Some(Card { child, _said: said });
            }
            line.clear();
        }
        let code = child.wait().expect("it has ended").code();
        assert_eq!(code, Some(3), "{all}");
        println!("skipped: {all}");
        None
    }

    /// What a command that does well writes.
    fn well(&self, words: &[&str]) -> String {
        let output = self.output(words);
        assert!(output.status.success(), "{words:?}: {}", said(&output));
        String::from_utf8(output.stdout).expect("the text is UTF-8")
    }

    /// The exit code of a command that does not, and what it says.
    fn refused(&self, words: &[&str]) -> (Option<i32>, String) {
        let output = self.output(words);
        (output.status.code(), said(&output))
    }

    fn output(&self, words: &[&str]) -> Output {
        let output = self.command(words).stdin(Stdio::null()).output();
        output.expect("the program can be started")
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

struct Card {
    child: Child,
    _said: BufReader<ChildStderr>,
}

impl Card {
    /// Ends it as a user does: its exit code.
    fn end(mut self) -> Option<i32> {
        signals::send(self.child.id() as i32, SIGTERM).expect("it runs");
        self.child.wait().expect("it ends").code()
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn registers_and_tables_of_a_card_that_runs() {
    let Some(rig) = Rig::new() else { return };
    let (code, text) = rig.refused(&["reg", "dump"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(
        text.contains("no card at") && text.contains("trammel netfpga run"),
        "{text}"
    );
    let Some(card) = rig.card(&[]) else { return };
    rig.well(&[
        "table",
        "set",
        "route",
        "4",
        "10.1.0.0/16",
        "via",
        "10.2.0.1",
        "port",
        "1",
    ]);
    rig.well(&["table", "set", "arp", "0", "10.2.0.1", "2:0:0:0:0:1"]);
    rig.well(&["table", "set", "filter", "0", "10.2.0.254"]);
    assert_eq!(
        rig.well(&["table", "list", "route"]),
        "row  network   mask         next_hop  port\n4    10.1.0.0  255.255.0.0  10.2.0.1  1\n"
    );
    let json = rig.well(&["table", "list", "--json"]);
    assert!(
        json.contains(r#""filter":[{"address":"10.2.0.254","row":0}]"#),
        "{json}"
    );
    rig.well(&["table", "clear", "route", "4"]);
    rig.well(&["table", "clear", "arp"]);
    assert_eq!(rig.well(&["table", "list", "arp"]), "row  next_hop  mac\n");
    assert_eq!(rig.well(&["table", "list", "route"]).lines().count(), 1);

    let forwarded = "router_op_lut_num_pkts_forwarded";
    rig.well(&["reg", "write", forwarded, "0x10", "0x2000020", "7"]);
    assert_eq!(
        rig.well(&[
            "reg",
            "read",
            forwarded,
            "ROUTER_OP_LUT_NUM_WRONG_DEST_REG",
            "4"
        ]),
        "0x200001c  ROUTER_OP_LUT_NUM_PKTS_FORWARDED_REG  16  0x00000010\n\
         0x2000020  ROUTER_OP_LUT_NUM_WRONG_DEST_REG  7  0x00000007\n\
         0x0000004  -  3735928559  0xdeadbeef\n"
    );
    assert_eq!(
        rig.well(&["reg", "read", "--json", forwarded]),
        "{\"ROUTER_OP_LUT_NUM_PKTS_FORWARDED_REG\":16}\n"
    );
    let dump = rig.well(&["reg", "dump", "--nonzero", "op_lut_num"]);
    assert_eq!(dump.lines().count(), 2, "{dump}");
    assert!(rig.well(&["reg", "dump"]).lines().count() > 300);
    let seen = rig.well(&["reg", "watch", "--count", "1", forwarded]);
    assert!(seen.ends_with("  16  0x00000010\n"), "{seen}");

    for (words, says) in [
        (
            &["reg", "read", "router_op_lut_num_pkts_forwardet"][..],
            "did you mean `ROUTER_OP",
        ),
        (&["reg", "read", "3"], "multiples of 4"),
        (&["reg", "write", forwarded], "has no value"),
        (&["reg", "write", forwarded, "x"], "no value"),
        (
            &["reg", "write", "dev_id_device_id", "1"],
            "can only be read",
        ),
        (&["table", "set", "rout", "0"], "did you mean `route`"),
        (&["table", "set", "filter", "32", "10.0.0.1"], "0 to 31"),
        (&["table", "clear", "mac"], "cannot be cleared"),
        (&["table", "list", "arps"], "did you mean `arp`"),
    ] {
        let (code, text) = rig.refused(words);
        assert_eq!(code, Some(2), "{words:?}: {text}");
        assert!(text.contains(says), "{words:?}: {text}");
    }
    let (code, text) = rig.refused(&["cli", "help"]);
    assert_eq!(code, Some(3), "{text}");
    assert!(text.contains("--control"), "{text}");
    assert_eq!(card.end(), Some(0));
    assert!(!rig.path("trammel-nf2c.registers").exists());
    assert!(rig.home.link("nf2c0").is_err());
}

#[test]
fn the_command_line_of_control_software_by_command_and_by_script() {
    let Some(rig) = Rig::new() else { return };
    let (cpuhw, rtable) = (rig.path("cpuhw"), rig.path("rtable"));
    std::fs::write(&cpuhw, "eth0 10.0.0.1 255.255.255.0 2:0:0:0:1:0\n").expect("it is written");
    std::fs::write(&rtable, "10.5.0.0 10.0.0.2 255.255.0.0 eth0\n").expect("it is written");
    let files = [&cpuhw, &rtable].map(|path| path.to_str().expect("the name is UTF-8"));
    let Some(card) = rig.card(&["--control", files[0], "--rtable", files[1]]) else {
        return;
    };
    let text = rig.well(&["cli", "show", "ip", "route"]);
    assert!(text.contains("10.5.0.0"), "{text}");
    let json = rig.well(&["cli", "--json", "show", "ip", "interface"]);
    assert!(json.contains("\"address\":\"10.0.0.1\""), "{json}");
    let (code, text) = rig.refused(&["cli", "ip", "route", "add"]);
    assert_eq!(code, Some(1), "{text}");
    // What stands in the card: the route of the file, and the connected network.
    let routes = rig.well(&["table", "list", "route"]);
    assert!(routes.contains("10.5.0.0  255.255.0.0"), "{routes}");
    std::fs::write(&cpuhw, "eth0 10.0.0.1\n").expect("it is written");
    let wrong = [
        "run",
        "--ports",
        "p0",
        "--prefix",
        "o",
        "--control",
        files[0],
    ];
    let (code, text) = rig.refused(&wrong);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("cpuhw:1: "), "{text}");
    assert_eq!(card.end(), Some(0));
}

#[test]
fn a_mirror_beside_a_card_keeps_its_tables() {
    let Some(rig) = Rig::new() else { return };
    let Some(card) = rig.card(&[]) else { return };
    let mut command = rig.command(&["mirror"]);
    let mirror = rig.home.run(move || command.spawn());
    let mut mirror = mirror.expect("the program can be started");
    rig.home
        .add_address("nf2c1", "10.0.1.1/24")
        .expect("the address is free");
    let wanted = "10.0.1.0  255.255.255.0  0.0.0.0   1";
    while !rig.well(&["table", "list", "route"]).contains(wanted) {
        assert!(mirror.try_wait().expect("it can be asked").is_none());
    }
    assert!(rig.well(&["table", "list", "filter"]).contains("224.0.0.5"));
    signals::send(mirror.id() as i32, SIGTERM).expect("it runs");
    assert_eq!(mirror.wait().expect("it ends").code(), Some(0));
    // The tables stay.
    assert!(rig.well(&["table", "list", "route"]).contains(wanted));
    assert_eq!(card.end(), Some(0));
}

/// A pcap file of two frames of 60 bytes, 100 µs apart.
fn two_frames() -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d_u32, 0x0004_0002, 0, 0, 65_535, 1] {
        file.extend(word.to_le_bytes());
    }
    for nanoseconds in [0_u32, 100_000] {
        for word in [1, nanoseconds, 60, 60] {
            file.extend(u32::to_le_bytes(word));
        }
        file.extend([2; 60]);
    }
    file
}

#[test]
fn a_packet_generator_sends_captures_and_makes_them() {
    let Some(rig) = Rig::new() else { return };
    let Some(card) = rig.card(&["--design", "packet-generator"]) else {
        return;
    };
    let (from, to) = (rig.path("a.pcap"), rig.path("b.pcap"));
    std::fs::write(&from, two_frames()).expect("it is written");
    let at_port_0 = format!("0={}", from.display());
    let replay = |more: &[&str]| {
        let words = [&["replay", at_port_0.as_str()], more].concat();
        rig.home.run(|| rig.output(&words))
    };
    let sent = replay(&["--iterations", "3"]);
    let text = String::from_utf8_lossy(&sent.stdout).into_owned();
    assert!(text.ends_with("a.pcap`, 6 sent\n"), "{text}{}", said(&sent));
    let sent = replay(&["--rate", "1Gbit/s", "--iterations", "1000", "--json"]);
    let text = String::from_utf8_lossy(&sent.stdout).into_owned();
    assert!(
        text.contains("\"frames\":2") && text.contains("\"sent\":2000"),
        "{text}"
    );
    for (words, says) in [
        (&["--rate", "0bit/s"][..], "at least 1 bit/s"),
        (&["--gap=-1s"], "from 0 to"),
        (&["--gap", "5s"], "longest gap"),
        (&["0=b.pcap"], "two captures"),
        (&["4=b.pcap"], "ports are 0 to 3"),
        (&["1=absent.pcap"], "`absent.pcap` cannot be read"),
    ] {
        let refused = replay(words);
        assert_eq!(
            refused.status.code(),
            Some(2),
            "{words:?}: {}",
            said(&refused)
        );
        assert!(
            said(&refused).contains(says),
            "{words:?}: {}",
            said(&refused)
        );
    }

    let out = to.to_str().expect("the name is UTF-8");
    let words = ["capture", "--port", "1", "-o", out];
    let mut command = rig.command(&words);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let capture = rig.home.run(move || command.spawn());
    let mut capture = capture.expect("the program can be started");
    while !rig
        .well(&["reg", "read", "pkt_gen_1_ctrl"])
        .contains("0x00000004")
    {
        assert!(capture.try_wait().expect("it can be asked").is_none());
    }
    signals::send(capture.id() as i32, SIGTERM).expect("it runs");
    assert_eq!(capture.wait().expect("it ends").code(), Some(0));
    let written = std::fs::read(&to).expect("the file is there");
    assert!(
        written.starts_with(&[0x4d, 0x3c, 0xb2, 0xa1]),
        "{written:?}"
    );
    // Nothing is lost that was captured before.
    let again = rig.home.run(|| rig.output(&words));
    assert_eq!(again.status.code(), Some(2), "{}", said(&again));
    assert!(said(&again).contains("does not exist"), "{}", said(&again));
    assert!(
        rig.well(&["reg", "read", "pkt_gen_1_ctrl"])
            .contains("0x00000000")
    );
    assert_eq!(card.end(), Some(0));
}

#[test]
fn the_header_has_the_addresses() {
    let output = Command::new(TRAMMEL)
        .args(["netfpga", "reg", "header"])
        .output();
    let text = String::from_utf8(output.expect("it can be started").stdout).expect("UTF-8");
    assert!(
        text.contains("#define ROUTER_OP_LUT_NUM_PKTS_FORWARDED_REG 0x200001c"),
        "{text}"
    );
}
