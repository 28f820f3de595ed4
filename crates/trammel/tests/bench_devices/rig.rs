//! What the tests share: a testbed around a device that a test has changed.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trammel::testbeds::beds::built_device::BuiltDevice;
use trammel::testbeds::beds::ports::{LONGEST_DELAY, Ports, Setting, Waits};
use trammel::testbeds::devices::dut::Dut;
use trammel::testbeds::devices::namespaces::{Home, Wish};
use trammel_bench::frames::Sizes;
use trammel_bench::testbed::{Observation, Plan, Testbed, Traffic};
use trammel_bench::trial::Load;
use trammel_core::time::Span;
use trammel_io::error::{Error, Result};
use trammel_io::netns::Namespace;
use trammel_traffic::tester::Threads;
use trammel_traffic::tester::port::Way;
use trammel_traffic::tester::timing::TimedBy;

pub(crate) const TRAMMEL: &str = env!("CARGO_BIN_EXE_trammel");

/// The value, or nothing with the reason printed where the machine lacks something.
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

pub(crate) fn traffic(bytes: u32) -> Traffic {
    Traffic::of(Sizes::of(bytes).expect("the size is within bounds"))
}

pub(crate) fn load(fps: f64, duration: Span) -> Load {
    Load::new(fps, duration).expect("the load is above 0")
}

/// A testbed, and where its device is.
pub(crate) struct Rig {
    pub(crate) bed: Ports,
    pub(crate) middle: Arc<Namespace>,
}

impl Rig {
    /// Around `dut`; a configuration and a command forward as a wire does.
    pub(crate) fn new(dut: Dut, way: Way, traffic: &Traffic) -> Option<Rig> {
        or_skip(Rig::timed(dut, way, traffic, TimedBy::Auto))
    }

    /// With tagged frames timed so.
    pub(crate) fn timed(dut: Dut, way: Way, traffic: &Traffic, timed_by: TimedBy) -> Result<Rig> {
        let is_routed = dut.is_routed(true);
        let device = BuiltDevice::build(&Rig::wish(dut, way, traffic))?;
        let middle = Arc::clone(device.home().middle().expect("it is no wire"));
        let setting = Setting {
            ports: device.home().ports(way, is_routed),
            line_bps: 1e9,
            waits: Waits::QUICK,
            longest_delay: LONGEST_DELAY,
            threads: Threads::default(),
            timed_by,
            tester: None,
            interrupted: Arc::new(AtomicBool::new(false)),
        };
        let bed = Ports::open(setting, Box::new(device))?;
        Ok(Rig { bed, middle })
    }

    /// Has the tester's threads run so from now on.
    pub(crate) fn run_by(&mut self, threads: Threads) {
        self.bed.run_by(threads);
    }

    /// The device, without a tester.
    pub(crate) fn home(dut: Dut, way: Way, traffic: &Traffic) -> Result<Home> {
        Home::build(&Rig::wish(dut, way, traffic))
    }

    fn wish(dut: Dut, way: Way, traffic: &Traffic) -> Wish {
        Wish {
            dut,
            traffics: vec![traffic.clone()],
            way,
            is_bridged: true,
            own: TRAMMEL.to_owned(),
        }
    }

    /// Around the kernel's router.
    pub(crate) fn kernel(traffic: &Traffic) -> Option<Rig> {
        Rig::new(Dut::Kernel, Way::AfPacket, traffic)
    }

    /// Runs a command of the system where the device is; nothing where there is no such command or
    /// the kernel lacks it.
    pub(crate) fn command(&self, program: &str, arguments: &str) -> Option<()> {
        let arguments: Vec<&str> = arguments.split_whitespace().collect();
        match self.middle.command(program, &arguments) {
            Ok(_) => Some(()),
            Err(why) => {
                let said = why.to_string();
                let is_lack = [
                    "No such file",
                    "not found",
                    "kind is unknown",
                    "not supported",
                ];
                assert!(is_lack.iter().any(|lack| said.contains(lack)), "{said}");
                println!("skipped: {said}");
                None
            }
        }
    }

    pub(crate) fn offer(&mut self, traffic: &Traffic, loads: &[Load]) -> Observation {
        self.bed
            .offer(traffic, &Plan::of(loads))
            .unwrap_or_else(|why| panic!("{why}"))
    }
}
