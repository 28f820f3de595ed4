//! Files by FTP and HTTP through devices that are built here, with real servers and clients; what
//! is lacking, interruptions.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::cell::Cell;
use std::os::unix::fs::symlink;
use std::process::{Command, Output, Stdio};
use trammel::ground::Unsupported;
use trammel::testbeds::devices::dut::Dut;
use trammel::testbeds::transfer::{Path, Protocol, transfer};
use trammel_io::error::Error;

/// A little more than what fits into buffers, and no multiple of a segment.
const BYTES: u64 = 5_000_001;
/// More than is transferred while a test lasts; it takes no room.
const ENDLESS: u64 = 1_000_000_000_000;
const PROTOCOLS: [Protocol; 2] = [Protocol::Ftp, Protocol::Http];

fn router() -> Dut {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../papers/linguaglossa-click-netfpga/router.click"
    );
    Dut::Click(file.into())
}

/// A path across `device`; nothing with the reason printed where the machine lacks something.
fn path(device: &Dut) -> Option<Path> {
    match Path::new(device, false, env!("CARGO_BIN_EXE_trammel")) {
        Ok(path) => Some(path),
        Err(why) => match why.downcast_ref::<Error>() {
            Some(Error::NoRight { .. } | Error::Unsupported { .. }) => {
                println!("skipped: {why}");
                None
            }
            _ => panic!("{why:#}"),
        },
    }
}

/// Of a file that comes.
fn comes(path: &Path, protocol: Protocol, through: &str) {
    match transfer(path, protocol, BYTES, &|| false) {
        Ok(one) => {
            assert!(one.bytes == BYTES && one.seconds > 0.0, "{one:?}");
            let mbps = BYTES as f64 * 8e-6 / one.seconds;
            assert!((one.mbps() - mbps).abs() < 1e-9);
        }
        Err(why) if why.is::<Unsupported>() => println!("skipped: {why:#}"),
        Err(why) => panic!("{} through {through}: {why:#}", protocol.name()),
    }
}

#[test]
fn a_file_comes_whole_through_every_kind_of_device() {
    for device in [Dut::Wire, Dut::Bridge, Dut::Kernel, router()] {
        let Some(path) = path(&device) else {
            return;
        };
        for protocol in PROTOCOLS {
            // The second finds no server of the first.
            for _ in 0..2 {
                comes(&path, protocol, &device.name());
            }
        }
    }
}

#[test]
fn an_interruption_ends_a_transfer_and_its_server() {
    let Some(path) = path(&Dut::Kernel) else {
        return;
    };
    for protocol in PROTOCOLS {
        // The path is asked for first, then the client, which is at work by the tenth time.
        let asked = Cell::new(0);
        let is_interrupted = || {
            asked.set(asked.get() + 1);
            asked.get() > 10
        };
        match transfer(&path, protocol, ENDLESS, &is_interrupted) {
            Err(why) if why.is::<Unsupported>() => {
                println!("skipped: {why:#}");
                continue;
            }
            Err(why) => assert_eq!(why.to_string(), "interrupted"),
            Ok(one) => panic!("{one:?}"),
        }
        assert_eq!(asked.get(), 11);
        // Its port is free again.
        comes(&path, protocol, "what was interrupted");
    }
}

#[test]
fn a_device_that_does_not_forward_is_named() {
    let file = tempfile::NamedTempFile::with_suffix(".click").unwrap();
    let text = "FromDevice(in) -> Discard; FromDevice(out) -> Discard; Idle -> ToDevice(out);";
    std::fs::write(file.path(), text).unwrap();
    let Some(path) = path(&Dut::Click(file.path().to_owned())) else {
        return;
    };
    let why = transfer(&path, Protocol::Http, BYTES, &|| false).unwrap_err();
    if why.is::<Unsupported>() {
        println!("skipped: {why:#}");
        return;
    }
    let said = why.to_string();
    assert!(
        said.contains("does the device forward between 198.18.1.2 and 198.19.1.2?"),
        "{said}"
    );
}

/// `trammel bench` of the kernel, with programs of the folder `path` only where one is given.
fn bench(words: &[&str], path: Option<&std::path::Path>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args([
        "bench",
        "--dut",
        "kernel",
        "--quick",
        "--json",
        "--frame-sizes",
        "64",
    ]);
    command.args(words);
    if let Some(path) = path {
        command.env("PATH", path);
    }
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn tests_of_transfers_have_their_tables_and_one_that_lacks_a_server_says_so() {
    if path(&Dut::Wire).is_none() {
        return;
    }
    let programs = tempfile::tempdir().unwrap();
    for program in ["sh", "cat", "curl", "nginx"] {
        let found = Command::new("sh")
            .args(["-c", &format!("command -v {program}")])
            .output();
        let found = String::from_utf8(found.unwrap().stdout).unwrap();
        if found.trim().is_empty() {
            println!("skipped: `{program}` is not installed");
            return;
        }
        symlink(found.trim(), programs.path().join(program)).unwrap();
    }
    let words = ["--tests", "ftp-transfer,tcp-transfer,http-transfer"];
    let settings = [
        "--set",
        "http-transfer.bytes=5MB",
        "--set",
        "http-transfer.repeats=2",
    ];
    let words = [&words[..], &settings].concat();
    let output = bench(&words, Some(programs.path())).output().unwrap();
    let text = said(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    let ftp = "error: `ftp-transfer` on kernel's router: there is no server of FTP; apt-get \
               install vsftpd";
    assert!(text.lines().any(|line| line == ftp), "{text}");
    let tcp =
        "left out: `tcp-transfer` on kernel's router: the hosts around a real device are real";
    assert!(text.lines().any(|line| line.starts_with(tcp)), "{text}");
    let tables: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &tables["tables"]["http-transfer"][0];
    assert_eq!(
        (&row["label"], &row["hosts"]),
        (&"measured".into(), &"nginx, curl".into()),
        "{row}"
    );
    assert_eq!(
        (&row["bytes"], &row["repeats"]),
        (&5_000_000.into(), &2.into())
    );
    let number = |name: &str| {
        row[name]
            .as_f64()
            .unwrap_or_else(|| panic!("{name}: {row}"))
    };
    assert!((number("goodput_mbps") * number("time_mean_s") / 40.0 - 1.0).abs() < 1e-6);
    let share = 100.0 * number("wire_mean_s") / number("time_mean_s");
    assert!((number("of_wire_percent") / share - 1.0).abs() < 1e-6);
}

/// Whoever can write to the folder in which a command is given has nothing run by it.
#[test]
fn nothing_of_the_folder_that_one_is_in_is_run() {
    if path(&Dut::Wire).is_none() {
        return;
    }
    // Without nginx, Python serves, which looks for its modules where it is started.
    let programs = tempfile::tempdir().unwrap();
    // What `python3` is may be a script that looks for the real one.
    let real = ["-I", "-c", "import sys; print(sys.executable)"];
    let real = Command::new("python3").args(real).output();
    let real = real.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_owned());
    let curl = trammel_io::program::find("curl");
    let (Ok(python), Some(curl)) = (real, curl) else {
        println!("skipped: `curl` or `python3` is not installed");
        return;
    };
    symlink(python, programs.path().join("python3")).unwrap();
    symlink(curl, programs.path().join("curl")).unwrap();
    let here = tempfile::tempdir().unwrap();
    let mark = here.path().join("mark");
    let write = |name: &str, text: String| {
        let file = here.path().join(name);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, text).unwrap();
        let may_be_run = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&file, may_be_run).unwrap();
    };
    for program in ["sh", "cat", "curl", "python3", "nginx", "kill"] {
        write(program, format!("#!/bin/sh\ntouch '{}'\n", mark.display()));
    }
    for module in [
        "http/__init__.py",
        "http/server.py",
        "socketserver.py",
        "sitecustomize.py",
    ] {
        write(
            module,
            format!(
                "open({:?}, 'w')\nraise SystemExit(1)\n",
                mark.to_str().unwrap()
            ),
        );
    }
    write(
        ".curlrc",
        format!("output = {:?}\n", mark.to_str().unwrap()),
    );
    let words = [
        "--tests",
        "http-transfer",
        "--set",
        "http-transfer.bytes=1MB",
        "--set",
        "http-transfer.repeats=1",
    ];
    let output = bench(&words, None)
        .current_dir(here.path())
        .env("PATH", format!(".:{}:", programs.path().display()))
        .env("HOME", here.path())
        .env("PYTHONPATH", here.path())
        .env("http_proxy", "http://127.0.0.1:9")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let tables: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        tables["tables"]["http-transfer"][0]["hosts"],
        "python3, curl"
    );
    assert!(!mark.exists());
}

#[test]
fn a_command_that_is_interrupted_leaves_no_server_and_no_client() {
    use std::io::{BufRead, BufReader};
    if path(&Dut::Wire).is_none() {
        return;
    }
    // The server reads this folder's file, so its name is the mark of what belongs to this run.
    let mark = tempfile::tempdir().unwrap();
    let mut run = bench(
        &[
            "--tests",
            "http-transfer",
            "--set",
            "http-transfer.bytes=1 TB",
        ],
        None,
    )
    .env("TMPDIR", mark.path())
    .stderr(Stdio::piped())
    .stdout(Stdio::null())
    .spawn()
    .unwrap();
    let mark = mark.path().to_string_lossy().into_owned();
    let stderr = BufReader::new(run.stderr.take().unwrap());
    let listening =
        std::thread::spawn(move || stderr.lines().map_while(Result::ok).collect::<Vec<_>>());
    // Until the server is there, and the run is with it: nothing but the interruption ends it.
    while of_run(&mark).is_empty() {
        if let Some(status) = run.try_wait().unwrap() {
            let said = listening.join().unwrap().join("\n");
            if said.contains("there is no") {
                println!("skipped: {said}");
                return;
            }
            panic!("it ended before it could be interrupted: {status}: {said}");
        }
        std::thread::yield_now();
    }
    let id = run.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(
        run.wait().unwrap().code(),
        Some(130),
        "{:?}",
        listening.join().unwrap()
    );
    assert_eq!(of_run(&mark), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(&mark).unwrap().count(), 0);
}

/// Commands of processes that have `mark` in them.
fn of_run(mark: &str) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let commands =
        processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let commands = commands.map(|bytes| String::from_utf8_lossy(&bytes).replace('\0', " "));
    commands.filter(|command| command.contains(mark)).collect()
}
