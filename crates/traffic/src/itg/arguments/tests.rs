//! Tests of the command line.

use super::applications::APPLICATIONS;
use super::flags::{FLAGS, Part};
use super::*;
use crate::itg::command::{Application, Codec, Host, Law, Logs, Serve, Unit, Values};
use crate::record::Protocol;
use crate::stream::Limits;
use proptest::prelude::*;
use std::net::IpAddr;
use trammel_core::time::Span;

fn flow(line: &str) -> Command {
    let words: Vec<&str> = line.split_whitespace().collect();
    match invocation(&words) {
        Ok(Invocation::Flow(command)) => *command,
        other => panic!("{line}: {other:?}"),
    }
}

fn error(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    invocation(&words).expect_err(line).to_string()
}

fn drawn(law: Law, numbers: &[f64], unit: Unit) -> Values {
    Values::Drawn {
        law,
        numbers: numbers.to_vec(),
        unit,
    }
}

#[test]
fn a_receiver_is_told_its_log_server_by_parts() {
    let words = ["-L", "a:::1", "p:9100", "P:TCP", "-q", "9", "-l", "x"];
    let told = serve(&words).expect("it is one");
    let server = told.log_server.expect("it is told");
    assert_eq!(
        server.host,
        Host::Address(std::net::Ipv6Addr::LOCALHOST.into())
    );
    assert_eq!((server.port, server.protocol), (9100, Protocol::Tcp));
    assert_eq!(told.batch, Some(9));
    let all = serve(&["-L"]).expect("it is one").log_server;
    assert_eq!(all.map(|one| one.port), Some(9001));
    for wrong in ["127.0.0.1", "p:x", "P:ICMP", "a:", "q:1"] {
        assert!(serve(&["-L", wrong]).is_err(), "{wrong}");
    }
}

#[test]
fn a_flow_of_the_manual_is_understood() {
    let command = flow("-a 10.0.0.3 -sp 9400 -rp 9500 -C 100 -c 500 -t 20000 -x recv_log_file");
    let expected = Command {
        destination: Host::Address(IpAddr::from([10, 0, 0, 3])),
        port: 9500,
        source_port: Some(9400),
        gap: drawn(Law::Constant, &[100.0], Unit::PerSecond),
        size: drawn(Law::Constant, &[500.0], Unit::Bytes),
        limits: Limits {
            duration: Some(Span::from_ms(20_000)),
            ..Limits::default()
        },
        logs: Logs {
            receiver: Some("recv_log_file".to_owned()),
            ..Logs::default()
        },
        ..Command::default()
    };
    assert_eq!(command, expected);
}

#[test]
fn every_flag_is_understood_as_its_example_is_written() {
    for flag in FLAGS.iter().filter(|flag| flag.part != Part::Voip) {
        let example = if flag.wants == "nothing" {
            flag.word
        } else {
            flag.example
        };
        assert!(example.starts_with(flag.word));
        flow(example);
        if flag.part != Part::Log {
            assert_eq!(script(example).map(|flows| flows.len()), Ok(1), "{example}");
        }
    }
    for flag in FLAGS.iter().filter(|flag| flag.part == Part::Voip) {
        flow(flag.example);
    }
}

#[test]
fn the_receiver_understands_its_flags() {
    for flag in receiver::FLAGS {
        let words: Vec<&str> = flag.example.split_whitespace().collect();
        let read = serve(&words).expect(flag.example);
        assert_ne!(read, Serve::default(), "{}", flag.example);
    }
    let words = ["-Sp", "9001", "-l", "-a", "::1"];
    let read = serve(&words).expect("a command line");
    assert_eq!(
        (read.port, read.log.as_deref()),
        (Some(9001), Some("/tmp/ITGRecv.log"))
    );
    let error = serve(&["-rp", "9"]).expect_err("of the sender").to_string();
    assert!(error.contains("not an option of ITGRecv"), "{error}");
}

#[test]
fn laws_have_their_units() {
    let command = flow("-N 10 2 -g 2 256");
    assert_eq!(
        command.gap,
        drawn(Law::Normal, &[10.0, 2.0], Unit::Milliseconds)
    );
    assert_eq!(command.size, drawn(Law::Gamma, &[2.0, 256.0], Unit::Bytes));
    let bursts = flow("-C 100 -B C 500 E 200").bursts.expect("bursts");
    assert_eq!(
        bursts.on,
        drawn(Law::Constant, &[500.0], Unit::Milliseconds)
    );
    assert_eq!(
        bursts.off,
        drawn(Law::Exponential, &[200.0], Unit::Milliseconds)
    );
}

#[test]
fn logs_and_applications_share_letters() {
    let command = flow("-a ::1 -l -x r.log -L UDP -t 300 VoIP -x G.729.2 -h CRTP -VAD");
    assert_eq!(command.logs.sender.as_deref(), Some("/tmp/ITGSend.log"));
    assert_eq!(command.logs.receiver.as_deref(), Some("r.log"));
    let voip = Application::Voip {
        codec: Codec::G729Two,
        is_compressed: true,
        is_silent_in_pauses: true,
    };
    assert_eq!(command.application, Some(voip));
    assert_eq!(flow("-T UDP Telnet").protocol, Protocol::Tcp);
    assert_eq!(flow("-T UDP Telnet").remarks.len(), 1);
    assert_eq!(flow("-T ICMP 13 -c 60").icmp_type, 13);
}

#[test]
fn limits_take_the_place_of_the_default_duration() {
    assert_eq!(
        flow("-z 5").limits,
        Limits {
            packets: Some(5),
            ..Limits::default()
        }
    );
    assert_eq!(
        flow("-k 2").limits,
        Limits {
            bytes: Some(2048),
            ..Limits::default()
        }
    );
    assert_eq!(flow("-a ::1").limits.duration, Some(Span::from_ms(10_000)));
}

#[test]
fn differences_from_the_original_are_told() {
    assert!(flow("-W 2 5").remarks[0].contains("2 is the shape and 5 the scale"));
    assert!(flow("-U 500 1500").remarks[0].contains("750.000 packets/s"));
    assert!(flow("-C 80000").remarks[0].contains("12.500 µs"));
    assert!(flow("-c 4").remarks[0].contains("16 bytes"));
    assert_eq!(flow("-C 1000 -c 512").remarks, Vec::<String>::new());
}

#[test]
fn messages_name_the_word_and_the_remedy() {
    assert_eq!(
        error("-C"),
        "`-C` requires packets per second, above 0, but the line ends there; write e.g. `-C 1000`"
    );
    assert_eq!(
        error("-C abc"),
        "`abc` after `-C` is not valid: it requires packets per second, above 0; write e.g. `-C \
         1000`"
    );
    for line in [
        "-C 0",
        "-C nan",
        "-C -5",
        "-b 256",
        "-b 0x+1",
        "-s 1.5",
        "-rp 70000",
        "-U 5 1",
        "-T IP",
        "-a a;b",
        "-V 0 1",
    ] {
        assert!(error(line).contains("is not valid"), "{line}");
    }
    assert!(error("-c 100 VoIP").contains("exclude each other"));
    assert!(error("DNS -t 5").contains("must come last"));
    assert!(error("-m rttm -p 1").contains("-m rttm"));
    assert!(error("-foo").contains("is not an option"));
    assert_eq!(
        script("-C 5\n-C x")
            .expect_err("x")
            .to_string()
            .split_once(": ")
            .expect("a line")
            .0,
        "line 2"
    );
    assert!(
        script("-l a.log")
            .expect_err("a log")
            .to_string()
            .contains("no place in a script")
    );
}

#[test]
fn a_script_is_one_flow_a_line() {
    let flows = script("# ours\n-a 10.0.0.3 -rp 10001 -C 1000 -c 512 -T UDP\n\n-rp 10002 DNS\n")
        .expect("a script");
    assert_eq!(
        flows.iter().map(|flow| flow.port).collect::<Vec<_>>(),
        [10001, 10002]
    );
    let words = ["script_file", "-l", "send.log", "-L", "10.0.0.4", "UDP"];
    let Ok(Invocation::Script { path, logs }) = invocation(&words) else {
        panic!("a script")
    };
    assert_eq!(
        (path.as_str(), logs.sender.as_deref()),
        ("script_file", Some("send.log"))
    );
    assert_eq!(
        invocation(&["-Q"]),
        Ok(Invocation::Daemon {
            logs: Logs::default()
        })
    );
}

proptest! {
    #[test]
    fn no_words_make_it_panic(
        words in proptest::collection::vec(
            prop_oneof![
                (0..FLAGS.len()).prop_map(|at| FLAGS[at].word.to_owned()),
                (0..APPLICATIONS.len()).prop_map(|at| APPLICATIONS[at].0.to_owned()),
                "-?[0-9.e]{1,6}",
                "\\PC{0,6}",
            ],
            0..12,
        ),
    ) {
        let _ = invocation(&words);
        let _ = script(&words.join(" "));
        let _ = serve(&words);
    }
}
