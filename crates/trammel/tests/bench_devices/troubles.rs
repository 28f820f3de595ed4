//! The device dies, links flap, ports vanish, disks are full, users interrupt: what is done is
//! kept, and nothing stays behind.

use crate::command::{Ended, Run, rows, until};
use crate::left_behind::Look;
use crate::rig::{has, or_skip};
use std::path::Path;
use std::sync::Arc;
use trammel_io::netns::{Namespace, veth};
use trammel_io::signals;

const INTERRUPT: i32 = 2;
const KILL: i32 = 9;
/// Many short trials.
const TESTS: [&str; 2] = ["--tests", "frame-loss"];
/// A bridge by a program that ends when somebody has opened the pipe beside it and closed it again.
const MORTAL: &str = "test -d {mark} && ip link add name br0 type bridge \
    && ip link set {in} master br0 && ip link set {out} master br0 && ip link set br0 up && read \
    line < {mark}/end; exit 7";

/// A run on it.
const ON_MORTAL: [&str; 5] = ["--dut", MORTAL, "--bridged", TESTS[0], TESTS[1]];

fn pipe(folder: &Path) {
    let made = std::process::Command::new("mkfifo")
        .arg(folder.join("end"))
        .status();
    assert!(made.expect("`mkfifo` is there").success());
}

/// A run on a device that dies when told to, once it has made a trial, and what there was before
/// it; nothing where the machine lacks something.
fn on_a_mortal_device() -> Option<(Run, Look)> {
    if !has("ip") || !has("tc") {
        return None;
    }
    let namespace = Arc::new(or_skip(Namespace::new())?);
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    pipe(folder.path());
    let before = Look::at(&namespace, &folder.path().display().to_string());
    let mut run = Run::start(folder, &namespace, &[], &ON_MORTAL);
    if run.has_made(1) {
        assert_ne!(run.look(), before, "the look sees nothing");
        return Some((run, before));
    }
    lacks(&run.ends());
    None
}

/// A run that ended for lack of a right says so.
fn lacks(ended: &Ended) {
    assert!(
        ended.code == Some(3) && ended.said.contains("no right"),
        "{}",
        ended.said
    );
    println!("skipped: {}", ended.said);
}

/// That nothing of a run is left, shortly after its end.
fn is_gone(run: &Run, before: &Look) {
    until("everything of the run is gone", || {
        let now = run.look();
        if now != *before {
            println!("still there: {now:?}, before: {before:?}");
        }
        now == *before
    });
}

#[test]
fn a_device_that_dies_ends_the_run_and_what_was_measured_is_kept() {
    let Some((mut run, before)) = on_a_mortal_device() else {
        return;
    };
    std::fs::write(run.folder.path().join("end"), "\n").expect("the file can be written");
    let ended = run.ends();
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    let told = "has ended (exit status: 7)";
    assert!(ended.said.contains(told), "{}", ended.said);
    assert!(rows(&run.out(), "trials") >= 1 && rows(&run.out(), "tester") == 1);
    is_gone(&run, &before);
}

#[test]
fn an_interrupt_keeps_what_is_done_and_the_next_run_goes_on() {
    let Some((mut run, before)) = on_a_mortal_device() else {
        return;
    };
    signals::send(run.pid(), INTERRUPT).expect("it runs");
    let ended = run.ends();
    assert_eq!(ended.code, Some(130), "{}", ended.said);
    let kept = rows(&run.out(), "trials");
    assert!(kept >= 1);
    is_gone(&run, &before);
    let folder = std::mem::replace(
        &mut run.folder,
        tempfile::tempdir().expect("a temporary folder can be made"),
    );
    let mut again = Run::start(folder, &run.namespace, &[], &ON_MORTAL);
    let ended = again.ends();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    let told = "resuming an interrupted run";
    assert!(ended.said.contains(told), "{}", ended.said);
    assert!(!ended.said.contains("measures itself"), "{}", ended.said);
    assert!(rows(&again.out(), "trials") > kept);
    is_gone(&again, &before);
}

#[test]
fn a_run_that_is_killed_leaves_nothing_behind() {
    let Some((mut run, before)) = on_a_mortal_device() else {
        return;
    };
    signals::send(run.pid(), KILL).expect("it runs");
    assert_eq!(run.ends().code, None);
    is_gone(&run, &before);
}

/// Two ports in a namespace, with a bridge of another one between them.
struct Bridged {
    ports: Arc<Namespace>,
    middle: Namespace,
}

impl Bridged {
    fn new() -> Option<Bridged> {
        if !has("ip") || !has("tc") {
            return None;
        }
        let (ports, middle) = (or_skip(Namespace::new())?, or_skip(Namespace::new())?);
        for (port, inner) in [("a", "in"), ("b", "out")] {
            veth(&ports, port, &middle, inner).expect("the pair of devices can be made");
        }
        let joined = middle.add_bridge("bridge", &["in", "out"]);
        joined.expect("it is free");
        // The kernel tells of carriers after a while.
        until("the links are up", || {
            ["a", "b"].iter().all(|port| {
                let link = ports.link(port).expect("it is there");
                link.is_running
            })
        });
        Some(Bridged {
            ports: Arc::new(ports),
            middle,
        })
    }

    /// A run between the ports, by a way, and what there was before it; nothing where the machine
    /// lacks something.
    fn run(&self, way: &str) -> Option<(Run, Look)> {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let before = Look::at(&self.ports, &folder.path().display().to_string());
        let between = ["--ports", "a,b", "--by", way, "--bridged"];
        let arguments = [&between[..], &TESTS].concat();
        let mut run = Run::start(folder, &self.ports, &[], &arguments);
        if run.has_made(1) {
            return Some((run, before));
        }
        lacks(&run.ends());
        None
    }
}

#[test]
fn a_port_that_vanishes_ends_the_run_and_what_was_measured_is_kept() {
    let Some(net) = Bridged::new() else { return };
    let Some((mut run, _)) = net.run("af-packet") else {
        return;
    };
    net.middle.delete_link("out").expect("it is there");
    let ended = run.ends();
    assert_eq!(ended.code, Some(3), "{}", ended.said);
    assert!(ended.said.contains("error: `frame-loss`"), "{}", ended.said);
    assert!(rows(&run.out(), "trials") >= 1);
}

#[test]
fn a_link_that_flaps_costs_frames_and_no_more() {
    let Some(net) = Bridged::new() else { return };
    let Some((mut run, _)) = net.run("af-packet") else {
        return;
    };
    for is_up in [false, true] {
        net.middle.set_up("out", is_up).expect("it is there");
    }
    let ended = run.ends();
    assert_eq!(ended.code, Some(0), "{}", ended.said);
}

#[test]
fn ports_are_left_as_they_were() {
    let Some(net) = Bridged::new() else { return };
    let Some((mut run, before)) = net.run("af-xdp") else {
        return;
    };
    assert_ne!(run.look(), before, "the look sees nothing");
    signals::send(run.pid(), INTERRUPT).expect("it runs");
    let ended = run.ends();
    assert_eq!(ended.code, Some(130), "{}", ended.said);
    is_gone(&run, &before);
}

#[test]
fn a_full_disk_costs_the_folder_and_is_said() {
    let Some(namespace) = or_skip(Namespace::new()).map(Arc::new) else {
        return;
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().display();
    let mount = format!("mount -t tmpfs -o size=8k none {path} && exec \"$@\"");
    let by = ["unshare", "--mount", "sh", "-c", &mount, "sh"];
    let arguments = [&["--dut", "bridge"], &TESTS[..]].concat();
    let mut run = Run::start(folder, &namespace, &by, &arguments);
    let ended = run.ends();
    if ["no right", "not permitted", "unshare: "]
        .iter()
        .any(|lack| ended.said.contains(lack))
    {
        println!("skipped: {}", ended.said);
        return;
    }
    // As of every command whose output cannot be written.
    assert_eq!(ended.code, Some(2), "{}", ended.said);
    for told in ["No space left on device", "cannot be kept"] {
        assert!(ended.said.contains(told), "{}", ended.said);
    }
}
