//! The configuration is replaced while packets pass: none is lost in what stays.

use crate::rig::{Control, Net, PATIENCE_NS, Router, frame, open};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use trammel_io::clock;
use trammel_packet::batch::Packets;
use trammel_packet::device::Device;
use trammel_packet::pool::Pool;

/// How often the configuration is replaced.
const SWAPS: usize = 20;
/// Frames that pass before each replacement, and after the last.
const BETWEEN: usize = 5000;
/// Frames on their way at most, all of which the queue can hold.
const WINDOW: usize = 1000;

/// A queue between two devices, and elements around it that come and go.
fn config(path: &Path, method: &str, swap: usize) -> String {
    let (before, after) = match swap % 3 {
        0 => ("", ""),
        1 => ("Paint(1) ->", "CheckLength(2000) ->"),
        _ => ("Null -> Counter ->", ""),
    };
    format!(
        "FromDevice(in, true, METHOD {method}) -> Classifier(12/88b5) -> {before} c :: Counter \
         -> q :: Queue(4000) -> {after} d :: Counter -> ToDevice(out, METHOD {method}); \
         control :: ControlSocket(unix, {}); n{swap} :: Idle -> Discard;",
        path.display()
    )
}

/// Sends frames, no more at once than the queue holds, until it is `enough`, and checks each that
/// comes; says in `came` how many, and at the end how many there were.
fn pass(net: &Net, came: &AtomicUsize, enough: &AtomicBool) -> usize {
    let mut pool = Pool::new(4096, 4096);
    let (mut from, mut to) = (open(&net.left, "a"), open(&net.right, "b"));
    let until = clock::monotonic_ns() + 2 * PATIENCE_NS;
    let mut sent = 0;
    let mut batch = Packets::new();
    loop {
        let arrived = came.load(Ordering::Relaxed);
        let is_enough = enough.load(Ordering::Relaxed);
        if is_enough && arrived == sent {
            return sent;
        }
        while !is_enough && sent - arrived < WINDOW {
            batch.push(
                pool.alloc_with(&frame(sent, 64))
                    .expect("the pool has a free slot"),
            );
            from.transmit(&mut pool, &mut batch).expect("sent");
            assert!(batch.is_empty());
            sent += 1;
        }
        from.flush(&mut pool).expect("sent");
        to.receive(&mut pool, &mut batch).expect("it is there");
        for packet in batch.drain() {
            let number = came.load(Ordering::Relaxed);
            let data = pool[&packet].data();
            if data[12..14] == [0x88, 0xb5] {
                assert!(data == frame(number, 64), "frame {number} of {sent}");
                came.store(number + 1, Ordering::Relaxed);
            }
            pool.free(packet);
        }
        let left = until - clock::monotonic_ns();
        assert!(left > 0, "{arrived} of {sent} frames came");
        if came.load(Ordering::Relaxed) == arrived {
            let descriptors = [to.descriptor().expect("the device has one")];
            clock::wait(&descriptors, Some(left.min(1_000_000_000)))
                .expect("the clock can be waited for");
        }
    }
}

fn nothing_is_lost(method: &str) {
    let Some(net) = Net::new() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("control");
    let first = config(&path, method, 0);
    let Some(_router) = Router::with(&net.middle, &first, &["-R"]) else {
        return;
    };
    let mut control = Control::connect(&path);
    let came = AtomicUsize::new(0);
    let enough = AtomicBool::new(false);
    let mut longest_ns = 0;
    let frames = std::thread::scope(|scope| {
        let passing = scope.spawn(|| pass(&net, &came, &enough));
        // Packets are on their way at each replacement, for they are sent until it is enough. Ends
        // early if the other does.
        let wait = || {
            let seen = came.load(Ordering::Relaxed);
            while came.load(Ordering::Relaxed) < seen + BETWEEN && !passing.is_finished() {
                std::thread::yield_now();
            }
        };
        for swap in 1..=SWAPS {
            wait();
            let start = clock::monotonic_ns();
            let (code, text) = control.write("hotconfig", &config(&path, method, swap));
            assert_eq!(code, 200, "{text}");
            let names = control.read("list");
            assert!(
                names.lines().any(|name| name == format!("n{swap}")),
                "{names}"
            );
            longest_ns = longest_ns.max(clock::monotonic_ns() - start);
        }
        wait();
        enough.store(true, Ordering::Relaxed);
        let frames = passing.join();
        frames.unwrap_or_else(|why| std::panic::resume_unwind(why))
    });
    // By the same connection: what was counted before each replacement is counted still.
    for (handler, value) in [
        ("c.count", frames),
        ("d.count", frames),
        ("q.drops", 0),
        ("q.length", 0),
    ] {
        assert_eq!(control.read(handler), value.to_string(), "{handler}");
    }
    println!(
        "{method}: {frames} frames, {SWAPS} replacements, the longest {} us",
        longest_ns / 1000
    );
}

#[test]
fn no_packet_is_lost_by_packet_sockets() {
    nothing_is_lost("afpacket");
}

#[test]
fn no_packet_is_lost_by_af_xdp() {
    nothing_is_lost("afxdp");
}

#[test]
fn a_wrong_configuration_is_refused_with_all_its_errors_and_changes_nothing() {
    let Some(net) = Net::new() else { return };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("control");
    let first = config(&path, "afpacket", 0);
    let Some(_router) = Router::with(&net.middle, &first, &["-R"]) else {
        return;
    };
    let mut control = Control::connect(&path);
    let before = control.read("config");
    for (wrong, texts) in [
        (
            "Idle -> Nonsense(1) -> Discard; Idle -> Rubbish(2) -> Discard;",
            vec!["'Nonsense'", "'Rubbish'"],
        ),
        (
            "Idle -> Paint(blue) -> Discard; Idle -> Paint(red) -> Discard;",
            vec!["Paint@2", "Paint@5"],
        ),
        (
            "FromDevice(nowhere0, METHOD afpacket) -> Discard; FromDevice(nowhere1, METHOD \
             afpacket) -> Discard;",
            // As with Click, the first that cannot be had ends the attempt.
            vec!["no network interface `nowhere0`", "ip link show"],
        ),
    ] {
        let (code, text) = control.write("hotconfig", wrong);
        assert_ne!(code, 200, "{text}");
        for part in texts {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(control.read("config"), before);
    }
    // It runs on.
    let mut pool = Pool::new(64, 64);
    let (mut from, mut to) = (open(&net.left, "a"), open(&net.right, "b"));
    let mut batch = Packets::new();
    batch.push(
        pool.alloc_with(&frame(1, 64))
            .expect("the pool has a free slot"),
    );
    from.transmit(&mut pool, &mut batch).expect("sent");
    from.flush(&mut pool).expect("sent");
    while to.receive(&mut pool, &mut batch).expect("it is there") == 0 {
        let descriptors = [to.descriptor().expect("the device has one")];
        let ready =
            clock::wait(&descriptors, Some(PATIENCE_NS)).expect("the clock can be waited for");
        assert!(ready > 0, "nothing came");
    }
    for packet in batch.drain() {
        assert!(pool[&packet].data() == frame(1, 64));
        pool.free(packet);
    }
    assert!(control.quits(), "the connection ends when it is told to");
}
