//! What Open vSwitch forwards over the number of addresses: a learning switch of Debian's package,
//! on veth.
//!
//! ```text
//! source ─ veth ─ ovs-vswitchd (NORMAL) ─ veth ─ sink    cargo run --release -p trammel --example ovs_forwarding
//! ```
//! The data path in user space (`datapath_type=netdev`) on packet sockets, its daemon on processor
//! 0, the sender on processor 1; by AF_XDP the sender would be the limit and not the switch. As
//! Baldi and Sapio 2018, §4.1.2: the sink first sends a frame from each address, so that the switch
//! has learnt them all; then the source sends to all of them in turn, each frame with a source
//! address of its own. Rates are frames in a second of processor time, of all threads of the daemon
//! and of the sender's thread, so that what else runs on the machine hardly counts: `sender` to an
//! interface that drops at once, `ovs` what reached the sink. `clock` is what came in a second by
//! the clock, of what was `offered`.
//!
//! Arguments: a folder (`papers/baldi-2018`), seconds a round (1), rounds (5), then numbers of
//! addresses. Writes `open-vswitch.toml` and `open-vswitch-sender.toml`, capacity profiles; a
//! number of addresses is `flows`. Everything runs in namespaces and a folder of its own, which are
//! gone at the end.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod rig;

use rig::Rig;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use trammel::workbench::measure::Clock;
use trammel_core::label::Label;
use trammel_cost::capacity_profile::{CapacityProfile, Point};
use trammel_io::afpacket::{self, AfPacket};
use trammel_io::clock;
use trammel_io::error::{Error, Result};
use trammel_io::live::Sink;
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// Bytes of a frame without the check sequence, as the device takes it.
const FRAME: usize = 60;
/// Numbers of addresses: the exact-match cache of the data path has 8,192 entries.
const ADDRESSES: [u64; 9] = [1, 10, 64, 256, 1024, 4096, 8192, 16384, 65536];
/// How long all addresses may take until each has come once, and so often they come before it
/// counts.
const PATIENCE_NS: i64 = 60_000_000_000;
const WARM_PASSES: u64 = 8;
const WARM_NS: i64 = 500_000_000;
/// Where Debian's package has the schema of the database.
const SCHEMA: &str = "/usr/share/openvswitch/vswitch.ovsschema";

fn failed(source: std::io::Error) -> Error {
    Error::Kernel {
        what: "the measurement failed".to_owned(),
        source,
    }
}

fn refused(text: impl Into<String>) -> Error {
    failed(std::io::Error::other(text.into()))
}

/// A daemon that ends with this value.
struct Daemon(Child);

impl Drop for Daemon {
    fn drop(&mut self) {
        // One that is gone already is no fault.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The switch: its two daemons, the one that forwards last, so that it ends first.
struct Switch {
    forwards: Daemon,
    _database: Daemon,
    folder: tempfile::TempDir,
}

impl Switch {
    fn start(rig: &Rig) -> Result<Switch> {
        let folder = tempfile::tempdir().map_err(failed)?;
        let at = |name: &str| folder.path().join(name).display().to_string();
        let (database, socket) = (at("conf.db"), at("db.sock"));
        rig.middle
            .command("ovsdb-tool", &["create", &database, SCHEMA])?;
        let started = |program: &str, arguments: &[String]| -> Result<Daemon> {
            let child = rig.middle.run(|| {
                clock::pin(0)?;
                Command::new(program)
                    .args(arguments)
                    .env("OVS_RUNDIR", folder.path())
                    .env("OVS_LOGDIR", folder.path())
                    .env("OVS_DBDIR", folder.path())
                    .stdin(Stdio::null())
                    .stdout(Stdio::null())
                    .stderr(Stdio::null())
                    .spawn()
            });
            Ok(Daemon(child.map_err(failed)?))
        };
        let remote = format!("--remote=punix:{socket}");
        let control = format!("--unixctl={}", at("db.ctl"));
        let database = started("ovsdb-server", &[database, remote, control])?;
        wait_for(Path::new(&socket))?;
        let switch = Switch {
            forwards: started(
                "ovs-vswitchd",
                &[
                    format!("unix:{socket}"),
                    format!("--unixctl={}", at("switch.ctl")),
                    "--disable-system".to_owned(),
                ],
            )?,
            _database: database,
            folder,
        };
        switch.configure(rig)?;
        Ok(switch)
    }

    fn control(&self, rig: &Rig, arguments: &[&str]) -> Result<()> {
        let socket = self.folder.path().join("db.sock");
        let database = format!("--db=unix:{}", socket.display());
        let mut all = vec![database.as_str(), "--timeout=20"];
        all.extend(arguments);
        rig.middle.command("ovs-vsctl", &all).map(drop)
    }

    /// Processor time that all threads of the daemon which forwards have taken.
    fn cpu_ns(&self) -> Result<u64> {
        let threads = format!("/proc/{}/task", self.forwards.0.id());
        let mut sum = 0;
        for thread in std::fs::read_dir(threads).map_err(failed)? {
            let times = thread.map_err(failed)?.path().join("schedstat");
            // A thread that has ended meanwhile has no file.
            let times = std::fs::read_to_string(times).unwrap_or_default();
            let first = times.split(' ').next().unwrap_or_default();
            sum += first.parse::<u64>().unwrap_or(0);
        }
        Ok(sum)
    }

    /// A bridge that learns. Entries of its tables outlive the measurement, however many addresses
    /// there are.
    fn configure(&self, rig: &Rig) -> Result<()> {
        self.control(rig, &["--no-wait", "init"])?;
        let lasting = [
            "set",
            "Open_vSwitch",
            ".",
            "other_config:max-idle=600000",
            "other_config:flow-limit=1000000",
        ];
        self.control(rig, &lasting)?;
        let bridge = [
            "add-br",
            "br0",
            "--",
            "set",
            "bridge",
            "br0",
            "datapath_type=netdev",
            "fail-mode=standalone",
            "other_config:mac-table-size=1000000",
            "other_config:mac-aging-time=3600",
        ];
        self.control(rig, &bridge)?;
        for port in ["in0", "out0"] {
            self.control(rig, &["add-port", "br0", port])?;
        }
        Ok(())
    }
}

/// Waits until a file is there.
fn wait_for(path: &Path) -> Result<()> {
    let end = clock::monotonic_ns() + 10_000_000_000;
    while !path.exists() {
        if clock::monotonic_ns() > end {
            return Err(refused(format!("`{}` does not appear", path.display())));
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    Ok(())
}

/// The frame of pair `n`: hosts behind the sink are 02:00…, those behind the source 06:00….
fn frame(n: u64, is_learning: bool) -> [u8; FRAME] {
    let address = |first: u8| {
        let mut bytes = n.to_be_bytes();
        bytes[2] = first;
        <[u8; 6]>::try_from(&bytes[2..]).expect("six of eight bytes")
    };
    let (behind_sink, behind_source) = (address(0x02), address(0x06));
    let mut frame = [0; FRAME];
    let (to, from) = if is_learning {
        ([0xff; 6], behind_sink)
    } else {
        (behind_sink, behind_source)
    };
    frame[..6].copy_from_slice(&to);
    frame[6..12].copy_from_slice(&from);
    // A local experiment's type (IEEE 802): nothing above Ethernet is looked at.
    frame[12..14].copy_from_slice(&[0x88, 0xb5]);
    frame
}

/// What the sender's thread tells while it runs.
#[derive(Default)]
struct Sent {
    is_done: AtomicBool,
    frames: AtomicU64,
    cpu_ns: AtomicU64,
}

/// Sends frames to `addresses` in turn until told to stop, or so many.
fn send(device: &str, addresses: u64, is_learning: bool, most: u64, sent: &Sent) -> Result<()> {
    clock::pin(1).map_err(failed)?;
    let mut device = AfPacket::open(device, &afpacket::Options::default())?;
    let mut pool = Pool::new(1024, 1024);
    let mut batch = Packets::new();
    let (mut next, mut given) = (0, 0);
    while !sent.is_done.load(Ordering::Relaxed) && given < most {
        while !batch.is_full() && given + (batch.len() as u64) < most {
            let Some(packet) = pool.alloc_with(&frame(next, is_learning)) else {
                break;
            };
            batch.push(packet);
            next = (next + 1) % addresses;
        }
        given += device.transmit(&mut pool, &mut batch).map_err(failed)? as u64;
        device.flush(&mut pool).map_err(failed)?;
        sent.frames.store(given, Ordering::Relaxed);
        sent.cpu_ns
            .store(clock::thread_cpu_ns() as u64, Ordering::Relaxed);
        if is_learning {
            // The switch asks its slow path about each: a burst of all would be lost.
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
    }
    while device.unsent() > 0 {
        device.flush(&mut pool).map_err(failed)?;
    }
    batch.drain().for_each(|packet| pool.free(packet));
    device.close(&mut pool);
    Ok(())
}

/// What happened in a while.
struct Seen {
    came: f64,
    sent: f64,
    ns: f64,
    /// Of the daemon, or where there is none, of the sender.
    cpu_ns: f64,
}

/// What `count` counts and `cpu_ns` takes while the source sends to `addresses`.
fn watch(
    rig: &Rig,
    addresses: u64,
    seconds: f64,
    count: &dyn Fn() -> Result<u64>,
    cpu_ns: &dyn Fn(&Sent) -> Result<u64>,
) -> Result<Seen> {
    let sent = Sent::default();
    std::thread::scope(|scope| {
        let told = &sent;
        let sending = scope.spawn(move || {
            rig.source
                .run(|| send("out", addresses, false, u64::MAX, told))
        });
        let look = || -> Result<[u64; 4]> {
            Ok([
                count()?,
                sent.frames.load(Ordering::Relaxed),
                clock::monotonic_ns() as u64,
                cpu_ns(&sent)?,
            ])
        };
        let counted = || -> Result<Seen> {
            let (start, first) = (clock::monotonic_ns(), count()?);
            let wait = |ns: i64| clock::wait(&[], Some(ns)).map(drop).map_err(failed);
            wait(WARM_NS)?;
            while count()? - first < WARM_PASSES * addresses {
                wait(WARM_NS)?;
                if clock::monotonic_ns() - start > PATIENCE_NS || sending.is_finished() {
                    return Err(refused(format!(
                        "{addresses} addresses did not come {WARM_PASSES} times"
                    )));
                }
            }
            let before = look()?;
            wait((seconds * 1e9) as i64)?;
            let after = look()?;
            let [came, sent, ns, cpu_ns] = [0, 1, 2, 3].map(|n| (after[n] - before[n]) as f64);
            Ok(Seen {
                came,
                sent,
                ns,
                cpu_ns,
            })
        };
        let found = counted();
        sent.is_done.store(true, Ordering::Relaxed);
        sending.join().expect("the thread does not panic")?;
        found
    })
}

/// What the sender can do: to an interface that drops everything in its driver.
fn sender(addresses: u64, seconds: f64) -> Result<Seen> {
    let rig = Rig::new()?;
    let sink = rig.middle.run(|| Sink::open("in0"))?;
    let cpu_ns = |sent: &Sent| Ok(sent.cpu_ns.load(Ordering::Relaxed));
    watch(&rig, addresses, seconds, &|| sink.count(), &cpu_ns)
}

/// What the switch forwards.
fn switched(addresses: u64, seconds: f64) -> Result<Seen> {
    let rig = Rig::new()?;
    let switch = Switch::start(&rig)?;
    // Each address twice: a frame that was lost would leave its address unknown, and its frames
    // flooded.
    let sent = Sent::default();
    rig.sink
        .run(|| send("in", addresses, true, 2 * addresses, &sent))?;
    watch(&rig, addresses, seconds, &|| rig.delivered(), &|_| {
        switch.cpu_ns()
    })
}

/// The median, and half of what lies between the least and the most, relative to it.
fn spread(mut values: Vec<f64>) -> (f64, f64) {
    values.sort_by(f64::total_cmp);
    let middle = values[values.len() / 2];
    (
        middle,
        (values[values.len() - 1] - values[0]) / 2.0 / middle,
    )
}

fn measure() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments
        .next()
        .unwrap_or_else(|| "papers/baldi-2018".to_owned());
    let seconds: f64 = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(1.0);
    let rounds: usize = arguments.next().and_then(|s| s.parse().ok()).unwrap_or(5);
    let mut numbers: Vec<u64> = arguments.filter_map(|s| s.parse().ok()).collect();
    if numbers.is_empty() {
        numbers = ADDRESSES.to_vec();
    }
    numbers.retain(|n| (1..=1 << 20).contains(n));
    let version = Command::new("ovs-vswitchd").arg("--version").output();
    let version = version.map_err(|why| {
        refused(format!(
            "`ovs-vswitchd` cannot be run ({why}): install Debian's package openvswitch-switch"
        ))
    })?;
    let version = String::from_utf8_lossy(&version.stdout);
    let version = version.lines().next().unwrap_or_default().to_owned();
    let processors = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processors
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("unknown processor", |rest| {
            rest.trim_start_matches(['\t', ':', ' '])
        });
    let clock = Clock::measure();
    let clock_hz = clock.cycles_a_tick * clock.ticks_per_s;
    println!("{version}\naddresses   sender Mpps       ovs Mpps     clock   offered");
    let (mut ovs, mut sent) = (Vec::new(), Vec::new());
    let mut widest = [0.0_f64; 2];
    for addresses in numbers {
        let (mut alone, mut switches) = (Vec::new(), Vec::new());
        let mut round = || -> Result<()> {
            alone.push(sender(addresses, seconds)?);
            switches.push(switched(addresses, seconds)?);
            Ok(())
        };
        if let Err(why) = (0..rounds.clamp(1, 100)).try_for_each(|_| round()) {
            // What was measured before is worth keeping; more addresses would not fare better.
            eprintln!("{addresses} addresses and more are left out: {why}");
            break;
        }
        let of = |all: &[Seen], value: fn(&Seen) -> f64| spread(all.iter().map(value).collect());
        let a_core = |seen: &Seen| seen.came / seen.cpu_ns * 1e3;
        let ((limit, a), (mpps, b)) = (of(&alone, a_core), of(&switches, a_core));
        println!(
            "{addresses:9} {limit:8.3} ±{:3.0} % {mpps:8.3} ±{:3.0} % {:9.3} {:9.3}",
            a * 100.0,
            b * 100.0,
            of(&switches, |seen| seen.came / seen.ns * 1e3).0,
            of(&switches, |seen| seen.sent / seen.ns * 1e3).0
        );
        widest = [widest[0].max(a), widest[1].max(b)];
        let point = |mpps| Point {
            frame_bytes: 64,
            flows: addresses,
            routes: 1,
            mpps,
        };
        ovs.push(point(mpps));
        sent.push(point(limit));
    }
    let how = format!(
        "veth and packet sockets, frames a second of processor time, median of {rounds} rounds of \
         {seconds} s; spread: half of least to most, of the worst point"
    );
    for (name, function, source, spread, points) in [
        (
            "open-vswitch",
            "Open vSwitch, NORMAL",
            format!("{version}, user-space data path, {model}, {how}"),
            widest[1],
            ovs,
        ),
        (
            "open-vswitch-sender",
            "the sender alone",
            format!("to an interface that drops, {model}, {how}"),
            widest[0],
            sent,
        ),
    ] {
        let spread = spread.min(0.99);
        let profile =
            CapacityProfile::new(function, Label::Measured, source, clock_hz, spread, &points);
        let path = Path::new(&folder).join(format!("{name}.toml"));
        let text = profile.map_err(refused)?.write();
        std::fs::write(&path, text).map_err(failed)?;
        println!("{}", path.display());
    }
    Ok(())
}

fn main() {
    if let Err(error) = measure() {
        eprintln!("{error}");
        if let Some(mend) = error.mend() {
            eprintln!("try: {mend}");
        }
        std::process::exit(3);
    }
}
