//! Whatever is read of D-ITG's: command lines, scripts, logs, messages and packets. What a flow
//! asks for can be planned; what was read of a message is written as it was; nothing panics.

use trammel_traffic::itg::command::{Metadata, Values};
use trammel_traffic::itg::flow;
use trammel_traffic::itg::framing::Framing;
use trammel_traffic::itg::line::Days;
use trammel_traffic::itg::session::{Received, Receiver, Sender, Sent};
use trammel_traffic::itg::signalling::{Head, LogName, Message, Open, Side};
use trammel_traffic::itg::summary::Summary;
use trammel_traffic::itg::{arguments, binary_log, log_protocol, orders, text_log};
use trammel_traffic::record::Protocol;
use trammel_traffic::stream::Meter;

/// Departures of a plan that are looked at.
const DEPARTURES: usize = 50;

pub(crate) fn run(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    match kind % 6 {
        0 => words(&String::from_utf8_lossy(bytes)),
        1 => {
            let lines: Vec<_> = binary_log::read_all(bytes).map_while(Result::ok).collect();
            let mut days = Days::new(0);
            for line in &lines {
                let _ = days.record(line);
            }
            let _ = Summary::of(&lines, 0).text();
        }
        2 => {
            for (text, number) in String::from_utf8_lossy(bytes).lines().zip(1..) {
                let _ = text_log::read(text, number);
            }
        }
        3 => messages(bytes),
        4 => packets(bytes),
        _ => to_servers(bytes),
    }
}

fn words(text: &str) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let _ = arguments::invocation(&words);
    let _ = arguments::serve(&words);
    for command in arguments::script(text).unwrap_or_default().iter().take(4) {
        // A fuzzer that chooses what is opened soon opens what never ends.
        let reads = [&command.gap, &command.size];
        if reads
            .iter()
            .any(|values| matches!(values, Values::File { .. }))
        {
            continue;
        }
        if let Ok(stream) = flow::stream(command, 1) {
            let (least, most) = flow::bounds(command);
            let is_drawn = command.application.is_none();
            for one in stream.plan().take(DEPARTURES) {
                assert!(!is_drawn || (least..=most).contains(&one.bytes));
            }
        }
    }
}

fn messages(bytes: &[u8]) {
    for side in [Side::Sender, Side::PassiveSender, Side::Receiver] {
        let mut rest = bytes;
        while let Ok(Some((message, used))) = Message::decode(rest, side) {
            let mut out = Vec::new();
            message.encode(&mut out);
            assert_eq!(out.len(), used);
            rest = &rest[used..];
        }
    }
    let _ = Head::decode(bytes, Metadata::Full, Protocol::Tcp);
    let open = |flow| Open {
        flow,
        protocol: Protocol::Udp,
        application: 0,
        meter: Meter::OneWay,
        ds: 0,
        metadata: Metadata::Full,
        serial: None,
        back: None,
        port: 10_001,
        address: [127, 0, 0, 1].into(),
    };
    let mut sender = Sender::new([open(1), open(2)], LogName::new(b"a.log"));
    let receivers = [Receiver::new(), Receiver::passive()];
    let mut receiver = receivers[bytes.len() % 2].clone();
    // However they are cut: one byte more each time than the time before.
    let (mut left, mut cut) = (bytes, 1);
    while !left.is_empty() {
        let (part, rest) = left.split_at(cut.min(left.len()));
        (left, cut) = (rest, cut + 1);
        for told in sender.receive(part).unwrap_or_default() {
            if let Sent::Start { flow, .. } = told {
                sender.finish(flow);
            }
        }
        for told in receiver.receive(part).unwrap_or_default() {
            match told {
                Received::Open(open) => receiver.opened(open.flow, open.port),
                Received::End { flow } => receiver.ended(flow),
                _ => {}
            }
        }
    }
}

/// What a log server and a sender that waits for orders read.
fn to_servers(bytes: &[u8]) {
    if let Some(record) = bytes.first_chunk()
        && let Ok(line) = log_protocol::read(record, 1)
    {
        let mut out = Vec::new();
        log_protocol::write(&line, &mut out);
        let again: &[u8; log_protocol::RECORD] = out.first_chunk().expect("one was written");
        assert_eq!(log_protocol::read(again, 1), Ok(line));
    }
    if let Some(asked) = bytes.first_chunk()
        && let Ok(request) = log_protocol::Request::decode(asked)
    {
        if let Ok(file) = request.name.file_name() {
            assert!(!file.contains('/') && !file.starts_with('.'), "{file}");
        }
        assert_eq!(
            log_protocol::Request::decode(&request.encode()),
            Ok(request)
        );
    }
    if let Some(text) = orders::order(bytes) {
        let answer = orders::Answer::Begins.to(text);
        assert!(answer.len() <= 8 + orders::MOST_ANSWER);
    }
}

fn packets(bytes: &[u8]) {
    let kinds = |flow| match flow {
        1 => Some(Metadata::Full),
        2 => Some(Metadata::Sequence),
        _ => None,
    };
    let whole = found(bytes, bytes.len().max(1), &kinds);
    assert_eq!(
        whole,
        found(bytes, 7, &kinds),
        "messages depend on how they are cut"
    );
}

fn found(bytes: &[u8], cut: usize, kinds: &dyn Fn(u32) -> Option<Metadata>) -> Vec<Head> {
    let (mut framing, mut heads) = (Framing::default(), Vec::new());
    for mut part in bytes.chunks(cut) {
        while let Some(head) = framing.next(&mut part, kinds) {
            heads.push(head);
        }
    }
    heads
}
