//! A path in user space between two network namespaces: the router's own elements, in a namespace
//! between them.
//!
//! ```text
//! sender ── s0 ═ a ── Classifier ─┬─ Queue ─ LinkUnqueue ─ LossModel ─┬─ b ═ r0 ── receiver
//!                                 └──────────── signalling ───────────┘
//! ```
//! Signalling goes past the queue, the delay and the loss: the streams have these to themselves.
//! Frames come by AF_XDP, each as it comes: a packet socket would hand them over in blocks, by a
//! timer of a millisecond. The router is woken for them, before other programs where that is
//! allowed; what it is late by is not in the delay, up to that of the path.

use crate::lacking::lacking;
use anyhow::{anyhow, bail};
use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use trammel_core::entry::Value;
use trammel_driver::machine::Machine;
use trammel_ground::Unsupported;
use trammel_io::clock::{real_time, wall_ns};
use trammel_io::error::Error;
use trammel_io::netns::{Namespace, veth};
use trammel_packet::timestamp::Timestamp;
use trammel_router::diagnostic;
use trammel_router::engine::Options;
use trammel_router::engine::driver::Progress;
use trammel_router::lang;
use trammel_router::{BuiltIn, load};
use trammel_scenario::check::told;
use trammel_scenario::path::Direction;
use trammel_scenario::plugin::Plugin;
use trammel_scenario::traffic::Path;
use trammel_scenario::traffic::refusals::of_path;
use trammel_traffic::signal::PORT;

/// Where the sender and the receiver are.
const ADDRESSES: [&str; 2] = ["10.0.0.1", "10.0.0.2"];
/// The receiver's address.
pub(super) const RECEIVER: &str = ADDRESSES[1];
/// The priority among those that run before all others: below the sender's, whose packets it waits
/// for.
const PRIORITY: u8 = 40;
/// Rounds of the router between two looks whether to stop.
const ROUNDS: u64 = 256;
/// The longest that the router waits for frames before it looks whether to stop.
const SLICE_NS: i64 = 50_000_000;
/// Frames that wait for a device, which is never the bottleneck.
const DEVICE_QUEUE: u32 = 10_000;

/// Three namespaces in a row.
#[derive(Debug)]
pub(super) struct Bed {
    /// Where packets are sent.
    pub(super) sender: Namespace,
    middle: Namespace,
    /// Where they are received.
    pub(super) receiver: Namespace,
    configuration: String,
    seed: u64,
}

impl Bed {
    /// The bed of `path`, whose losses are drawn from `seed`.
    pub(super) fn new(path: &Path, seed: u64) -> anyhow::Result<Bed> {
        let configuration = configuration(path)?;
        let made = || -> Result<[Namespace; 3], Error> {
            let all = [Namespace::new()?, Namespace::new()?, Namespace::new()?];
            let [sender, middle, receiver] = &all;
            veth(sender, "s0", middle, "a")?;
            veth(receiver, "r0", middle, "b")?;
            for (namespace, name) in [
                (sender, "s0"),
                (middle, "a"),
                (middle, "b"),
                (receiver, "r0"),
            ] {
                namespace.set_offloads(name, false)?;
                namespace.set_mtu(name, path.line.mtu)?;
            }
            let ends = [(sender, "s0", ADDRESSES[0]), (receiver, "r0", ADDRESSES[1])];
            for (namespace, name, address) in ends {
                namespace.add_address(name, &format!("{address}/24"))?;
            }
            // Who is where is known: nothing is asked over the path.
            for ((here, name, _), (there, other, address)) in
                [(ends[0], ends[1]), (ends[1], ends[0])]
            {
                if let Some(mac) = there.link(other)?.mac {
                    here.add_neighbour(name, address, mac)?;
                }
            }
            Ok(all)
        };
        let [sender, middle, receiver] = made().map_err(|error| lacking(&error))?;
        Ok(Bed {
            sender,
            middle,
            receiver,
            configuration,
            seed,
        })
    }

    /// Runs the path until `stop` is set, before other programs if `is_real_time`; `ready` hears
    /// that it runs, or why it does not.
    pub(super) fn run(
        &self,
        is_real_time: bool,
        stop: &AtomicBool,
        ready: &mpsc::Sender<anyhow::Result<()>>,
    ) {
        let ready = ready.clone();
        self.middle.run(move || {
            let options = lang::Options {
                classes: Some(&BuiltIn),
                ..lang::Options::default()
            };
            let run = Options {
                seed: self.seed,
                ..Options::default()
            };
            if is_real_time {
                // Whether it may was asked before.
                let _ = real_time(PRIORITY);
            }
            let machine = Box::new(Machine::silent());
            let loaded = load(&self.configuration, "path", &options, machine, run);
            let mut router = match loaded {
                Ok((router, _)) => router,
                Err(refused) => {
                    let text = diagnostic::render(&refused.said);
                    let why = if refused.lacks {
                        Unsupported::error(text.trim_end(), "run it as root")
                    } else {
                        anyhow!("{}", text.trim_end())
                    };
                    // Nobody hears it where the measurement is over already.
                    let _ = ready.send(Err(why));
                    return;
                }
            };
            let _ = ready.send(Ok(()));
            // Where nothing comes it waits so long.
            let soon = || Timestamp(wall_ns() + SLICE_NS);
            while !stop.load(Ordering::Relaxed)
                && router.run_rounds(Some(soon()), ROUNDS) == Progress::Running
            {}
            router.cleanup();
        });
    }
}

/// The router's configuration of `path`, or what of it is not emulated.
fn configuration(path: &Path) -> anyhow::Result<String> {
    let faults = of_path(path);
    if !faults.is_empty() {
        bail!(told(&faults));
    }
    let line = &path.line;
    let mut text = String::new();
    // The packet that is being sent is not in the router's queue.
    let queue = path.queue_packets().saturating_sub(1).max(1);
    let ways = [
        ("a", "b", 36, line.rate, Direction::Data),
        ("b", "a", 34, line.ack_rate, Direction::Ack),
    ];
    for (from, to, port_at, rate, way) in ways {
        let losing = line.loss.as_ref();
        let losing =
            losing.filter(|loss| loss.direction == way || loss.direction == Direction::Both);
        let loss = losing.map_or(String::new(), |loss| loss_of(&loss.model));
        writeln!(
            text,
            "FromDevice({from}, METHOD afxdp, PROMISC true) -> {from}_what :: Classifier(12/0800 \
             23/06 {port_at}/{PORT:04x}, -);
{from}_what[0] -> {to}_out :: Queue({DEVICE_QUEUE}) -> ToDevice({to}, METHOD afxdp);
{from}_what[1] -> Queue({queue}) -> LinkUnqueue({}s, {}Bps, TIMED true){loss} -> {to}_out;",
            path.delay.as_secs_f64(),
            rate.as_bps() / 8,
        )
        .expect("a string takes any text");
    }
    Ok(text)
}

/// The element that loses as `model` does.
fn loss_of(model: &Plugin) -> String {
    let mut text = format!(" -> LossModel(MODEL {}", model.name);
    for (key, value) in &model.given {
        let value = match value {
            Value::Float(number) => number.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Bool(is_on) => is_on.to_string(),
            Value::Text(word) => word.clone(),
            Value::Floats(all) => {
                let all: Vec<String> = all.iter().map(f64::to_string).collect();
                all.join(" ")
            }
            Value::Time(time) => time.as_secs_f64().to_string(),
            Value::Rate(rate) => rate.as_bps().to_string(),
            Value::Bytes(bytes) => bytes.to_string(),
        };
        let _ = write!(text, ", {} {value}", key.to_uppercase());
    }
    text.push(')');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_scenario::traffic::TrafficFile;
    use trammel_workbench::names;

    fn of(keys: &str) -> Result<String, String> {
        let text = format!(
            "subject = 'traffic'\n[path]\nrate = '8 Mbit/s'\ndelay = '20 ms'\n{keys}\n[[stream]]\n\
             rate = 1\n"
        );
        let file = TrafficFile::parse(
            "t",
            &text,
            std::path::Path::new("."),
            &trammel_scenario::Reading::default(),
        );
        configuration(&file.expect("it is right").first().path).map_err(|why| why.to_string())
    }

    #[test]
    fn a_path_is_a_configuration_that_the_router_takes() {
        for (keys, wanted) in [
            (
                "loss = { probability = 0.01 }",
                "PROBABILITY 0.01) -> b_out",
            ),
            (
                "loss = { model = 'gilbert-elliott', p = 0.01, r = 0.1, direction = 'ack' }",
                "-> a_out",
            ),
            (
                "queue.limit = 50",
                "Queue(49) -> LinkUnqueue(0.02s, 1000000Bps, TIMED true)",
            ),
        ] {
            let text = of(keys).expect(keys);
            assert!(text.contains(wanted), "{text}");
            let options = lang::Options {
                classes: Some(&BuiltIn),
                ..lang::Options::default()
            };
            let said = trammel_router::check(&text, "path", &options, names::here());
            assert!(!said.has_errors(), "{}", diagnostic::render(&said));
        }
    }

    #[test]
    fn what_is_not_emulated_is_refused_by_its_key() {
        for (keys, said) in [
            ("jitter = '1 ms'", "path.jitter"),
            ("queue.discipline = 'codel'", "path.queue.discipline"),
            ("queue.limit = '10 kB'", "path.queue.limit"),
        ] {
            let refused = of(keys).expect_err(keys);
            assert!(refused.contains(said), "{refused}");
        }
    }
}
