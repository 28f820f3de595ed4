//! Whether guests of a kernel run here: each finding says what was tried and how it went.

use crate::boot::{BOOT_TIME, Error, Limits, Machine};
use crate::job::{Answer, GuestFlow, GuestJob, Host, Route, Way, Wire};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use trammel_io::qdisc::{Cake, Codel, Kind, Loss, Netem, Red, Tbf};

/// The congestion controls of a guest's kernel.
pub const CONGESTION: [&str; 17] = [
    "bbr",
    "bic",
    "cdg",
    "cubic",
    "dctcp",
    "highspeed",
    "htcp",
    "hybla",
    "illinois",
    "lp",
    "nv",
    "reno",
    "scalable",
    "vegas",
    "veno",
    "westwood",
    "yeah",
];
/// A guest that takes longer does not work.
const TIME: Duration = Duration::from_secs(120);
/// The shortest and the longest run, in virtual time.
const SHORT_NS: i64 = 1_000_000_000;
const LONG_NS: i64 = 100_000_000_000;
/// Bytes a second of the path.
const RATE: u64 = 12_500_000;

/// Something that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What is to be.
    pub what: &'static str,
    /// How it is, or why it is not.
    pub came: Result<String, String>,
}

/// Tries it all, and tells each finding as it is made; those that failed follow from each other
/// less the further up they are. Where guests cannot run on this machine at all, that is an error,
/// and nothing else is tried.
pub fn check(
    machine: &Machine,
    interrupted: &(dyn Fn() -> bool + Sync),
    told: &mut dyn FnMut(&Finding),
) -> Result<bool, Error> {
    let limits = Limits {
        memory_mib: 512,
        time: TIME,
        interrupted,
    };
    let tries: [(&'static str, Try); 7] = [
        ("a guest boots", &boots),
        ("100 virtual seconds pass", &passes),
        ("every congestion control is there", &congestion),
        ("every queue is there", &queues),
        ("two runs are the same to the last byte", &repeats),
        ("and a third one while all processors are busy", &busy),
        ("nothing is left of a guest", &leaves_nothing),
    ];
    let mut is_well = true;
    machine.try_boot(BOOT_TIME, interrupted)?;
    for (what, attempt) in tries {
        let came = match attempt(machine, &limits) {
            Err(error @ (Error::Interrupted | Error::Unable { .. })) => return Err(error),
            came => came.map_err(|why| why.to_string()),
        };
        is_well &= came.is_ok();
        told(&Finding { what, came });
    }
    Ok(is_well)
}

type Try<'a> = &'a dyn Fn(&Machine, &Limits<'_>) -> Result<String, Error>;

fn took(started: Instant) -> String {
    format!("in {:.2} s", started.elapsed().as_secs_f64())
}

fn boots(machine: &Machine, limits: &Limits<'_>) -> Result<String, Error> {
    let started = Instant::now();
    machine.run(&job(bucket(), &["reno"], 1), limits)?;
    Ok(took(started))
}

fn passes(machine: &Machine, limits: &Limits<'_>) -> Result<String, Error> {
    let mut job = job(bucket(), &["reno"], 1);
    job.duration_ns = LONG_NS;
    (job.sample_ns, job.queue_ns) = (SHORT_NS, SHORT_NS);
    // Nothing is sent for most of the time.
    job.flows[0].bytes = Some(1_000_000);
    let started = Instant::now();
    machine.run(&job, limits)?;
    Ok(took(started))
}

fn congestion(machine: &Machine, limits: &Limits<'_>) -> Result<String, Error> {
    let mut job = job(bucket(), &CONGESTION, 1);
    // A first packet that is lost is tried again after a second, or three.
    job.duration_ns = 10 * SHORT_NS;
    silent(&machine.run(&job, limits)?)?;
    Ok(CONGESTION.join(", "))
}

fn queues(machine: &Machine, limits: &Limits<'_>) -> Result<String, Error> {
    let codel = Codel {
        limit: 1000,
        target_us: 5000,
        interval_us: 100_000,
        ecn: true,
        ce_threshold_us: None,
    };
    let kinds = [
        Kind::Pfifo { limit: 100 },
        Kind::Bfifo { limit: 100_000 },
        Kind::Codel(codel),
        Kind::FqCodel {
            codel,
            flows: 1024,
            quantum: 1514,
            memory_limit: 4 << 20,
        },
        Kind::Pie {
            limit: 1000,
            target_us: 15_000,
            update_us: 15_000,
            alpha: 2,
            beta: 20,
            ecn: true,
        },
        Kind::Red(Red {
            limit: 100_000,
            min: 10_000,
            max: 30_000,
            weight_log: 9,
            idle: (0, vec![0; 256]),
            probability: 0.1,
            ecn: true,
            hard_drop: false,
            adaptive: false,
        }),
        Kind::FqPie {
            limit: 10_240,
            flows: 1024,
            target_us: 15_000,
            update_us: 15_000,
            alpha: 2,
            beta: 20,
            quantum: 1514,
            ecn_percent: Some(10),
            by_bytes: false,
        },
        Kind::Cake(Cake {
            rate: 1_000_000,
            diffserv: 1,
            flow_mode: 7,
            rtt_us: 100_000,
            target_us: 5000,
            framing: Some((40, 0, 1)),
            ack_filter: 1,
            ingress: false,
            memory: 0,
        }),
        Kind::Fq {
            limit: 1000,
            flow_limit: 100,
            quantum: 3028,
            initial_quantum: 15_140,
        },
    ];
    for kind in kinds {
        silent(&machine.run(&job(kind, &["cubic"], 1), limits)?)?;
    }
    Ok("netem, tbf, pfifo, bfifo, codel, fq_codel, pie, red, fq_pie, cake, fq".to_owned())
}

fn repeats(machine: &Machine, limits: &Limits<'_>) -> Result<String, Error> {
    let job = lossy();
    same(&machine.run(&job, limits)?, &machine.run(&job, limits)?)
}

fn busy(machine: &Machine, limits: &Limits<'_>) -> Result<String, Error> {
    let job = lossy();
    let first = machine.run(&job, limits)?;
    let is_over = AtomicBool::new(false);
    let again = std::thread::scope(|scope| {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..processors {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let again = machine.run(&job, limits);
        is_over.store(true, Ordering::Relaxed);
        again
    })?;
    same(&first, &again)
}

fn leaves_nothing(machine: &Machine, limits: &Limits<'_>) -> Result<String, Error> {
    let before = surroundings();
    machine.run(&job(bucket(), &["reno"], 1), limits)?;
    // And of one that is stopped in the middle.
    let short = Limits {
        time: Duration::ZERO,
        ..*limits
    };
    match machine.run(&job(bucket(), &["reno"], 1), &short) {
        Err(Error::TooLong(_)) => {}
        Err(other) => return Err(other),
        Ok(_) => return Err(Error::Failed("it took no time at all".to_owned())),
    }
    let after = surroundings();
    for (what, (then, now)) in PLACES
        .iter()
        .map(|(what, _)| what)
        .zip(before.iter().zip(&after))
    {
        if then != now {
            return Err(Error::Failed(format!(
                "{what} differ: {now}, before {then}"
            )));
        }
    }
    let all: Vec<&str> = PLACES.iter().map(|(what, _)| *what).collect();
    Ok(format!("{} are as before", all.join(", ")))
}

/// How a place that a guest could leave something at looks.
type Look = fn() -> String;
/// Where a guest could leave something.
const PLACES: [(&str, Look); 4] = [
    ("processes", children),
    ("mounts", || {
        std::fs::read_to_string("/proc/self/mounts").unwrap_or_default()
    }),
    ("interfaces", || names("/sys/class/net")),
    ("files of the temporary folder", || {
        names(&std::env::temp_dir().to_string_lossy())
    }),
];

fn surroundings() -> Vec<String> {
    PLACES.iter().map(|(_, look)| look()).collect()
}

/// The processes that this one has started.
fn children() -> String {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten();
    let of = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.ok()?.path().join("children")).ok()
    };
    tasks.filter_map(of).collect()
}

/// The names of a folder's files that guests have made, or of all of a folder of the kernel's.
fn names(folder: &str) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> = entries
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| folder.starts_with("/sys") || is_of_guest(name))
        .collect();
    names.sort();
    names.join(" ")
}

/// Whether a file is named as a machine in user mode names those that hold its memory and its
/// state.
fn is_of_guest(name: &str) -> bool {
    ["vm_file-", ".uml", "uml"]
        .iter()
        .any(|start| name.starts_with(start))
}

/// Whether two answers are one.
fn same(first: &Answer, again: &Answer) -> Result<String, Error> {
    let segments: u32 = first.flows.iter().map(|flow| flow.end.sent).sum();
    if segments == 0 {
        return Err(Error::Failed("no flow has sent anything".to_owned()));
    }
    if first == again {
        return Ok(format!(
            "{segments} segments, {} samples",
            first
                .flows
                .iter()
                .map(|flow| flow.samples.len())
                .sum::<usize>()
        ));
    }
    Err(Error::Failed("they differ".to_owned()))
}

/// Whether every flow did what it was to.
fn silent(answer: &Answer) -> Result<(), Error> {
    match answer
        .flows
        .iter()
        .find(|flow| flow.failure.is_some() || flow.end.delivered == 0)
    {
        None => Ok(()),
        Some(flow) => Err(Error::Failed(
            flow.failure
                .clone()
                .unwrap_or_else(|| "a flow brought nothing".to_owned()),
        )),
    }
}

fn bucket() -> Kind {
    Kind::Pfifo { limit: 50 }
}

/// Three flows that compete and lose.
fn lossy() -> GuestJob {
    let mut job = job(bucket(), &["cubic", "bbr", "cdg"], 5);
    job.duration_ns = 5 * SHORT_NS;
    if let Some(Kind::Netem(netem)) = &mut job.wires[2].ways[0].queue {
        netem.loss = Loss::Independent(0.002);
    }
    job
}

/// Sender, router with `queue` in a bucket, router with a delay, receiver.
fn job(queue: Kind, congestion: &[&str], seed: u64) -> GuestJob {
    let wire = |ends, first: Option<Way>, second: Option<Way>| Wire {
        ends,
        mtu: 1500,
        offload: false,
        ways: [first.unwrap_or_default(), second.unwrap_or_default()],
    };
    let limited = Way {
        queue: Some(Kind::Tbf(Tbf {
            rate: RATE,
            burst: 3100,
            overhead: 14,
            limit: 100,
        })),
        inner: Some(queue),
        is_watched: true,
        ..Way::default()
    };
    let delayed = || Way {
        queue: Some(Kind::Netem(Netem {
            delay_ns: 10_000_000,
            limit: 100_000,
            seed,
            ..Netem::default()
        })),
        ..Way::default()
    };
    let route = |host, to, by| Route {
        host,
        to,
        by,
        metrics: Vec::new(),
    };
    let flows = congestion.iter().map(|name| GuestFlow {
        from: 0,
        to: (2, 1),
        congestion: (*name).to_owned(),
        stop_ns: i64::MAX,
        ..GuestFlow::default()
    });
    GuestJob {
        seed,
        duration_ns: SHORT_NS,
        sample_ns: 20_000_000,
        queue_ns: 20_000_000,
        read_ns: 50_000_000,
        hosts: vec![Host::default(); 4],
        wires: vec![
            wire([0, 1], None, Some(delayed())),
            wire([1, 2], Some(limited), None),
            wire([2, 3], Some(delayed()), None),
        ],
        routes: vec![
            route(0, 2, 0),
            route(1, 2, 1),
            route(3, 0, 2),
            route(2, 0, 1),
        ],
        flows: flows.collect(),
        ..GuestJob::default()
    }
}
