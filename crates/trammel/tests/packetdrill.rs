//! The table of `trammel packetdrill`: what passed, what is out of scope, what is missed.

use std::fs;
use std::process::{Command, Output};

const BEGIN: &str = "
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 65535 <mss 1000>
   +0 > S. 0:0(0) ack 1 <mss 1460>
 +.01 < . 1:1(0) ack 1 win 65535
   +0 accept(3, ..., ...) = 4
";

fn lab() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("good.pkt", &format!("--mss=1000\n{BEGIN}"));
    write(
        "other.pkt",
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n\
         +0 setsockopt(3, SOL_TCP, TCP_FASTOPEN, [1], 4) = 0\n",
    );
    write(
        "lacks.pkt",
        &format!("{BEGIN}+0 setsockopt(4, SOL_TCP, TCP_NOTSENT_LOWAT, [100], 4) = 0\n"),
    );
    // Linux answers an ACK of what was never sent since 7.1.
    write(
        "future.pkt",
        &format!("{BEGIN}+0 < . 1:1(0) ack 2 win 65535\n+0 > . 1:1(0) ack 1\n"),
    );
    write(
        "kernel.txt",
        "pass /x/good.pkt\nFAIL /x/future.pkt: why\npass nothing\n",
    );
    write("empty.txt", "nothing\n");
    folder
}

fn run(folder: &tempfile::TempDir, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trammel"))
        .arg("packetdrill")
        .args(args)
        .current_dir(folder.path())
        .env("NO_COLOR", "1")
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn a_table_tells_what_passed_what_is_out_of_scope_and_what_is_missed() {
    let folder = lab();
    let output = run(&folder, &["--table", "--beside", "kernel.txt", "."]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stdout),
        "script  here          kernel  why\n\
         future  missed        FAIL    line 10: expected . 1:1(0) ack 1 between 0.006000 and \
         0.014000 s, got nothing\n\
         good    pass          pass\n\
         lacks   missed        -       line 9: not modelled: the socket option \
         `TCP_NOTSENT_LOWAT`\n\
         other   inapplicable  -       line 2: fast open\n\
         4 scripts: 1 pass, 1 inapplicable, 2 missed, 33.3 % of the applicable pass; in the kernel \
         1 of 2 pass\n"
    );
    let later = run(&folder, &["--json", "--linux", "7.1", "."]);
    assert_eq!(later.status.code(), Some(0), "{}", text(&later.stderr));
    let json: serde_json::Value = serde_json::from_slice(&later.stdout).unwrap();
    assert_eq!(json["passed"], 2);
    assert_eq!(
        (&json["inapplicable"], &json["missed"]),
        (&1.into(), &1.into())
    );
    assert_eq!(json["scripts"][3]["why"], "fast open");
    assert_eq!(json["scripts"][3]["outcome"], "inapplicable");
    assert!(json["scripts"][0]["passes_in_kernel"].is_null());
}

#[test]
fn a_list_of_the_kernel_that_is_none_is_told() {
    let folder = lab();
    for (list, why) in [
        ("empty.txt", "`empty.txt` has no line like `pass FILE.pkt`"),
        ("none.txt", "`none.txt` cannot be read"),
    ] {
        let output = run(&folder, &["--table", "--beside", list, "good.pkt"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(why),
            "{}",
            text(&output.stderr)
        );
    }
    let output = run(&folder, &["--linux", "5.0", "good.pkt"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        text(&output.stderr).contains("6.12, 7.1"),
        "{}",
        text(&output.stderr)
    );
}
