//! A connection, its requests and their replies, in memory.

use crate::load::testing::{Run, errors, load_with, loaded};
use crate::memory::{LISTENER, MemoryHost, Wire};

/// What the router answers to `text` on connection 0, which is made where it is not.
fn ask(run: &mut Run, text: &str) -> String {
    let id = run.ctx.find("cs", None).expect("it exists");
    {
        let mut memory = run.host.memory();
        if memory.wires.is_empty() {
            memory.wires.push(Wire::default());
        }
        memory.wires[0].to_router.extend(text.bytes());
        memory.wires[0].from_router.clear();
    }
    for descriptor in [LISTENER, LISTENER + 1] {
        run.ctx.with(id, |one, ctx| one.ready(ctx, descriptor));
    }
    let memory = run.host.memory();
    String::from_utf8_lossy(&memory.wires[0].from_router).into_owned()
}

const GRAPH: &str = "Idle -> s :: Switch(0) -> Idle; s [1] -> Idle; p :: Script(TYPE PASSIVE); ";

#[test]
fn handlers_are_read_written_and_checked() {
    let mut run = loaded(&format!("{GRAPH} cs :: ControlSocket(tcp, 7777)"));
    assert_eq!(
        ask(
            &mut run,
            "read s.switch\r\nwrite s.switch 1\r\nREAD s.switch\r\n"
        ),
        "Click::ControlSocket/1.3\r\n200 Read handler 's.switch' OK\r\nDATA 1\r\n0\
         200 Write handler 's.switch' OK\r\n200 Read handler 's.switch' OK\r\nDATA 1\r\n1"
    );
    for (request, reply) in [
        ("read x.y", "510 No element named 'x'"),
        ("read s.y", "511 No handler named 's.y'"),
        ("write s.name q", "530 Handler 's.name' read-only"),
        ("read stop", "530 Handler 'stop' write-only"),
        (
            "readdata s.switch 1\nx",
            "590-Read handler 's.switch' error:\r\n590 read handler 's.switch' does not take \
             parameters",
        ),
        ("read p.cat /etc/passwd", "511 No handler named 'p.cat'"),
        ("checkread s.switch", "200 Read handler 's.switch' OK"),
        ("checkwrite s.name", "511 Handler 's.name' not writable"),
        (
            "llrpc s#4004C005",
            "200 LLRPC 's#4004C005' OK\r\nDATA 4\r\n\u{1}\0\0\0",
        ),
        (
            "read 2.class",
            "200 Read handler '2.class' OK\r\nDATA 6\r\nSwitch",
        ),
        (
            "read cs.port",
            "200 Read handler 'cs.port' OK\r\nDATA 4\r\n7777",
        ),
        (
            "write s.switch a",
            "520-Write handler 's.switch' error:\r\n520 Switch output must be integer",
        ),
    ] {
        let got = ask(&mut run, &format!("{request}\n"));
        assert_eq!(got.trim_end(), reply);
    }
}

#[test]
fn nothing_is_written_where_only_reading_is_allowed() {
    let mut run = loaded(&format!(
        "{GRAPH} cs :: ControlSocket(tcp, 7777, READONLY true)"
    ));
    let got = ask(&mut run, "write s.switch 1\ncheckwrite s.switch\n");
    assert_eq!(
        got.matches("530 Permission denied for 's.switch'").count(),
        2,
        "{got}"
    );
    assert_eq!(run.read("s.switch"), "0");
}

#[test]
fn a_web_page_commands_nothing() {
    let mut run = loaded(&format!("{GRAPH} cs :: ControlSocket(tcp, 7777)"));
    let page = "POST / HTTP/1.1\r\nHost: localhost:7777\r\nContent-Type: text/plain\r\n\r\n\
                write s.switch 1\r\nwrite stop\r\n";
    let got = ask(&mut run, page);
    assert_eq!(
        got,
        "Click::ControlSocket/1.3\r\n400 this is no web server\r\n"
    );
    assert_eq!(run.read("s.switch"), "0");
    assert_eq!(ask(&mut run, "read s.switch\n"), "", "it is closed");
}

#[test]
fn silent_connections_keep_nobody_out() {
    let mut run = loaded(&format!("{GRAPH} cs :: ControlSocket(tcp, 7777)"));
    let id = run.ctx.find("cs", None).expect("it exists");
    let wires = super::connection::MOST + 1;
    run.host
        .memory()
        .wires
        .extend((1..wires).map(|_| Wire::default()));
    run.ctx.with(id, |one, ctx| one.ready(ctx, LISTENER));
    run.run(2.0);
    run.host.memory().wires.push(Wire::default());
    run.ctx.with(id, |one, ctx| one.ready(ctx, LISTENER));
    let last = LISTENER + wires as i32;
    run.host.memory().wires[wires - 1]
        .to_router
        .extend(b"read s.switch\n");
    run.ctx.with(id, |one, ctx| one.ready(ctx, last));
    let got = String::from_utf8_lossy(&run.host.memory().wires[wires - 1].from_router).into_owned();
    assert!(got.ends_with("DATA 1\r\n0"), "{got}");
}

#[test]
fn with_a_key_nothing_is_done_before_it_is_proven() {
    let host = MemoryHost::new();
    host.memory()
        .files
        .insert("/key".to_owned(), b"sesame".to_vec());
    let config = format!("{GRAPH} cs :: ControlSocket(tcp, 7777, KEY /key)");
    let mut run = load_with(&host, &config).unwrap_or_else(|e| panic!("{e}"));
    let denied = "530 Permission denied: prove the key with AUTH first\r\n";
    assert!(ask(&mut run, "write s.switch 1\n").ends_with(denied));
    assert_eq!(ask(&mut run, "read s.switch\n"), denied);
    assert_eq!(ask(&mut run, "auth\n"), "200 once\r\n");
    assert_eq!(ask(&mut run, "auth once+sesame\n"), "200 Key proven\r\n");
    assert!(ask(&mut run, "write s.switch 1\n").starts_with("200"));
    assert_eq!(run.read("s.switch"), "1");
    let mut run =
        load_with(&host, &config.replace("7777", "7778")).unwrap_or_else(|e| panic!("{e}"));
    host.memory().wires.clear();
    host.memory().accepted = 0;
    ask(&mut run, "auth\n");
    assert!(ask(&mut run, "auth once+guess\nwrite s.switch 1\n").starts_with("530"));
    assert_eq!(run.read("s.switch"), "0");
}

#[test]
fn a_port_with_a_plus_is_the_first_free_one_and_the_address_is_local() {
    let host = MemoryHost::new();
    host.memory().listening.push("127.0.0.1:7777".into());
    let mut run =
        load_with(&host, "cs :: ControlSocket(tcp, 7777+)").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(run.read("cs.port"), "7778");
    assert!(load_with(&host, "ControlSocket(tcp, 7777)").is_err());
    assert!(errors("ControlSocket(tcp, x)").contains("PORT requires TCP port"));
    assert!(errors("ControlSocket(foo, 1)").contains("unknown socket type 'FOO'"));
}

#[test]
fn a_connection_goes_on_in_the_next_configuration() {
    let mut run = loaded(&format!("{GRAPH} cs :: ControlSocket(tcp, 7777)"));
    run.ctx.allow_reconfiguration();
    let next = "Idle -> s :: Switch(1) -> Idle; s [1] -> Idle; cs :: ControlSocket(tcp, 7777)";
    let got = ask(
        &mut run,
        &format!("write hotconfig {next}\nread s.switch\n"),
    );
    assert!(
        got.ends_with("200 Write handler 'hotconfig' OK\r\n"),
        "{got}"
    );
    assert_eq!(run.run(0.1), crate::engine::driver::Progress::Replaced);
    run.ctx.change_over();
    run.run(0.1);
    let got = String::from_utf8_lossy(&run.host.memory().wires[0].from_router).into_owned();
    assert!(got.ends_with("DATA 1\r\n1"), "{got}");
    assert_eq!(run.host.memory().listening.len(), 1);
    let got = ask(&mut run, "write hotconfig Print\n");
    assert!(
        got.starts_with("520-Write handler 'hotconfig' error:\r\n520-config:1: 'Print@1"),
        "{got}"
    );
    assert!(
        got.ends_with("520 Router could not be initialized!\r\n"),
        "{got}"
    );
}
