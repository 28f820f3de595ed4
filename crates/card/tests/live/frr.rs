//! Router Kit with FRR: what FRR's daemons change stands in the registers.

use crate::mirror::rig;
use crate::rig::Rig;
use std::io::Write;
use std::net::Ipv4Addr;
use std::os::unix::fs::chown;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use trammel_io::clock;
use trammel_netfpga::tables::read_route;

/// Where Debian's package has the daemons.
const DAEMONS: &str = "/usr/lib/frr";
/// How long a change may take, in nanoseconds, for 99 of 100.
const LATENCY_NS: i64 = 100_000_000;

/// FRR in a card's namespace, and a command line of it.
struct Frr {
    daemons: Vec<Child>,
    line: Child,
}

impl Frr {
    /// Nothing where it is not installed, or cannot run.
    fn start(rig: &Rig) -> Option<Frr> {
        if !Path::new(DAEMONS).join("zebra").exists() {
            println!("skipped: FRR is not installed: apt-get install frr");
            return None;
        }
        let folder = rig.socket("frr");
        std::fs::create_dir(&folder).expect("a folder");
        let id = |flag: &str| {
            let said = Command::new("id").args([flag, "frr"]).output().ok()?;
            String::from_utf8(said.stdout).ok()?.trim().parse().ok()
        };
        let home = folder.parent().expect("it has one");
        for path in [home, &folder] {
            if let Err(why) = chown(path, id("-u"), id("-g")) {
                println!("skipped: FRR needs root: {why}");
                return None;
            }
        }
        let shown = folder.display().to_string();
        let mut frr = Frr {
            daemons: Vec::new(),
            line: idle("true"),
        };
        for daemon in ["zebra", "staticd"] {
            let words = [
                "--vty_socket",
                &shown,
                "-z",
                &format!("{shown}/zserv.api"),
                "-i",
                &format!("{shown}/{daemon}.pid"),
                "-P",
                "0",
                "-f",
                "/dev/null",
            ]
            .map(str::to_owned);
            let program = Path::new(DAEMONS).join(daemon);
            let mut child = rig.home.run(|| {
                let mut command = Command::new(program);
                command
                    .args(words)
                    .stdout(Stdio::null())
                    .stderr(Stdio::null());
                command.spawn().expect("it is a program")
            });
            let socket = folder.join(format!("{daemon}.vty"));
            let mut has_ended = false;
            Rig::until(&true, || {
                has_ended = child.try_wait().expect("a child").is_some();
                has_ended || socket.exists()
            });
            frr.daemons.push(child);
            if has_ended {
                println!("skipped: FRR's {daemon} does not run here; it needs root");
                return None;
            }
        }
        let mut command = Command::new("vtysh");
        command.args(["--vty_socket", &shown]);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        frr.line = command.spawn().expect("it comes with FRR");
        frr.say("configure terminal");
        Some(frr)
    }

    /// Gives a command.
    fn say(&mut self, command: &str) {
        let input = self.line.stdin.as_mut().expect("it is piped");
        writeln!(input, "{command}").expect("`vtysh` reads");
    }
}

fn idle(program: &str) -> Child {
    Command::new(program).spawn().expect("it is a program")
}

impl Drop for Frr {
    fn drop(&mut self) {
        for child in self.daemons.iter_mut().chain([&mut self.line]) {
            // One that has ended needs no more.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Adds and removes `changes` routes by FRR, one after the other; how long each took to stand in
/// the registers, in order of length. Nothing where FRR does not run.
fn latencies(changes: usize) -> Option<Vec<i64>> {
    let (rig, _card) = rig()?;
    let mut frr = Frr::start(&rig)?;
    let mut client = rig.client();
    let mut first = || {
        let row = client.together(|accesses| read_route(accesses, 0));
        row.expect("the card runs").network
    };
    let connected = Ipv4Addr::new(10, 0, 0, 0);
    Rig::until(&connected, &mut first);
    let mut all = Vec::with_capacity(changes);
    for number in 0..changes / 2 {
        let to = Ipv4Addr::new(10, 9, (number >> 8) as u8, number as u8);
        // The only route of 32 bits is in the first row.
        for (word, wanted) in [("", to), ("no ", connected)] {
            let began = clock::monotonic_ns();
            frr.say(&format!("{word}ip route {to}/32 10.0.1.2"));
            Rig::until(&wanted, &mut first);
            all.push(clock::monotonic_ns() - began);
        }
    }
    all.sort_unstable();
    let at = |percent: usize| all[(all.len() * percent / 100).min(all.len() - 1)] / 1000;
    println!(
        "FRR: of {changes} changes half stand after {} us, 99 of 100 after {} us, all after {} us",
        at(50),
        at(99),
        at(100)
    );
    Some(all)
}

#[test]
fn routes_of_frr_come_into_the_registers_and_go() {
    latencies(20);
}

#[test]
#[ignore = "long: a thousand changes by FRR, on a machine with time for them"]
fn a_change_by_frr_stands_in_the_registers_within_a_tenth_of_a_second() {
    if let Some(all) = latencies(1000) {
        assert!(all[all.len() * 99 / 100] <= LATENCY_NS, "{all:?}");
    }
}
