//! A command that serves metrics.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use trammel_openmetrics::reader::{Families, read};

/// A command that serves metrics; it is killed with this.
pub(crate) struct Running {
    child: Child,
    pub(crate) address: SocketAddr,
    pub(crate) said: BufReader<std::process::ChildStderr>,
}

impl Running {
    pub(crate) fn start(words: &[&str]) -> Running {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
        command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        command.args(words).args(["--metrics", "0"]);
        // A machine that was never calibrated.
        command.env("XDG_DATA_HOME", "/nonexistent");
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program can be started");
        let mut said = BufReader::new(child.stderr.take().expect("it is piped"));
        let address = line(&mut said, "metrics: http://");
        let address = address.trim_end_matches("/metrics").parse();
        Running {
            child,
            address: address.expect("an address and a port"),
            said,
        }
    }

    /// Sends it a signal by name, and waits until it ends: its exit code and what else it says.
    pub(crate) fn end(mut self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        let done = Command::new("kill").args([signal, &id]).status();
        assert!(done.expect("it is there").success());
        let begun = Instant::now();
        while self
            .child
            .try_wait()
            .expect("it can be waited for")
            .is_none()
        {
            let waited = begun.elapsed();
            assert!(waited < Duration::from_secs(60), "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut said = String::new();
        let read = self.said.read_to_string(&mut said);
        read.expect("it is text");
        let status = self.child.wait().expect("it has ended");
        (status.code(), said)
    }

    /// The page, as who asks by `accept` gets it.
    pub(crate) fn page(&self, accept: &str) -> String {
        let mut client = TcpStream::connect(self.address).expect("it listens");
        let request =
            format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\nAccept: {accept}\r\n\r\n");
        client.write_all(request.as_bytes()).expect("it reads");
        let mut answer = String::new();
        client.read_to_string(&mut answer).expect("it answers");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
        assert!(head.starts_with("HTTP/1.1 200 OK"), "{head}");
        body.to_owned()
    }

    pub(crate) fn families(&self) -> Families {
        let page = self.page("application/openmetrics-text; version=1.0.0");
        read(&page).unwrap_or_else(|why| panic!("{why}\n{page}"))
    }

    /// Waits until the sample `name` is at least `least`; gives the page of then.
    pub(crate) fn until(&self, name: &str, least: f64) -> Families {
        let begun = Instant::now();
        loop {
            let families = self.families();
            let samples = families.values().flat_map(|family| &family.samples);
            let mut of_name = samples.filter(|(sample, ..)| sample == name);
            if of_name.any(|(.., value)| *value >= least) {
                return families;
            }
            let waited = begun.elapsed();
            assert!(
                waited < Duration::from_secs(60),
                "`{name}` stays low: {families:?}"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What follows `begin` on the first line that begins so.
pub(crate) fn line(said: &mut impl BufRead, begin: &str) -> String {
    let mut all = String::new();
    loop {
        let mut line = String::new();
        let read = said.read_line(&mut line).expect("it is text");
        assert!(read > 0, "nothing begins with `{begin}`: {all}");
        if let Some(rest) = line.trim_end().strip_prefix(begin) {
            return rest.to_owned();
        }
        all += &line;
    }
}
