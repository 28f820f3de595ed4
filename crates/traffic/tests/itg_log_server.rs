//! D-ITG's log server among peers that name files as they like.
#![cfg(target_os = "linux")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_traffic::itg::line::Line;
use trammel_traffic::itg::log_protocol::{self, END, Request};
use trammel_traffic::itg::log_serve::LogServer;
use trammel_traffic::itg::signalling::LogName;
use trammel_traffic::log::quota::Quota;
use trammel_traffic::record::Protocol;

/// Has the server stop, also where the work beside it panics.
struct Ends<'a>(&'a AtomicBool);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` beside a log server of this folder; gives what it said of logs.
fn beside_a_server(folder: &Path, quota: Quota, work: impl FnOnce(SocketAddr)) -> Vec<String> {
    let server = LogServer::open((Ipv4Addr::LOCALHOST, 0).into(), folder.to_owned(), quota);
    let server = server.expect("loopback has ports");
    let (stop, said) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            server.run(&stop, &|_, what| {
                said.lock()
                    .expect("no thread panics while it holds the lock")
                    .push(what.to_owned());
            })
        });
        let ends = Ends(&stop);
        work(server.address());
        drop(ends);
        running
            .join()
            .expect("the thread does not panic")
            .expect("it runs");
    });
    said.into_inner()
        .expect("no thread panics while it holds the lock")
}

/// Writes so many records to a log of this name, and waits until the server is done with it;
/// whether it took them.
fn log(address: SocketAddr, name: &str, records: u32) -> bool {
    let mut control = TcpStream::connect(address).expect("the other end listens");
    let mut greeting = [0];
    control.read_exact(&mut greeting).expect("it greets");
    let request = Request {
        protocol: Protocol::Tcp,
        name: LogName::new(name.as_bytes()).expect("it is a name"),
    };
    control
        .write_all(&request.encode())
        .expect("the other end reads");
    let mut port = [0; 4];
    if control.read_exact(&mut port).is_err() {
        return false;
    }
    let port = u16::try_from(u32::from_be_bytes(port)).expect("it is a port");
    let mut data = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).expect("the other end listens");
    let mut bytes = Vec::new();
    for sequence in 0..records {
        let line = Line {
            flow: 1,
            sequence,
            from: ([10, 0, 0, 1], 1).into(),
            to: ([10, 0, 0, 2], 2).into(),
            sent_us: 1,
            received_us: 2,
            bytes: 100,
        };
        log_protocol::write(&line, &mut bytes);
    }
    data.write_all(&bytes).expect("the other end reads");
    drop(data);
    control.write_all(&END).expect("the other end reads");
    // It hangs up when the log is closed.
    let _ = control.read(&mut [0]);
    true
}

#[test]
fn a_log_that_a_peer_names_replaces_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let here = folder.path().join("logs");
    std::fs::create_dir(&here).expect("the folder can be made");
    let (mine, outside) = (here.join("mine"), folder.path().join("outside"));
    for path in [&mine, &outside] {
        std::fs::write(path, "kept").expect("the file can be written");
    }
    std::os::unix::fs::symlink(&outside, here.join("link")).expect("the link can be made");
    let said = beside_a_server(&here, Quota::default(), |address| {
        for name in ["mine", "../outside", "mine", "link", "/etc/../mine"] {
            assert!(log(address, name, 3), "{name}");
        }
    });
    for path in [&mine, &outside] {
        let text = std::fs::read_to_string(path).expect("the file exists");
        assert_eq!(text, "kept", "{}", path.display());
    }
    for kept in ["mine.1", "mine.2", "mine.3", "outside", "link.1"] {
        let about = std::fs::metadata(here.join(kept)).expect(kept);
        assert!(about.len() > 100, "{kept}: {said:?}");
    }
    assert!(
        said.iter().any(|what| what.contains("kept as `mine.1`")),
        "{said:?}"
    );
}

#[test]
fn logs_end_with_the_quota_and_what_is_kept_is_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let said = beside_a_server(folder.path(), Quota::new(20_000), |address| {
        log(address, "long", 1000);
        log(address, "more", 1);
        for name in 0..10 {
            log(address, &format!("empty{name}"), 0);
        }
    });
    let files = std::fs::read_dir(folder.path()).expect("the folder exists");
    let sizes: Vec<u64> = files
        .map(|file| file.expect("a file").metadata().expect("a file").len())
        .collect();
    assert!(sizes.len() < 5, "{} files", sizes.len());
    assert!(sizes.iter().sum::<u64>() <= 20_000, "{sizes:?}");
    assert!(
        said.iter()
            .any(|what| what.contains("20000 bytes together")),
        "{said:?}"
    );
}
