//! Guests that do not do what they should: what is told of one that dies, takes too long or is
//! asked for what its kernel lacks.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use trammel_kernel::boot::{BOOT_TIME, Error, Limits, Machine};
use trammel_kernel::build::{self, Source, Wish};
use trammel_kernel::job::{GuestFlow, GuestJob, Host, Way, Wire};

/// The kernel of the cache; nothing, with the reason printed, where there is none, or where its
/// guests do not run.
fn kernel() -> Option<PathBuf> {
    let wish = Source::pinned()
        .map_err(|why| why.to_string())
        .and_then(|source| {
            let cache = build::usual_cache().ok_or("no folder for kernels")?;
            Ok(Wish {
                source,
                patches: Vec::new(),
                jobs: 1,
                cache,
            })
        });
    let built = wish.and_then(|wish| build::find(&wish).map_err(|why| why.to_string()));
    match built {
        Ok(Some(built)) => {
            let machine = Machine::new(&built.kernel, &program()).expect("it says what it needs");
            match machine.try_boot(BOOT_TIME, &|| false) {
                Ok(()) => Some(built.kernel),
                Err(why) => {
                    println!("skipped: {why}");
                    None
                }
            }
        }
        Ok(None) => {
            println!("skipped: the kernel is not built; `trammel kernel build` makes it");
            None
        }
        Err(why) => {
            println!("skipped: {why}");
            None
        }
    }
}

/// The program of guests, as an example of this crate.
fn program() -> PathBuf {
    // Beside this test's own folder.
    let own = std::env::current_exe().expect("a path");
    let path = own
        .parent()
        .and_then(Path::parent)
        .expect("a folder")
        .join("examples/guest");
    if !path.exists() {
        let built = Command::new(env!("CARGO"))
            .args([
                "build",
                "--locked",
                "-p",
                "trammel-kernel",
                "--example",
                "guest",
            ])
            .status();
        assert!(built.expect("cargo runs").success());
    }
    path
}

fn limits(time: Duration) -> Limits<'static> {
    Limits {
        memory_mib: 256,
        time,
        interrupted: &|| false,
    }
}

/// A flow over a wire.
fn job(congestion: &str) -> GuestJob {
    GuestJob {
        duration_ns: 1_000_000_000,
        sample_ns: 100_000_000,
        queue_ns: 1_000_000_000,
        read_ns: 5_000_000,
        hosts: vec![Host::default(); 2],
        wires: vec![Wire {
            ends: [0, 1],
            mtu: 1500,
            offload: false,
            ways: [Way::default(), Way::default()],
        }],
        flows: vec![GuestFlow {
            to: (0, 1),
            congestion: congestion.to_owned(),
            stop_ns: i64::MAX,
            bytes: Some(100_000),
            ..GuestFlow::default()
        }],
        ..GuestJob::default()
    }
}

#[test]
fn a_flow_ends_when_its_last_byte_is_there() {
    let Some(kernel) = kernel() else { return };
    let machine = Machine::new(&kernel, &program()).expect("it says what it needs");
    let answer = machine
        .run(&job("cubic"), &limits(Duration::from_secs(60)))
        .expect("it answers");
    let flow = &answer.flows[0];
    assert_eq!(flow.end.delivered, 100_000);
    // Nothing is on the way, and nothing in it takes time but reading the clock.
    assert!(
        flow.completed_ns.is_some_and(|at| at < 1_000_000),
        "{:?}",
        flow.completed_ns
    );
    assert!((68..=80).contains(&flow.end.sent), "{:?}", flow.end);
}

#[test]
fn what_the_kernel_lacks_is_told_by_its_guest() {
    let Some(kernel) = kernel() else { return };
    let machine = Machine::new(&kernel, &program()).expect("it says what it needs");
    match machine.run(&job("nosuch"), &limits(Duration::from_secs(60))) {
        Err(Error::Failed(why)) => assert!(why.contains("no congestion control `nosuch`"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_guest_that_dies_says_its_last_words() {
    let Some(kernel) = kernel() else { return };
    // It ends at once, as no first process may.
    let machine = Machine::new(&kernel, Path::new("/bin/true")).expect("it says nothing");
    match machine.run(&job("cubic"), &limits(Duration::from_secs(60))) {
        Err(Error::Died { said, .. }) => assert!(said.contains("Kernel panic"), "{said}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_guest_that_takes_too_long_is_stopped() {
    let Some(kernel) = kernel() else { return };
    let machine = Machine::new(&kernel, &program()).expect("it says what it needs");
    let mut endless = job("cubic");
    endless.duration_ns = i64::MAX / 4;
    endless.flows[0].bytes = None;
    let outcome = machine.run(&endless, &limits(Duration::from_millis(300)));
    assert!(matches!(outcome, Err(Error::TooLong(_))), "{outcome:?}");
    let stopped = Limits {
        interrupted: &|| true,
        ..limits(Duration::from_secs(60))
    };
    assert!(matches!(
        machine.run(&endless, &stopped),
        Err(Error::Interrupted)
    ));
}

#[test]
fn a_program_that_is_none_is_named() {
    let missing = Machine::new(
        Path::new("/nonexistent/linux"),
        Path::new("/nonexistent/guest"),
    );
    assert!(
        missing
            .expect_err("there is none")
            .to_string()
            .contains("/nonexistent/guest")
    );
}
