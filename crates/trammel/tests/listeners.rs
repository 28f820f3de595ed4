//! Listeners among strangers: many silent connections, a system without threads or descriptors,
//! ports in turn, and web pages.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

mod listening;

use listening::listening;
use serde_json::Value;
use std::io::{BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};
use trammel_io::held::Held;

/// As long as anything may take on a busy machine.
const LONG: Duration = Duration::from_secs(60);

/// Everything that serves whoever comes.
const LISTENERS: [&[&str]; 5] = [
    &["recv", "--port", "0"],
    &["recv", "--itg", "--port", "0"],
    &["log", "--listen", "127.0.0.1:0", "logs/"],
    &["log", "--itg", "--listen", "127.0.0.1:0", "logs/"],
    &["send", "--daemon", "--listen", "127.0.0.1:0"],
];

/// A program that runs until it is told to end, and the address that it said first.
struct Running {
    child: Child,
    address: SocketAddr,
    said: BufReader<ChildStderr>,
}

impl Running {
    /// Starts `trammel` with `words` by the command `by`, of which it is the last words.
    fn by(by: &[&str], folder: &Path, words: &[&str]) -> Running {
        let program = env!("CARGO_BIN_EXE_trammel");
        let mut command = match by {
            [] => Command::new(program),
            [first, more @ ..] => {
                let mut command = Command::new(first);
                command.args(more).arg(program);
                command
            }
        };
        command.current_dir(folder).args(words);
        let (child, address, said) = listening(command.stdout(Stdio::piped()));
        Running {
            child,
            address,
            said,
        }
    }

    fn start(folder: &Path, words: &[&str]) -> Running {
        Running::by(&[], folder, words)
    }

    fn connect(&self) -> TcpStream {
        connect(self.address)
    }

    /// Threads that it has now.
    fn threads(&self) -> usize {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.child.id()));
        tasks.expect("it runs").count()
    }

    /// Descriptors that it has open now.
    fn descriptors(&self) -> usize {
        self.descriptors_below(usize::MAX)
    }

    /// Those of them with a number below `limit`: one that it was given may have any number.
    fn descriptors_below(&self, limit: usize) -> usize {
        let open = std::fs::read_dir(format!("/proc/{}/fd", self.child.id()));
        let names = open.expect("it runs").filter_map(Result::ok);
        let numbers = names.filter_map(|one| one.file_name().to_str()?.parse::<usize>().ok());
        numbers.filter(|number| *number < limit).count()
    }

    /// Processor time that it has had.
    fn cpu(&self) -> Duration {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let text = text.expect("it runs");
        let (_, fields) = text.rsplit_once(") ").expect("the fields of proc(5)");
        let fields: Vec<u64> = fields
            .split(' ')
            .skip(11)
            .take(2)
            .map(|field| field.parse().expect("the text is a number"))
            .collect();
        // Linux tells hundredths of a second here on every machine (proc(5), sysconf(_SC_CLK_TCK)).
        Duration::from_millis(10 * (fields[0] + fields[1]))
    }

    /// Processor time that it has in a second, and how long that was.
    fn spends(&self) -> (Duration, Duration) {
        let (before, started) = (self.cpu(), Instant::now());
        std::thread::sleep(Duration::from_secs(1));
        (self.cpu().saturating_sub(before), started.elapsed())
    }

    /// Ends it; gives its exit code and what it said.
    fn interrupt(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        let done = Command::new("kill").args(["-INT", &id]).status();
        assert!(done.expect("it is there").success());
        let mut said = String::new();
        self.said
            .read_to_string(&mut said)
            .expect("the other end writes text");
        let status = self
            .child
            .wait()
            .expect("the child process can be waited for");
        (status.code(), said)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect_timeout(&address, LONG).expect("the other end listens");
    stream
        .set_read_timeout(Some(LONG))
        .expect("the time-out is above 0");
    stream
}

fn send(folder: &Path, to: &Running, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let base = ["send", &to.address.to_string(), "--rate", "1000"];
    command.current_dir(folder).args(base).args(words);
    command.output().expect("the program can be started")
}

/// Sends a few packets to a receiver, all of which arrive.
fn serves(folder: &Path, receiver: &Running, words: &[&str]) {
    let words = [&["--packets", "20", "--json"][..], words].concat();
    let out = send(folder, receiver, &words);
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    let all: Value = serde_json::from_slice(&out.stdout).expect("the text is JSON");
    let row = &all["tables"]["streams"][0];
    assert_eq!(row["received_pkts"], 20, "{said}");
}

/// Waits until `is` or for a long time.
fn wait_until(what: &str, is: impl Fn() -> bool) {
    let started = Instant::now();
    while !is() {
        assert!(started.elapsed() < LONG, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn write_key(folder: &Path) {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join("key");
    std::fs::write(&path, "this is the right key").expect("the file can be written");
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&path, mode).expect("the file belongs to this user");
}

/// So many connections that say nothing, or as many as this process may have.
fn silent(address: SocketAddr, most: usize) -> Vec<TcpStream> {
    // A user without the right to more has as many as there are.
    let _ = trammel_io::machine::allow_files(20_000);
    (0..most)
        .map_while(|_| TcpStream::connect_timeout(&address, LONG).ok())
        .collect()
}

#[test]
fn five_thousand_silent_connections_keep_nobody_away_and_cost_no_threads() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    write_key(here);
    for words in [
        &["recv", "--port", "0"][..],
        &["recv", "--port", "0", "--key", "key"],
    ] {
        let receiver = Running::start(here, words);
        let strangers = silent(receiver.address, 5000);
        println!("{words:?}: {} silent connections", strangers.len());
        let key = ["--key", "key"];
        let key = if words.contains(&"--key") {
            &key[..]
        } else {
            &[]
        };
        serves(here, &receiver, key);
        serves(here, &receiver, &[key, &["-T", "tcp"]].concat());
        // A session and its port may still be ending.
        wait_until("threads of strangers", || receiver.threads() < 10);
        let open = receiver.descriptors();
        assert!(open < 400, "{open} descriptors");
        drop(strangers);
        let (code, said) = receiver.interrupt();
        assert!(code == Some(0) && !said.contains("panicked"), "{said}");
    }
}

#[test]
fn strangers_hold_nothing_on_the_data_port_of_a_flow() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    write_key(here);
    let receiver = Running::start(here, &["recv", "--port", "0", "--key", "key"]);
    let held = Held::at(Ipv4Addr::LOCALHOST.into()).expect("loopback has a free port");
    let data = held.address();
    let port = data.port().to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    let base = ["send", &receiver.address.to_string(), "--key", "key"];
    let flow = [
        "-T",
        "tcp",
        "--rate",
        "200",
        "--duration",
        "4s",
        "--port",
        &port,
    ];
    command
        .current_dir(here)
        .args(base)
        .args(flow)
        .arg("--json");
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let sender = command.spawn().expect("the program can be started");
    wait_until("the port", || TcpStream::connect(data).is_ok());
    let before = receiver.threads();
    // Some say nothing, some a part of a stamp, some one of no flow, and one speaks HTTP.
    let strangers = silent(data, 400);
    for (stranger, bytes) in strangers
        .iter()
        .zip([&[0_u8; 7][..], &[0x77; 64]].iter().cycle())
    {
        // It may have been closed already.
        let _ = (&mut &*stranger).write_all(bytes);
    }
    let mut page = connect(data);
    let _ = page.write_all(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nabcd");
    let mut answer = Vec::new();
    let _ = page.read_to_end(&mut answer);
    assert!(answer.is_empty(), "it answers: {answer:?}");
    wait_until("threads of strangers", || receiver.threads() <= before + 1);
    let out = sender
        .wait_with_output()
        .expect("the child process can be waited for");
    let said = String::from_utf8_lossy(&out.stderr);
    assert_eq!(out.status.code(), Some(0), "{said}");
    let all: Value = serde_json::from_slice(&out.stdout).expect("the text is JSON");
    assert_eq!(all["tables"]["streams"][0]["lost_pkts"], 0, "{said}");
    drop(strangers);
}

/// Whether this is root, and can be somebody else.
fn is_somebody_else_possible() -> bool {
    let became = Command::new("setpriv")
        .args(["--reuid", "54371", "--clear-groups", "true"])
        .status();
    let is = became.is_ok_and(|status| status.success());
    if !is {
        println!("skipped: nobody else can be become here (root and setpriv are needed)");
    }
    is
}

#[test]
fn a_receiver_without_threads_refuses_and_goes_on() {
    if !is_somebody_else_possible() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    // Its limit counts threads of its user: one that nobody else has.
    let by = [
        "prlimit",
        "--nproc=12",
        "setpriv",
        "--reuid",
        "54371",
        "--clear-groups",
    ];
    let program = Command::new(by[2])
        .args(&by[3..])
        .args([env!("CARGO_BIN_EXE_trammel"), "--version"])
        .output();
    if !program.is_ok_and(|out| out.status.success()) {
        println!("skipped: another user may not run the program where it was built");
        return;
    }
    // Its output goes nowhere that it would have to make.
    let receiver = Running::by(&by, Path::new("/"), &["recv", "--port", "0"]);
    // Whole greetings: each wants a thread.
    let mut hello = vec![0, 0, 0, 19, 1, 0, 2];
    hello.extend([7; 16]);
    let strangers: Vec<_> = (0..40)
        .map(|_| {
            let mut stream = connect(receiver.address);
            stream.write_all(&hello).expect("the other end reads");
            stream
        })
        .collect();
    let mut refused = 0;
    for mut stranger in &strangers {
        let mut came = [0; 5];
        stranger.read_exact(&mut came).expect("it is answered");
        refused += usize::from(came[4] == 5);
    }
    assert!(refused > 20 && refused < 40, "{refused} of 40 are refused");
    drop(strangers);
    wait_until("strangers have left", || receiver.threads() < 6);
    serves(here, &receiver, &[]);
    let (_, said) = receiver.interrupt();
    assert!(!said.contains("panicked"), "{said}");
}

#[test]
fn listeners_without_descriptors_rest_and_serve_again() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let by = ["prlimit", "--nofile=40"];
    if Command::new(by[0]).arg("--version").output().is_err() {
        println!("skipped: there is no prlimit");
        return;
    }
    let waiting = &["send", "--wait", "--listen", "127.0.0.1:0", "--rate", "5"][..];
    for words in LISTENERS.into_iter().chain([waiting]) {
        let server = Running::by(&by, here, words);
        // More than it has descriptors, and fewer than may wait.
        let strangers = silent(server.address, 100);
        assert!(strangers.len() >= 60, "{}", strangers.len());
        // So many wait that it has no descriptors all the time.
        let (spent, passed) = server.spends();
        assert!(spent < passed / 4, "{words:?}: {spent:?} of {passed:?}");
        drop(strangers);
        match words[0] {
            "recv" if !words.contains(&"--itg") => serves(here, &server, &[]),
            "recv" => {
                let mut stream = server.connect();
                // ITGSend's greeting, and the answer to it.
                stream.write_all(&[1]).expect("the other end reads");
                let mut answer = [0];
                stream.read_exact(&mut answer).expect("it serves");
                assert_eq!(answer, [2]);
            }
            "log" if words.contains(&"--itg") => {
                let mut greeting = [0];
                let mut stream = server.connect();
                stream.read_exact(&mut greeting).expect("it serves");
            }
            _ => {
                // A greeting; of the sender that waits it is that of a receiver.
                let mut hello = vec![0, 0, 0, 19, 1, 0, 2];
                hello.extend([7; 16]);
                if words.contains(&"--wait") {
                    hello = vec![0, 0, 0, 1, 18];
                }
                let mut stream = server.connect();
                stream.write_all(&hello).expect("the other end reads");
                let mut answer = [0; 5];
                stream.read_exact(&mut answer).expect("it serves");
                assert_eq!(answer[4], 1, "{words:?}");
            }
        }
    }
}

#[test]
fn sockets_of_a_router_without_descriptors_do_not_spin() {
    // Fewer than either of them lets in, on a machine that gives it no more than the three of every
    // program.
    const MOST: usize = 24;
    let by = ["prlimit", &format!("--nofile={MOST}")];
    if Command::new(by[0]).arg("--version").output().is_err() {
        println!("skipped: there is no prlimit");
        return;
    }
    for element in ["ChatterSocket", "ControlSocket"] {
        let held = Held::at(Ipv4Addr::LOCALHOST.into()).expect("loopback has a free port");
        let address = held.address();
        let graph = format!("{element}(TCP, {}); Idle -> Discard", address.port());
        let child = Command::new(by[0])
            .args(&by[1..])
            .arg(env!("CARGO_BIN_EXE_trammel"))
            .args(["router", "-e", &graph])
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.expect("it starts");
        let said = BufReader::new(child.stderr.take().expect("the stream is piped"));
        let router = Running {
            child,
            address,
            said,
        };
        wait_until("the router", || TcpStream::connect(address).is_ok());
        let strangers = silent(address, 100);
        wait_until("its last descriptor", || {
            router.descriptors_below(MOST) == MOST
        });
        let (spent, passed) = router.spends();
        assert!(spent < passed / 4, "{element}: {spent:?} of {passed:?}");
        drop(strangers);
    }
}

#[test]
fn thousands_of_ports_in_turn_leave_room_for_the_next() {
    use trammel_traffic::record::Protocol;
    use trammel_traffic::send::session::Session;
    use trammel_traffic::signal::message::{Count, Wish};
    use trammel_traffic::stream::Meter;
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    let receiver = Running::start(here, &["recv", "--port", "0"]);
    let go_on = std::sync::atomic::AtomicBool::new(false);
    let mut session = Session::open(receiver.address, None, &go_on).expect("it serves");
    let (mut opened, mut first) = (0, None);
    for port in (20_000..30_000).rev() {
        let protocol = [Protocol::Udp, Protocol::Tcp][port as usize % 2];
        let wish = Wish {
            protocol,
            meter: Meter::OneWay,
            port,
            name: String::new(),
        };
        // Somebody else's ports are none of these.
        let Ok((number, _)) = session.open_flow(wish.clone(), &go_on) else {
            continue;
        };
        let closed = session.close_flow(number, Count::default());
        closed.expect("it closes");
        first.get_or_insert(wish);
        opened += 1;
        if opened == 2000 {
            break;
        }
    }
    assert_eq!(opened, 2000);
    // One that was open is had again at once, and all threads have gone but the session's.
    let (number, _) = session
        .open_flow(first.expect("one was opened"), &go_on)
        .expect("there is room");
    let closed = session.close_flow(number, Count::default());
    closed.expect("it closes");
    wait_until("threads of ports", || receiver.threads() < 10);
    let (spent, passed) = receiver.spends();
    assert!(spent < passed / 20, "{spent:?} of {passed:?} for nothing");
    drop(session);
    serves(here, &receiver, &["--port", "20001"]);
}

#[test]
fn a_web_page_orders_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path();
    for words in LISTENERS {
        let server = Running::start(here, words);
        let address = server.address;
        // What a page can have a browser send: any path, some headers, and any body.
        let mut hello = vec![0, 0, 0, 19, 1, 0, 2];
        hello.extend([7; 16]);
        let order = b"\0\0\0\x26\x09\0\x23--to 127.0.0.1:9 --rate 1 --packets 1\0\0\0\x02\x0b\0";
        let body = [&hello[..], order].concat();
        let length = body.len();
        for head in [
            format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n"),
            format!(
                "POST / HTTP/1.1\r\nHost: {address}\r\nContent-Type: text/plain\r\n\
                 Content-Length: {length}\r\n\r\n"
            ),
            format!(
                "OPTIONS /{} HTTP/1.1\r\nHost: {address}\r\n\r\n",
                "\u{1}".repeat(300)
            ),
            format!("PUT / HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n\r\n"),
        ] {
            let mut page = connect(address);
            let _ = page.write_all(&[head.as_bytes(), &body].concat());
            let mut answer = Vec::new();
            // It may break the connection off.
            let _ = page.read_to_end(&mut answer);
            let greeting = usize::from(words.starts_with(&["log", "--itg"]));
            assert!(answer.len() <= greeting, "{words:?}: {answer:?}");
        }
        let (_, said) = server.interrupt();
        assert!(
            !said.contains("flows are sent") && !said.contains("log of"),
            "{words:?}: {said}"
        );
        let kept = std::fs::read_dir(here.join("logs")).map_or(0, Iterator::count);
        assert_eq!(kept, 0, "{words:?}: {said}");
    }
}
