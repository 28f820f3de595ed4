//! Whatever is read of D-ITG's: command lines, scripts, logs and messages. Nothing may panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use trammel_traffic::itg::command::Metadata;
use trammel_traffic::itg::line::Days;
use trammel_traffic::itg::signalling::{Head, Message, Side};
use trammel_traffic::itg::summary::Summary;
use trammel_traffic::itg::{arguments, binary_log, text_log};
use trammel_traffic::record::Protocol;

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, bytes)) = bytes.split_first() else {
        return;
    };
    match kind % 4 {
        0 => {
            let text = String::from_utf8_lossy(bytes);
            let _ = arguments::script(&text);
            let words: Vec<&str> = text.split_whitespace().collect();
            let _ = arguments::invocation(&words);
        }
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
        _ => {
            for side in [Side::Sender, Side::Receiver] {
                let mut rest = bytes;
                while let Ok(Some((message, used))) = Message::decode(rest, side) {
                    let mut out = Vec::new();
                    message.encode(&mut out);
                    assert_eq!(out.len(), used);
                    rest = &rest[used..];
                }
            }
            let _ = Head::decode(bytes, Metadata::Full, Protocol::Tcp);
        }
    }
});
