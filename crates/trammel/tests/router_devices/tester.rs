//! The generator and the counter of `examples/router` on both sides of a device.

use crate::rig::{Net, Router, TRAMMEL, said};
use std::io::Read;
use std::process::Command;

fn example(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/router");
    format!("{folder}/{name}.click")
}

/// The number before `word`.
fn number(text: &str, word: &str) -> u64 {
    let before = text.split(&format!(" {word}")).next().unwrap_or_default();
    let digits = before.rsplit(' ').next().unwrap_or_default();
    digits.parse().unwrap_or_else(|_| panic!("{text}"))
}

#[test]
fn what_the_generator_sends_the_counter_counts() {
    let Some(net) = Net::new() else { return };
    let bridge =
        "FromDevice(in, PROMISC true) -> Queue(4000) -> ToDevice(out); FromDevice(out) -> Discard;";
    let Some(_device) = Router::run(&net.middle, bridge) else {
        return;
    };
    let counter = std::fs::read_to_string(example("packet-counter")).unwrap();
    let Some(mut counter) = Router::with(&net.right, &counter, &["DEVICE=b", "SECONDS=6"]) else {
        return;
    };
    let generator = net.left.run(|| {
        Command::new(TRAMMEL)
            .args(["router", &example("packet-generator")])
            .args(["DEVICE=a", "SECONDS=1", "RATE=2000", "LENGTH=124"])
            .output()
            .unwrap()
    });
    let sent = said(&generator);
    let mut received = String::new();
    counter.output.read_to_string(&mut received).unwrap();
    let frames = number(&sent, "frames");
    // A second, and what a machine that does other work takes to see that it is over.
    assert!((1_900..4_000).contains(&frames), "{sent}");
    assert_eq!(number(&sent, "bytes"), 124 * frames);
    assert_eq!(number(&received, "frames"), frames, "{sent}{received}");
}
