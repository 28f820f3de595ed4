//! What the original does not take is not taken here either: a script that passes here is one that
//! can be put to a kernel.

use trammel_packetdrill::{ScriptOutcome, run};

/// A server with a connection.
const BEGIN: &str = "
    0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
   +0 bind(3, ..., ...) = 0
   +0 listen(3, 1) = 0
   +0 < S 0:0(0) win 65535 <mss 1000>
   +0 > S. 0:0(0) ack 1 <mss 1460>
 +.01 < . 1:1(0) ack 1 win 65535
   +0 accept(3, ..., ...) = 4
";

fn outcome(text: &str) -> ScriptOutcome {
    run(text, &|_| None).expect("it is in the language").outcome
}

#[test]
fn fields_are_those_of_an_open_descriptor() {
    let reads = "+0 %{ assert tcpi_snd_cwnd == 10 }%\n";
    assert_eq!(outcome(&format!("{BEGIN}{reads}")), ScriptOutcome::Passed);
    let closed = format!("{BEGIN}+0 close(4) = 0\n{reads}");
    assert!(matches!(outcome(&closed), ScriptOutcome::Failed(_)));
}

#[test]
fn what_arrives_is_for_the_port_that_is_bound() {
    let unbound = BEGIN.replace("   +0 bind(3, ..., ...) = 0\n", "");
    let ScriptOutcome::Skipped { what, .. } = outcome(&unbound) else {
        panic!("{:?}", outcome(&unbound));
    };
    assert_eq!(what, "`listen` without `bind`");
}

#[test]
fn data_for_a_connection_that_nobody_reads_resets_it() {
    let shut = format!("{BEGIN}+0 shutdown(4, SHUT_RDWR) = 0\n+0 > F. 1:1(0) ack 1\n");
    assert_eq!(outcome(&shut), ScriptOutcome::Passed);
    let data = format!("{shut}+0 < . 1:401(400) ack 2 win 65535\n");
    let reset = format!("{data}+0 > R 2:2(0)\n");
    assert_eq!(outcome(&reset), ScriptOutcome::Passed);
    let silent = format!("{data}+0 > . 2:2(0) ack 401\n");
    assert!(matches!(outcome(&silent), ScriptOutcome::Failed(_)));
}

#[test]
fn an_error_has_its_words() {
    let bare = format!("{BEGIN}+0 read(4, NULL, 1) = -1 EFAULT\n");
    let error = run(&bare, &|_| None).expect_err("the brackets are missing");
    assert!(error.to_string().contains("in brackets"), "{error}");
}
