//! No text makes the runner panic: scripts with holes, foreign pieces and odd numbers in them are
//! run, skipped or refused.

use proptest::prelude::*;
use std::path::Path;
use trammel_packetdrill::run;

/// Pieces that mean something somewhere.
const PIECES: &[&str] = &[
    " ",
    "\n",
    "+1 ",
    "+.5~+9 ",
    "*",
    "0...86400 ",
    "< F",
    "> ",
    "S",
    ".",
    "R",
    "win 0",
    "win 65535",
    "ack 0",
    "ack 4294967295",
    "1:2147483648(2147483647)",
    "0:0(0)",
    "<mss 1>",
    "<mss 65535,wscale 255>",
    "sack 5:1",
    "TS val 0 ecr 4294967295",
    "[ce]",
    "%{",
    "}%",
    "assert ",
    "x = 9223372036854775807;",
    "`sysctl -q ",
    "net.ipv4.tcp_rmem=\"4096 4096 4096\"",
    "tcp_reordering=0",
    "4294967295",
    "-1",
    "read(4, ..., 0) = 0",
    "close(4) = 0",
    "shutdown(4, SHUT_RDWR) = 0",
    "write(4, ..., 200000) = 200000",
    "[0]",
    "{...}",
    "é",
];

fn scripts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts");
    let folders = std::fs::read_dir(root).expect("the folder is part of the crate");
    let mut texts: Vec<String> = folders
        .flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap())
        .map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    texts.sort();
    texts
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000, failure_persistence: None, ..ProptestConfig::default()
    })]
    #[test]
    fn a_mangled_script_never_panics(
        which in any::<prop::sample::Index>(),
        cuts in prop::collection::vec(
            (any::<prop::sample::Index>(), 0_usize..12, 0..PIECES.len()), 1..6
        ),
    ) {
        let texts = scripts();
        let mut text: Vec<char> = texts[which.index(texts.len())].chars().collect();
        for (at, length, piece) in cuts {
            let from = at.index(text.len());
            let to = (from + length).min(text.len());
            text.splice(from..to, PIECES[piece].chars());
        }
        let text: String = text.into_iter().collect();
        let _ = run(&text, &|_| None);
    }
}
