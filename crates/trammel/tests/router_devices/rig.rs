//! What the tests share: namespaces joined by the command, and words with it.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::error::{Error, Result};
use trammel_io::netns::{Namespace, veth};

/// How long anything may take, in nanoseconds.
pub(crate) const PATIENCE_NS: i64 = 60_000_000_000;
pub(crate) const TRAMMEL: &str = env!("CARGO_BIN_EXE_trammel");

pub(crate) fn or_skip<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ (Error::NoRight { .. } | Error::Unsupported { .. })) => {
            println!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// Whether a program of others is installed; it is said where not.
pub(crate) fn has(program: &str) -> bool {
    let is_there = trammel_io::program::find(program).is_some();
    if !is_there {
        println!("skipped: `{program}` is not installed");
    }
    is_there
}

/// A router that runs until this is dropped.
pub(crate) struct Router {
    child: Child,
    /// What it prints, after the line that says that it runs.
    pub(crate) output: BufReader<ChildStdout>,
}

impl Router {
    /// Runs `config` in a namespace; returns once it runs. Nothing where it refuses for lack of a
    /// right.
    pub(crate) fn run(namespace: &Namespace, config: &str) -> Option<Router> {
        Router::with(namespace, config, &[])
    }

    /// The same with further arguments.
    pub(crate) fn with(namespace: &Namespace, config: &str, more: &[&str]) -> Option<Router> {
        let config = format!("{config}\nScript(print \"running\");");
        let mut child = namespace.run(|| {
            Command::new(TRAMMEL)
                .args(["router", "-e", &config])
                .args(more)
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .expect("the program can be started")
        });
        let mut output = BufReader::new(child.stdout.take().expect("the stream is piped"));
        let mut line = String::new();
        while output
            .read_line(&mut line)
            .expect("the other end writes a line")
            > 0
        {
            if line.trim() == "running" {
                return Some(Router { child, output });
            }
            line.clear();
        }
        let ended = child
            .wait_with_output()
            .expect("the child process can be waited for");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(3), "{said}");
        println!("skipped: {said}");
        None
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two ends and a middle between them: `left:a - in:middle:out - b:right`.
pub(crate) struct Net {
    pub(crate) left: Namespace,
    pub(crate) middle: Namespace,
    pub(crate) right: Namespace,
}

impl Net {
    /// The net, where the machine allows it; the interfaces leave nothing to each other.
    pub(crate) fn new() -> Option<Net> {
        let net = Net::with_offloads()?;
        for (namespace, name) in [
            (&net.left, "a"),
            (&net.middle, "in"),
            (&net.middle, "out"),
            (&net.right, "b"),
        ] {
            namespace.set_offloads(name, false).expect("offloads off");
        }
        Some(net)
    }

    /// The same; checksums are left out, and packets of one connection stay together, as usual on
    /// such wires.
    pub(crate) fn with_offloads() -> Option<Net> {
        let net = Net {
            left: or_skip(Namespace::new())?,
            middle: or_skip(Namespace::new())?,
            right: or_skip(Namespace::new())?,
        };
        veth(&net.left, "a", &net.middle, "in").expect("the pair of devices can be made");
        veth(&net.middle, "out", &net.right, "b").expect("the pair of devices can be made");
        Some(net)
    }

    /// Gives both ends an address, and a route by the router between them.
    pub(crate) fn with_networks(self) -> Net {
        for (end, name, n) in [(&self.left, "a", 1), (&self.right, "b", 2)] {
            end.add_address(name, &format!("10.{n}.0.2/24"))
                .expect("the address is free");
            let gateway = format!("10.{n}.0.1");
            end.add_route("0.0.0.0/0", Some(&gateway), name)
                .expect("a route");
        }
        self
    }

    /// The Ethernet addresses of the middle's two interfaces, as configurations have them.
    pub(crate) fn middle_macs(&self) -> [String; 2] {
        ["in", "out"].map(|name| {
            let mac = self.middle.link(name).expect("it is there").mac;
            let parts = mac.expect("it has one").map(|byte| format!("{byte:02x}"));
            parts.join(":")
        })
    }
}

pub(crate) fn ping(from: &Namespace, to: &str) -> Output {
    from.run(|| {
        Command::new("ping")
            .args(["-n", "-c", "3", "-i", "0.2", "-W", "20", to])
            .output()
            .expect("`ping` is there: apt-get install iputils-ping")
    })
}

pub(crate) fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Opens interface `name` of a namespace by packet sockets.
pub(crate) fn open(namespace: &Namespace, name: &str) -> AfPacket {
    namespace
        .run(|| AfPacket::open(name, &afpacket::Options::default()))
        .expect("a packet socket")
}

/// A frame whose bytes tell its number.
pub(crate) fn frame(number: usize, len: usize) -> Vec<u8> {
    let mut frame: Vec<u8> = (0..len).map(|at| (number * 31 + at) as u8).collect();
    frame[..6].fill(0xff);
    frame[6..12].copy_from_slice(&[2, 0, 0, 0, 0, 9]);
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

/// Runs a configuration that ends by itself: the exit code and what it said.
pub(crate) fn ends(namespace: Option<&Namespace>, arguments: &[&str]) -> (Option<i32>, String) {
    let run = || {
        Command::new(TRAMMEL)
            .arg("router")
            .args(arguments)
            .output()
            .expect("the program can be started")
    };
    let output = match namespace {
        Some(namespace) => namespace.run(run),
        None => run(),
    };
    (output.status.code(), said(&output))
}

/// A control connection.
pub(crate) struct Control {
    reader: BufReader<UnixStream>,
}

impl Control {
    /// Connects to the socket at `path`.
    pub(crate) fn connect(path: &Path) -> Control {
        Control::of(UnixStream::connect(path).expect("the other end listens"))
    }

    /// By a connection.
    pub(crate) fn of(stream: UnixStream) -> Control {
        let patience = std::time::Duration::from_nanos(PATIENCE_NS as u64);
        stream
            .set_read_timeout(Some(patience))
            .expect("the time-out is above 0");
        let mut control = Control {
            reader: BufReader::new(stream),
        };
        assert_eq!(control.line(), "Click::ControlSocket/1.3");
        control
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader
            .read_line(&mut line)
            .expect("the other end writes a line");
        line.trim_end().to_owned()
    }

    /// The answer's code and text.
    fn answer(&mut self) -> (u16, String) {
        let mut text = String::new();
        loop {
            let line = self.line();
            let code = line.get(..3).and_then(|code| code.parse().ok());
            text.push_str(line.get(4..).unwrap_or_default());
            match (code, line.as_bytes().get(3)) {
                (Some(_), Some(b'-')) => text.push('\n'),
                (Some(code), _) => return (code, text),
                (None, _) => panic!("no answer: {line}"),
            }
        }
    }

    /// Reads a handler.
    pub(crate) fn read(&mut self, handler: &str) -> String {
        writeln!(self.reader.get_mut(), "READ {handler}").expect("it is asked");
        let (code, text) = self.answer();
        assert_eq!(code, 200, "{handler}: {text}");
        let line = self.line();
        let bytes = line.strip_prefix("DATA ").and_then(|n| n.parse().ok());
        let mut data = vec![0; bytes.unwrap_or_else(|| panic!("no data: {line}"))];
        self.reader.read_exact(&mut data).expect("the data");
        String::from_utf8(data).expect("the text is UTF-8")
    }

    /// Writes a handler.
    pub(crate) fn write(&mut self, handler: &str, value: &str) -> (u16, String) {
        let asked = format!("WRITEDATA {handler} {}\n{value}", value.len());
        let stream = self.reader.get_mut();
        stream
            .write_all(asked.as_bytes())
            .expect("the other end reads");
        self.answer()
    }

    /// Closes the connection from the other side: whether it then ends.
    pub(crate) fn quits(mut self) -> bool {
        writeln!(self.reader.get_mut(), "QUIT").expect("it is asked");
        self.answer();
        self.line().is_empty()
    }
}
