//! `trammel bench`: what a router, switch or network function does under test, by RFC 2544 and its
//! successors.

use super::metrics::BenchCounts;
use super::options;
use anyhow::{Context, anyhow};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trammel_bench::frames::{ETHERNET, Sizes};
use trammel_bench::procedures::{self, Entry, Search};
use trammel_bench::testbed::{Directions, Modifier, Protocol, Testbed, Traffic};
use trammel_core::entry::{Params, Value};
use trammel_core::time::Span;
use trammel_core::units::{Dimension, Quantity};
use trammel_cost::capacity_profile::CapacityProfile;
use trammel_ground::whole_file;
use trammel_ground::{INTERRUPTED, UNSUPPORTED, USAGE, progress, say};
use trammel_ground::{Unsupported, machine as this_machine};
use trammel_io::clock::real_time;
use trammel_io::error::Error;
use trammel_router::diagnostic;
use trammel_scenario::registry::Family;
use trammel_testbeds::beds::built_device;
use trammel_testbeds::beds::configuration::Configuration;
use trammel_testbeds::beds::estimated::Estimated;
use trammel_testbeds::beds::measurer;
use trammel_testbeds::beds::measurer::Measurer;
use trammel_testbeds::beds::model;
use trammel_testbeds::beds::ports::{Given, Ports, Setting, Waits};
use trammel_testbeds::beds::ring::InMemory;
use trammel_testbeds::beds::self_test;
use trammel_testbeds::beds::self_test::SelfTest;
use trammel_testbeds::beds::simulated::Simulated;
use trammel_testbeds::devices::dut::Dut;
use trammel_testbeds::devices::namespaces::Wish;
use trammel_testbeds::expect::Expectation;
use trammel_testbeds::journal::Identity;
use trammel_testbeds::profile::Wanted;
use trammel_testbeds::{BenchJob, journal, own_program, run as carry_out};
use trammel_traffic::addresses::Side;
use trammel_traffic::tester::port::{Port, Way};
use trammel_traffic::tester::timing::TimedBy;
use trammel_traffic::tester::{Tester, Threads};
use trammel_workbench::bench::{Bench as Workbench, Refused};
use trammel_workbench::inputs::Inputs;
use trammel_workbench::machines;
use trammel_workbench::samples;
use trammel_workbench::source::Source;

/// The test at whose result others are made.
const THROUGHPUT: &str = "throughput";
/// Every test.
const ALL: &str = "all";
/// The priority of threads that run before all others: below that of the kernel's own.
const PRIORITY: u8 = 40;

/// Test a router, switch or network function: throughput, latency, loss and more
///
/// Give one device or several. All get the same tests and traffic, and the report compares them.
/// `trammel list tests` names the tests, `trammel doc test NAME` shows their settings.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  trammel bench --simulate examples/router/mpls-switch.click --machine xeon-e5-2690v2 --quick
  trammel bench --estimate router.click --simulate router.click --ring router.click --machine host \
--quick -o out
  trammel bench --model reference-1g --model reference-1g:loaded=4 --model click-pc-2009 --quick
  trammel bench --dut kernel --dut router.click --dut netfpga --quick -o out
  trammel bench --dut 'my-router --in {in} --out {out}' --by af-xdp --tests throughput,frame-loss \
-o out
  trammel bench --ports eth1,eth2 --tests throughput,latency -o out
  trammel bench --simulate router.click --tests throughput,latency --frame-sizes 64,1518,imix -o \
out")]
pub(super) struct Args {
    /// Test the estimate of a Click configuration on the machine of --machine (may be repeated)
    #[arg(long, value_name = "FILE")]
    estimate: Vec<String>,
    /// Test a Click configuration in virtual time on the machine of --machine (may be repeated)
    #[arg(long, value_name = "FILE")]
    simulate: Vec<String>,
    /// Test a Click configuration on this machine, between rings in memory (may be repeated)
    #[arg(long, value_name = "FILE")]
    ring: Vec<String>,
    /// Test a device through another program that generates the load and speaks JSON lines (may be
    /// repeated)
    #[arg(long, value_name = "CMD")]
    measurer: Vec<String>,
    /// Test the model of a device from `trammel list devices` (may be repeated): a design of the
    /// NetFPGA router such as `reference-1g`, with changes such as `reference-1g:loaded=4`, or the
    /// profile of a PC, `click-pc-2009`
    #[arg(long, value_name = "MODEL")]
    model: Vec<String>,
    /// Build a device in a namespace and test it: `wire`, `kernel`, `kernel:filters=25` (or 1: RFC
    /// 2544 §11.4), `bridge`, `netfpga` (or `netfpga:tables=FILE`), FILE.click, or a command with
    /// `{in}` and `{out}` for its interfaces (may be repeated)
    #[arg(long, value_name = "DEVICE", value_parser = str::parse::<Dut>)]
    dut: Vec<Dut>,
    /// Test the device between these two interfaces of this machine; it is a router with the
    /// addresses of RFC 2544
    #[arg(long, value_name = "A,B", value_parser = two)]
    ports: Option<[String; 2]>,
    /// How to send and receive the frames of --dut and --ports
    #[arg(long, value_enum, value_name = "WAY", default_value = "af-packet")]
    by: By,
    /// Which clock times the tagged frames of latency tests
    #[arg(long, value_enum, value_name = "WHAT", default_value = "auto")]
    timed_by: Clock,
    /// The device of --ports, configuration or command forwards like a bridge or wire: do not ask
    /// for a router
    #[arg(long)]
    bridged: bool,
    /// The longest delay of a frame through the device of --dut or --ports, such as an emulator of
    /// a satellite link: how long to wait for the first frames
    #[arg(long, value_name = "TIME", default_value = "2 s")]
    longest_delay: String,
    /// Run the sending and receiving threads of --dut and --ports before all other programs;
    /// requires `CAP_SYS_NICE`
    #[arg(long)]
    real_time: bool,
    /// The machine for --estimate and --simulate: a name of `trammel list machines`, or `host`
    /// [default: `host` where `trammel calibrate` was run, else xeon-e5-2690v2:data-sheet]
    #[arg(long, value_name = "NAME")]
    machine: Option<String>,
    /// The rate of each port, if the device does not define it
    #[arg(long, value_name = "RATE", default_value = "10 Gbit/s")]
    rate: String,
    /// The tests in order: names from `trammel list tests`, or `all`
    #[arg(long, value_name = "TESTS", value_delimiter = ',', default_value = THROUGHPUT)]
    tests: Vec<String>,
    /// A setting of a test (may be repeated)
    #[arg(long, value_name = "TEST.NAME=VALUE")]
    set: Vec<String>,
    /// Fewer and shorter trials than the RFCs require; the results do not comply with them, and say
    /// so
    #[arg(long)]
    quick: bool,
    /// Frame sizes with FCS, and mixes of sizes: `imix`, `imix:aaafg`, `imix:AAB/A=78/B=1518`
    /// [default: RFC 2544's]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    frame_sizes: Vec<String>,
    /// Offer frames in both directions, half of the load each
    #[arg(long)]
    both_ways: bool,
    /// Offer IPv6 (RFC 5180)
    #[arg(short = '6', long)]
    ipv6: bool,
    /// Pairs of addresses in each direction; several numbers are tested one after the other
    #[arg(
        long, value_name = "N", default_value = "1", value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    streams: Vec<u32>,
    /// Number of destination networks: 1, or RFC 2544's 256; several numbers are tested one after
    /// the other
    #[arg(
        long, value_name = "N", default_value = "1", value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=256)
    )]
    networks: Vec<u32>,
    /// Frames per burst, sent with the minimum gap (RFC 2544 §21: 16, 64, 256, 1024)
    #[arg(
        long, value_name = "N", default_value = "1",
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    burst: u32,
    /// Which frames to add to the test frames (RFC 2544 §11)
    #[arg(long, value_enum, value_name = "WHAT")]
    modifier: Option<Modified>,
    /// The seed of random numbers
    #[arg(long, value_name = "SEED", default_value = "1")]
    seed: u64,
    /// A bound on a number of a test, such as 'throughput@64.of_line_percent >= 95'; the exit code
    /// is 1 if it is not met (may be repeated)
    #[arg(long, value_name = "EXPECTATION", value_parser = str::parse::<Expectation>)]
    expect: Vec<Expectation>,
    /// Write the device's capacity over --frame-sizes, --streams and --networks to FILE, as
    /// `trammel place` reads it
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// The clock of the core that does the work, for the --profile of a real device
    #[arg(long, value_name = "CLOCK", requires = "profile")]
    clock: Option<String>,
    #[command(flatten)]
    out: super::folder::Args,
    #[command(flatten)]
    metrics: super::metrics::Args,
    /// Write the tables to standard output as JSON
    #[arg(long)]
    json: bool,
}

/// By what frames go and come.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum By {
    /// AF_XDP: the fastest that checks every frame
    AfXdp,
    /// Packet sockets: any interface; the kernel timestamps arrivals
    AfPacket,
    /// XDP programs in the kernel generate and count frames: the fastest, without latencies
    Live,
}

impl By {
    fn way(self) -> Way {
        match self {
            By::AfXdp => Way::AfXdp,
            By::AfPacket => Way::AfPacket,
            By::Live => Way::Live,
        }
    }
}

/// By what single frames are timed.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Clock {
    /// The interfaces' clock if they share one, else the tester
    Auto,
    /// The clock that both interfaces share
    Hardware,
    /// The kernel: when the driver takes a frame, and when it delivers one
    Driver,
    /// The tester: when it hands a frame over, and when one arrives at its socket
    Tester,
}

impl Clock {
    fn wish(self) -> TimedBy {
        match self {
            Clock::Auto => TimedBy::Auto,
            Clock::Hardware => TimedBy::Hardware,
            Clock::Driver => TimedBy::Driver,
            Clock::Tester => TimedBy::Tester,
        }
    }
}

/// A modifier on the command line.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
enum Modified {
    /// Every hundredth frame goes to the broadcast address
    Broadcast,
    /// The first frame of each second is a management request
    Management,
    /// Routing updates at their protocol's interval
    RoutingUpdates,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let tests = tests(args)?;
    let traffics = traffics(args)?;
    let search = search(args)?;
    let mut beds: Vec<Box<dyn Testbed>> = Vec::new();
    let rate = rate(args)?;
    let devices = devices(args);
    if devices == 0 {
        return Err(anyhow!(
            "no device is given; simulate one: --simulate FILE.click, or build one: --dut kernel"
        ));
    }
    let expected = expected(args, &tests)?;
    let profile = profile(args, devices, &tests)?;
    let longest_delay = longest_delay(args)?;
    let mut inputs = inputs(args);
    let interrupted = options::interrupted()?;
    if let Some(out) = args.out.wanted() {
        // A folder that cannot be written is told before the tester takes its time to measure
        // itself.
        drop(trammel_report::run_folder::RunFolder::begin(&out)?);
    }
    for (files, bed) in configurations(args) {
        for file in files {
            match workbench(file, &mut inputs)? {
                Ok(bench) => {
                    let interrupted = Arc::clone(&interrupted);
                    let of = Configuration {
                        bench,
                        rate,
                        interrupted,
                    };
                    beds.push(bed(of, args.machine.as_deref())?);
                }
                Err(refused) => return refuse(&refused),
            }
        }
    }
    for command in &args.measurer {
        match Measurer::start(command, rate, measurer::PATIENCE, &interrupted) {
            Ok(measurer) => beds.push(Box::new(measurer)),
            Err(_) if interrupted.load(Ordering::SeqCst) => return Ok(ExitCode::from(INTERRUPTED)),
            Err(why) => {
                return Err(Unsupported::error(
                    &why.to_string(),
                    "correct it; docs/bench.md describes the messages of a measurer",
                ));
            }
        }
    }
    for text in &args.model {
        beds.push(model::find(text, &interrupted)?);
    }
    let identity = Identity::of(&inputs.sum());
    let wanted = Wanting {
        traffics: &traffics,
        rate,
        longest_delay,
        identity: &identity,
        interrupted: &interrupted,
    };
    let measured = match measured(args, &wanted) {
        Ok(measured) => measured,
        Err(_) if interrupted.load(Ordering::SeqCst) => return Ok(ExitCode::from(INTERRUPTED)),
        Err(Lacking::Machine(why)) => {
            say(&why);
            return Ok(ExitCode::from(UNSUPPORTED));
        }
        Err(Lacking::Usage(why)) => return Err(anyhow!(why)),
    };
    beds.extend(measured.beds);
    if let Some(counts) = args.metrics.serve(BenchCounts::default)? {
        beds = beds.into_iter().map(|bed| counts.around(bed)).collect();
    }
    let note = if is_virtual(args) {
        machines::find_or_usual(args.machine.as_deref())?.1
    } else {
        None
    };
    let code = carry_out(BenchJob {
        note: note.clone(),
        beds,
        tests,
        traffics,
        search,
        tester: measured.tester,
        identity,
        is_quick: args.quick,
        expected,
        profile,
        out: args.out.wanted(),
        json: args.json,
        interrupted,
    })?;
    if let Some(note) = note {
        say(&format!("note: {note}"));
    }
    Ok(code)
}

/// How many devices are given.
fn devices(args: &Args) -> usize {
    let configurations = configurations(args);
    let files = configurations.iter().map(|(files, _)| files.len());
    files.sum::<usize>()
        + args.measurer.len()
        + args.model.len()
        + args.dut.len()
        + usize::from(args.ports.is_some())
}

/// All that decides what trials come to besides the tests and what they offer.
fn inputs(args: &Args) -> Inputs {
    let mut inputs = Inputs::default();
    inputs.add(&this_machine::facts());
    inputs.add(&(&args.estimate, &args.simulate, &args.ring, &args.model));
    inputs.add(&(&args.dut, &args.ports, args.by, args.timed_by, args.bridged));
    inputs.add(&(&args.longest_delay, args.real_time, &args.rate, args.quick));
    let machine = machines::find_or_usual(args.machine.as_deref());
    inputs.add(&machine.ok().map(|(machine, _)| machine));
    let configurations = configurations(args);
    let files = configurations.iter().flat_map(|(files, _)| files.iter());
    files.for_each(|file| inputs.file(file.as_ref()));
    args.measurer
        .iter()
        .for_each(|command| inputs.command(command));
    for dut in &args.dut {
        match dut {
            Dut::Click(file) => inputs.file(file),
            Dut::Command(command) => inputs.command(command),
            Dut::NetFpga(card) => {
                card.tables().into_iter().for_each(|file| inputs.file(file));
            }
            Dut::Wire | Dut::Kernel | Dut::Filtered(_) | Dut::Bridge => {}
        }
    }
    inputs
}

fn longest_delay(args: &Args) -> anyhow::Result<Span> {
    let time = super::durations::parse(&args.longest_delay).map_err(|why| anyhow!("{why}"))?;
    let seconds = time.as_secs_f64();
    if !(0.0..=3600.0).contains(&seconds) {
        return Err(anyhow!(
            "`--longest-delay {}`: give at most an hour",
            args.longest_delay
        ));
    }
    Ok(Span::from_secs_f64(seconds))
}

/// What devices under real frames are tried with.
struct Wanting<'a> {
    traffics: &'a [Traffic],
    rate: f64,
    longest_delay: Span,
    identity: &'a Identity,
    interrupted: &'a Arc<AtomicBool>,
}

/// Devices under real frames, and what the tester can do.
#[derive(Default)]
struct Measured {
    beds: Vec<Box<dyn Testbed>>,
    tester: Option<SelfTest>,
}

/// Why there are none.
enum Lacking {
    /// A wish that cannot be met anywhere.
    Usage(String),
    /// The machine lacks a right, an interface or a program.
    Machine(String),
}

impl From<Error> for Lacking {
    fn from(error: Error) -> Lacking {
        match error {
            Error::Invalid(why) => Lacking::Usage(why),
            error => Lacking::Machine(match error.mend() {
                Some(mend) => format!("{error}; try: {mend}"),
                None => error.to_string(),
            }),
        }
    }
}

/// Builds what --dut and --ports ask for, after the tester has measured itself.
fn measured(args: &Args, wanted: &Wanting<'_>) -> Result<Measured, Lacking> {
    let Wanting {
        traffics,
        interrupted,
        ..
    } = *wanted;
    if args.dut.is_empty() && args.ports.is_none() {
        return Ok(Measured::default());
    }
    let way = args.by.way();
    let given = args.ports.as_ref().map(|[a, b]| {
        let port = |name, side| Port::of_rfc2544(name, way, side, args.ipv6, !args.bridged);
        [port(a, Side::Input), port(b, Side::Output)]
    });
    // What cannot be opened, read or had is told before the tester takes its time to measure
    // itself.
    for dut in &args.dut {
        dut.interfaces().map_err(Lacking::Usage)?;
    }
    if let Some(ports) = &given {
        Tester::open(ports.clone())?.time_tags(args.timed_by.wish())?;
    }
    let threads = Threads {
        priority: args.real_time.then_some(PRIORITY),
        ..Threads::default()
    };
    if args.real_time {
        may_run_first()?;
    }
    let (trial, waits) = if args.quick {
        (self_test::QUICK, Waits::QUICK)
    } else {
        (self_test::FULL, Waits::FULL)
    };
    let out = args.out.wanted();
    let kept = out.and_then(|out| journal::tester(&out.dir, wanted.identity));
    let tested = match kept.filter(|kept| kept.is_of(way, traffics, trial)) {
        Some(kept) => kept,
        None => {
            say("the tester measures itself against a wire");
            let bar = progress::bar(self_test::trials(traffics));
            let done = || progress::step(&bar);
            let measured = SelfTest::measure(way, traffics, trial, threads, &done, interrupted);
            bar.finish_and_clear();
            measured?.ok_or_else(|| Lacking::Machine("interrupted".to_owned()))?
        }
    };
    tested.sentences().iter().for_each(|sentence| say(sentence));
    let setting = |ports| Setting {
        ports,
        line_bps: wanted.rate,
        waits,
        longest_delay: wanted.longest_delay,
        threads,
        timed_by: args.timed_by.wish(),
        tester: Some(tested.clone()),
        interrupted: Arc::clone(interrupted),
    };
    let mut beds: Vec<Box<dyn Testbed>> = Vec::new();
    for dut in &args.dut {
        let wish = Wish {
            dut: dut.clone(),
            traffics: traffics.to_vec(),
            way,
            is_bridged: args.bridged,
            own: own_program(),
        };
        let bed = built_device::bed(&wish, setting)?;
        beds.push(Box::new(bed));
    }
    if let Some(ports) = given {
        let [a, b] = ports.each_ref().map(|port| &port.interface);
        let device = Given(format!("the device between {a} and {b}"));
        let bed = Ports::open(setting(ports), Box::new(device))?;
        beds.push(Box::new(bed));
    }
    Ok(Measured {
        beds,
        tester: Some(tested),
    })
}

/// Whether a thread of this process may run before all others; tried by one that does nothing else.
fn may_run_first() -> Result<(), Lacking> {
    let tried = std::thread::spawn(|| real_time(PRIORITY)).join();
    match tried {
        Ok(Ok(())) => Ok(()),
        Ok(Err(why)) => Err(Lacking::Machine(format!(
            "`--real-time`: {why}; run as root, or with the right `CAP_SYS_NICE`"
        ))),
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// `A,B` as two names.
fn two(text: &str) -> Result<[String; 2], String> {
    match text.split_once(',') {
        Some((a, b)) if !a.is_empty() && !b.is_empty() && a != b && !b.contains(',') => {
            Ok([a, b].map(str::to_owned))
        }
        _ => Err("give the names of two interfaces: A,B".to_owned()),
    }
}

/// Makes a testbed of a configuration, on a machine where it needs one.
type MakeBed = fn(Configuration, Option<&str>) -> anyhow::Result<Box<dyn Testbed>>;

/// Whether any device is a configuration on a machine that is only described.
fn is_virtual(args: &Args) -> bool {
    !args.estimate.is_empty() || !args.simulate.is_empty()
}

/// The configurations that are given, by what is done with them.
fn configurations(args: &Args) -> [(&[String], MakeBed); 3] {
    [
        (&args.estimate, |of, on| {
            Ok(Box::new(Estimated::new(of, machines::find_or_usual(on)?.0)))
        }),
        (&args.simulate, |of, on| {
            Ok(Box::new(Simulated::new(of, machines::find_or_usual(on)?.0)))
        }),
        (&args.ring, |of, _| Ok(Box::new(InMemory::new(of)))),
    ]
}

/// A configuration on the workbench, offered plain frames.
fn workbench(file: &str, inputs: &mut Inputs) -> anyhow::Result<Result<Workbench, Refused>> {
    let source = Source::read(file).map_err(anyhow::Error::msg)?;
    inputs.add(&source.text);
    let made = Workbench::new(&source.text, &source.name, &[], &[samples::plain()]);
    Ok(made.and_then(|bench| match bench.loop_fault() {
        Some(fault) => Err(Refused::Other(format!("{file}: {fault}"))),
        None => Ok(bench),
    }))
}

fn refuse(refused: &Refused) -> anyhow::Result<ExitCode> {
    match refused {
        Refused::Configuration(said) => {
            say(diagnostic::render(said).trim_end_matches('\n'));
            Ok(ExitCode::from(USAGE))
        }
        Refused::Other(text) => Err(anyhow!("{text}")),
    }
}

/// The fastest port, as the fastest link of a scenario.
const FASTEST_BPS: f64 = 1e14;

fn rate(args: &Args) -> anyhow::Result<f64> {
    let rate = Quantity::parse_as(&args.rate, &[Dimension::Rate])?.value;
    if rate > FASTEST_BPS {
        anyhow::bail!(
            "`--rate {}`: frames in flight would fill memory; give at most 100 Tbit/s",
            args.rate
        );
    }
    if rate <= 0.0 {
        return Err(anyhow!("`--rate {}`: give a rate above 0", args.rate));
    }
    Ok(rate)
}

/// The tests with their settings: those of the command line, then those of a quick run, then the
/// defaults.
fn tests(args: &Args) -> anyhow::Result<Vec<(&'static Entry, Params)>> {
    let mut entries: Vec<&'static Entry> = Vec::new();
    for name in args.tests.iter().map(|name| name.trim()) {
        let named = match name {
            ALL => procedures::FAMILY.all(),
            name => vec![test(name)?],
        };
        let news = named.into_iter().filter(|new| {
            let is_same = |known: &&Entry| known.about.name == new.about.name;
            !entries.iter().any(is_same)
        });
        let news: Vec<_> = news.collect();
        entries.extend(news);
    }
    for given in &args.set {
        let (name, _) = split(given)?;
        let set = test(name)?.about.name;
        // How throughput is searched matters to all tests that are made at it.
        if set != THROUGHPUT && !entries.iter().any(|entry| entry.about.name == set) {
            return Err(anyhow!(
                "`--set {given}` has no effect, since the test `{set}` does not run; add it to \
                 `--tests`"
            ));
        }
    }
    let with_settings = |entry| Ok((entry, settings(args, entry)?));
    entries.into_iter().map(with_settings).collect()
}

/// The test called `name`.
fn test(name: &str) -> anyhow::Result<&'static Entry> {
    procedures::FAMILY.get(name).map_err(|unknown| {
        let remedy = Family::Test.remedy(&unknown);
        anyhow!("{}; {remedy}", unknown.what())
    })
}

/// `TEST.NAME=VALUE` as the test and the rest.
fn split(given: &str) -> anyhow::Result<(&str, (&str, &str))> {
    let parts = given
        .split_once('.')
        .and_then(|(test, rest)| Some((test, rest.split_once('=')?)));
    parts.with_context(|| {
        format!(
            "`--set {given}` is not a setting; write it as TEST.NAME=VALUE, \
                                   for example throughput.width=0.01"
        )
    })
}

fn settings(args: &Args, entry: &'static Entry) -> anyhow::Result<Params> {
    let value = |name: &str, value: &str| (name.to_owned(), Value::Text(value.to_owned()));
    let mut given = Vec::new();
    for text in &args.set {
        let (test, (name, text)) = split(text)?;
        if entry.about.answers_to(test) {
            given.push(value(name, text));
        }
    }
    for (name, text) in entry.quick.iter().filter(|_| args.quick) {
        if !given.iter().any(|(known, _)| known == name) {
            given.push(value(name, text));
        }
    }
    Params::resolve(&entry.about, &given).map_err(|faults| {
        let faults: Vec<String> = faults.iter().map(ToString::to_string).collect();
        anyhow!("`{}`: {}", entry.about.name, faults.join("; "))
    })
}

/// What is expected, of tests that are made.
fn expected(args: &Args, tests: &[(&'static Entry, Params)]) -> anyhow::Result<Vec<Expectation>> {
    for expected in &args.expect {
        let is_made =
            |(entry, _): &(&Entry, Params)| entry.about.name == expected.test().about.name;
        if !tests.iter().any(is_made) {
            return Err(anyhow!(
                "`--expect {expected}`: `{}` is not among the tests; add it to `--tests`",
                expected.test().about.name
            ));
        }
    }
    Ok(args.expect.clone())
}

/// The profile to write, and the clock that it is of.
fn profile(
    args: &Args,
    devices: usize,
    tests: &[(&'static Entry, Params)],
) -> anyhow::Result<Option<Wanted>> {
    let Some(path) = args.profile.clone() else {
        return Ok(None);
    };
    if devices != 1
        || !tests
            .iter()
            .any(|(entry, _)| entry.about.name == "throughput")
    {
        return Err(anyhow!(
            "`--profile` needs one device and the test `throughput`"
        ));
    }
    let clock_hz = match &args.clock {
        Some(text) => Quantity::parse_as(text, &[Dimension::Frequency])?.value,
        None if is_virtual(args) => {
            let (machine, _) = machines::find_or_usual(args.machine.as_deref())?;
            machine.clock_hz
        }
        None => {
            return Err(anyhow!(
                "`--profile` of a real device needs the clock of the core that does the work: \
                 `--clock 3.5GHz`"
            ));
        }
    };
    whole_file::may_replace(&path, |bytes| {
        let text = std::str::from_utf8(bytes);
        text.is_ok_and(|text| CapacityProfile::parse(text).is_ok())
    })?;
    Ok(Some(Wanted { path, clock_hz }))
}

/// How throughput is searched, for itself and for the tests that are made at it.
fn search(args: &Args) -> anyhow::Result<Search> {
    Ok(Search::of(&settings(args, test(THROUGHPUT)?)?))
}

fn traffics(args: &Args) -> anyhow::Result<Vec<Traffic>> {
    let sizes: Vec<Sizes> = if args.frame_sizes.is_empty() {
        ETHERNET
            .into_iter()
            .map(Sizes::of)
            .collect::<Result<_, _>>()?
    } else {
        args.frame_sizes
            .iter()
            .map(|text| text.parse())
            .collect::<Result<_, _>>()?
    };
    let traffic = |((sizes, streams), networks): ((&Sizes, u32), u32)| Traffic {
        protocol: if args.ipv6 {
            Protocol::Ip6
        } else {
            Protocol::Ip4
        },
        directions: if args.both_ways {
            Directions::Both
        } else {
            Directions::OneWay
        },
        streams,
        networks,
        burst: args.burst,
        modifier: args.modifier.map(|modified| match modified {
            Modified::Broadcast => Modifier::Broadcast,
            Modified::Management => Modifier::Management,
            Modified::RoutingUpdates => Modifier::RoutingUpdates,
        }),
        seed: args.seed,
        ..Traffic::of(sizes.clone())
    };
    let with_streams = |sizes| args.streams.iter().map(move |streams| (sizes, *streams));
    let with_networks = |of| args.networks.iter().map(move |networks| (of, *networks));
    let all = sizes.iter().flat_map(with_streams).flat_map(with_networks);
    Ok(all.map(traffic).collect())
}
