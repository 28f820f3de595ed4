//! Who may command a router, and how signals do.

use crate::rig::{Control, TRAMMEL, ends};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a program may take to end on a busy machine; alone it takes less than a second.
const SOON: Duration = Duration::from_secs(20);

/// A router, which ends with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A router that runs, which has said so on standard output.
fn start(arguments: &[&str]) -> Running {
    let mut command = Command::new(TRAMMEL);
    command.arg("router").args(arguments);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program can be started");
    let mut output = BufReader::new(child.stdout.take().expect("the stream is piped"));
    let mut line = String::new();
    output
        .read_line(&mut line)
        .expect("the other end writes a line");
    assert_eq!(line.trim(), "running", "{}", rest(&mut child));
    Running(child)
}

fn rest(child: &mut Child) -> String {
    let mut said = String::new();
    if let Some(mut errors) = child.stderr.take() {
        let _ = errors.read_to_string(&mut said);
    }
    said
}

fn signal(child: &Child, number: i32) {
    trammel_io::signals::send(child.id() as i32, number).expect("it runs");
}

/// How it ended, and how long that took.
fn end(child: &mut Child) -> (ExitStatus, Duration) {
    let began = Instant::now();
    let patience = Duration::from_millis(5);
    loop {
        if let Some(status) = child.try_wait().expect("it can be asked") {
            return (status, began.elapsed());
        }
        if began.elapsed() > SOON {
            let _ = child.kill();
            panic!("it does not end");
        }
        std::thread::park_timeout(patience);
    }
}

const GRAPH: &str = "Idle -> s :: Switch(0) -> Idle; s[1] -> a :: AggregateCounter -> Idle; \
                     Script(print \"running\");";

#[test]
fn a_web_page_commands_nothing_and_names_no_file() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let (socket, files) = (path("control"), path("files"));
    std::fs::create_dir(&files).expect("the folder can be made");
    for with_folder in [false, true] {
        let mut arguments = vec!["-e", GRAPH, "-u", &socket];
        if with_folder {
            arguments.extend(["--control-folder", &files]);
        }
        let router = start(&arguments);
        let mode = Path::new(&socket)
            .metadata()
            .expect("it is there")
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
        let mut page = UnixStream::connect(&socket).expect("the other end listens");
        let request = "POST / HTTP/1.1\r\nHost: localhost\r\n\r\nwrite s.switch 1\r\n";
        page.write_all(request.as_bytes())
            .expect("the other end reads");
        let mut answer = String::new();
        page.read_to_string(&mut answer).expect("it ends");
        assert!(
            answer.ends_with("400 this is no web server\r\n"),
            "{answer}"
        );
        let mut control = Control::connect(Path::new(&socket));
        assert_eq!(control.read("s.switch"), "0");
        let (code, text) = control.write("a.write_text_file", &path("outside"));
        assert_eq!(code, 520, "{text}");
        assert!(!Path::new(&path("outside")).exists());
        let (code, text) = control.write("a.write_text_file", "inside");
        assert_eq!(code, if with_folder { 200 } else { 520 }, "{text}");
        assert_eq!(Path::new(&files).join("inside").exists(), with_folder);
        // Killed, it leaves its socket behind, which the next one takes the place of.
        drop(router);
        assert!(Path::new(&socket).exists());
    }
    let router = start(&["-e", GRAPH, "-u", &socket]);
    let (code, said) = ends(None, &["-e", GRAPH, "-u", &socket]);
    assert_eq!(code, Some(3), "one that is in use is kept: {said}");
    Control::connect(Path::new(&socket));
    drop(router);
}

#[test]
fn a_loop_of_pushes_ends_on_a_signal() {
    for (config, number) in [
        (
            "RatedSource(RATE 1000) -> a :: Null -> t :: Tee(2); t[0] -> a; t[1] -> a;",
            15,
        ),
        ("InfiniteSource -> a :: Null -> b :: Null -> a;", 2),
        ("InfiniteSource(BURST 2147483647) -> Discard;", 2),
    ] {
        let config = format!("{config} Script(print \"running\");");
        let mut router = start(&["-e", &config]);
        signal(&router.0, number);
        let (status, took) = end(&mut router.0);
        assert_eq!(
            status.code(),
            Some(130),
            "{config}: {}",
            rest(&mut router.0)
        );
        println!("{config}: {took:?}");
    }
}

#[test]
fn a_long_load_ends_on_a_signal() {
    // Each class has two of the one before: half a million elements.
    let mut config = String::from("elementclass C0 { input -> Null -> output };\n");
    for n in 1..19 {
        config += &format!(
            "elementclass C{n} {{ input -> C{} -> C{} -> output }};\n",
            n - 1,
            n - 1
        );
    }
    // More than a pipe holds: when all is written, most of it was read.
    config += &format!("// {}\nIdle -> C18 -> Discard;", "-".repeat(1 << 20));
    let mut command = Command::new(TRAMMEL);
    command.args(["router", "-"]).stdin(Stdio::piped());
    let mut child = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program can be started");
    let mut input = child.stdin.take().expect("the stream is piped");
    input
        .write_all(config.as_bytes())
        .expect("the other end reads");
    // SIGTERM, since a shell has what it runs in the background ignore SIGINT until somebody sees
    // to it.
    signal(&child, 15);
    drop(input);
    let (status, _) = end(&mut child);
    // Where nobody sees to it yet, the system ends it.
    let is_ended = status.code() == Some(130) || status.code().is_none();
    assert!(is_ended, "{status:?}");
}

#[test]
fn a_hangup_has_the_file_read_again() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = folder.path().join("a.click").display().to_string();
    let socket = folder.path().join("control").display().to_string();
    std::fs::write(&file, GRAPH).expect("the file can be written");
    let mut router = start(&["-u", &socket, &file]);
    let mut errors = BufReader::new(router.0.stderr.take().expect("the stream is piped"));
    let mut hears = |what: &str| {
        let mut line = String::new();
        while !line.contains(what) {
            line.clear();
            assert!(
                errors
                    .read_line(&mut line)
                    .expect("the other end writes a line")
                    > 0,
                "{what}"
            );
        }
    };
    let mut control = Control::connect(Path::new(&socket));
    control.write("s.switch", "1");
    std::fs::write(&file, GRAPH.replace("Switch(0)", "Switch(")).expect("the file can be written");
    signal(&router.0, 1);
    hears("the configuration stays as it was");
    assert_eq!(control.read("s.config"), "1");
    std::fs::write(&file, format!("{GRAPH} new :: Idle -> Discard;"))
        .expect("the file can be written");
    signal(&router.0, 1);
    hears("the configuration is read again");
    assert_eq!(control.read("new.class"), "Idle");
    signal(&router.0, 15);
    assert_eq!(end(&mut router.0).0.code(), Some(130));
}
