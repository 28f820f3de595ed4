//! A tester of network devices on real ports: it sends test frames by a plan and says what became
//! of each.
//!
//! ```text
//! Plan ─> course: what the n-th frame is ─┬─> sender ─> port ─ device ─ port ─> checker ─> Observation
//!         schedule: when it is due ───────┘                                        ▲
//!              └───────────────────────────────────────────────────────────────────┘
//! ```
//! A [`Tester`] has two ports ([`port`]), by AF_XDP, packet sockets or live frames. What a frame is
//! follows from its number, when it is due too ([`schedule`]); it carries a [`signature`]. Loads
//! are offered one after the other; counters are read after the last frame and a time for residual
//! ones. Source: RFC 2544, 5180, 4737.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use trammel_core::Span;
//! use trammel_traffic::tester::port::{Port, Way};
//! use trammel_traffic::tester::schedule::Load;
//! use trammel_traffic::addresses::Side;
//! use trammel_traffic::tester::traffic::{Stream, Traffic};
//! use trammel_traffic::tester::{Direction, Plan, Tester};
//!
//! let port = |name, side| Port::of_rfc2544(name, Way::AfPacket, side, false, true);
//! let mut tester = Tester::open([port("eth1", Side::Input), port("eth2", Side::Output)])?;
//! let stop = AtomicBool::new(false);
//! tester.learn(Span::from_secs(5), &stop)?;
//! let second = Load { frames_per_second: 1e5, duration: Span::from_secs(1) };
//! let traffic = Traffic::of(Stream::of_rfc2544(Side::Input, false, 1, &[64]));
//! let plan = Plan::one_way(Direction { traffic, loads: vec![second] });
//! let seen = tester.run(&plan, &stop)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod ceiling;
mod checker;
mod course;
mod end;
pub mod frame;
mod live;
mod neighbours;
pub mod observation;
pub mod port;
mod query;
pub mod schedule;
mod sender;
pub mod signature;
mod threads;
pub mod timing;
pub mod traffic;
mod unevenness;
mod update;
pub mod window;

use crate::pace::Calendar;
use checker::Checker;
use course::Course;
use end::{End, Shared};
use frame::{FCS_BYTES, Link, head_bytes};
use live::Live;
use observation::{DirectionSeen, Observation, Stamps};
use port::{Port, Way};
use schedule::{Load, Schedule};
use sender::Sender;
use signature::Signature;
use std::collections::BTreeSet;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU16, AtomicUsize, Ordering};
pub use threads::Threads;
use timing::Tagged;
use traffic::Traffic;
use trammel_core::time::{Span, Time};
use trammel_io::clock::{monotonic_ns, wall_ns};
use trammel_io::error::{Error, Result};
use trammel_io::stamper::By;

/// From when a run is told to begin until its first frame: long enough for its threads to be there.
const LEAD_NS: i64 = 20_000_000;
/// From one learning frame to the next where nobody answers.
const ASK_AGAIN_NS: i64 = 200_000_000;

/// What is sent from one port to the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Direction {
    /// The frames.
    pub traffic: Traffic,
    /// How many a second, one load after the other.
    pub loads: Vec<Load>,
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// From the first port to the second, and back; at least one of them.
    pub directions: [Option<Direction>; 2],
    /// How long is waited for residual frames after the last was sent.
    //= rfc2544 §23
    //# d) Wait for two seconds for any residual frames to be received.
    pub residual: Span,
    /// How the ports' threads run.
    pub threads: Threads,
    /// How long after the end of the last load sending is given up, where it is: what is not sent
    /// by then never is, and so less was sent than intended. Without it, a port goes on until all
    /// has been sent.
    pub stretch: Option<Span>,
    /// Frames of the first direction whose latencies are told one by one.
    pub tags: Option<Tags>,
}

/// Frames whose latencies are told one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tags {
    /// The first of them is the first that is due then or later.
    pub from: Time,
    /// How many there are at most, evenly spread over the frames that are left.
    pub frames: u32,
}

impl Plan {
    /// From the first port to the second, with RFC 2544's two seconds for residual frames.
    pub fn one_way(direction: Direction) -> Plan {
        Plan {
            directions: [Some(direction), None],
            residual: Span::from_secs(2),
            threads: Threads::default(),
            stretch: None,
            tags: None,
        }
    }
}

/// A direction that was looked over.
struct Prepared<'a> {
    traffic: &'a Traffic,
    course: Course,
    schedule: Schedule,
}

/// What was seen of both directions.
type Seen = [Option<DirectionSeen>; 2];

/// What both ways of running a plan need.
struct Parties<'a> {
    prepared: &'a [Option<Prepared<'a>>; 2],
    run: u16,
    calendar: Calendar,
    shared: &'a Shared<'a>,
    stretch_ns: Option<i64>,
    tags: Option<Tags>,
}

impl Parties<'_> {
    /// What the signatures of a port's frames have in common.
    fn signature(&self, port: usize) -> Signature {
        Signature {
            run: self.run,
            port: port as u8,
            stream: 0,
            sequence: 0,
            sent_ns: 0,
        }
    }
}

/// Two open ports.
#[derive(Debug)]
pub struct Tester {
    ports: [Port; 2],
    ends: [End; 2],
}

impl Tester {
    /// Opens two ports. Needs `CAP_NET_RAW`, and for other ways than packet sockets the right to
    /// load programs.
    pub fn open(ports: [Port; 2]) -> Result<Tester> {
        let are_live = ports.each_ref().map(|port| port.way == Way::Live);
        if are_live[0] != are_live[1] {
            return Err(Error::Invalid(format!(
                "ports `{}` and `{}`: a program counts live frames, so both ports must be live, or \
                 none",
                ports[0].interface, ports[1].interface
            )));
        }
        let ends = [End::open(&ports[0])?, End::open(&ports[1])?];
        Ok(Tester { ports, ends })
    }

    /// Chooses by what tagged frames are timed from now on; says by what, which is the tester
    /// itself where the answer is none.
    pub fn time_tags(&mut self, wish: timing::TimedBy) -> Result<Option<By>> {
        let stampers = timing::open(&self.ports, wish)?;
        let by = stampers.as_ref().map(|[leaving, _]| leaving.by());
        for (end, stamper) in self
            .ends
            .iter_mut()
            .zip(stampers.map_or([None, None], |both| both.map(Some)))
        {
            end.stamper = stamper;
        }
        Ok(by)
    }

    /// Sends learning frames from both ports, and asks for the device's Ethernet addresses until
    /// both are known, `patience` is over, or `stop` is set. To be done before a run, and again
    /// when the device may have forgotten.
    pub fn learn(&mut self, patience: Span, stop: &AtomicBool) -> Result<()> {
        let calendar = Calendar::now();
        let patience_ns = i64::try_from(patience.as_ns()).unwrap_or(i64::MAX);
        let until = monotonic_ns().saturating_add(patience_ns);
        let mut ask_ns = 0;
        loop {
            let now = monotonic_ns();
            if now >= ask_ns {
                ask_ns = now + ASK_AGAIN_NS;
                for end in &mut self.ends {
                    end.learn().map_err(failed("send a learning frame"))?;
                }
            }
            for end in &mut self.ends {
                end.listen(None, calendar)
                    .map_err(failed("read what has come"))?;
            }
            let unknown = |end: &&mut End| end.host.device.is_some() && end.device_mac.is_none();
            let Some(end) = self.ends.iter_mut().find(unknown) else {
                return Ok(());
            };
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            if now >= until {
                let device = end.host.device.unwrap_or(end.host.address);
                return Err(Error::Kernel {
                    what: format!(
                        "the device at `{}` does not answer for {device}",
                        end.name()
                    ),
                    source: io::Error::new(
                        io::ErrorKind::TimedOut,
                        "is it up, and is that its address?",
                    ),
                });
            }
            end.wait(ask_ns.min(now + 1_000_000))
                .map_err(failed("wait for frames"))?;
        }
    }

    /// Tells which frames of the first direction are tagged, and who times them.
    fn tag(
        &mut self,
        tags: Tags,
        prepared: &Prepared<'_>,
        signature: &Signature,
        sender: &mut Sender,
        checker: &mut Checker,
    ) -> Result<Tagged> {
        let Prepared {
            traffic,
            course,
            schedule,
        } = prepared;
        let first = course.tests(schedule.first_due(tags.from));
        let left = course.tests(schedule.frames()) - first;
        let tagged = Tagged::of(tags.frames, first, left);
        checker.tag(tagged);
        if let Some(stamper) = &mut self.ends[1].stamper {
            let heads = traffic.streams.iter().map(traffic::Stream::is_ipv6);
            // A driver may take tags out.
            let at = heads.flat_map(|is_ipv6| {
                [false, true].map(|is_tagged| head_bytes(is_ipv6, is_tagged) as u32)
            });
            let at: BTreeSet<u32> = at.collect();
            timing::hear(stamper, at.into_iter().collect(), signature, tagged)?;
            sender.timed = Some(tagged);
        }
        Ok(tagged)
    }

    /// The latencies of tagged frames as they were timed outside the tester, where they were, in
    /// place of those that it saw.
    fn timed(
        &mut self,
        signature: &Signature,
        tagged: Tagged,
        seen: &mut DirectionSeen,
    ) -> io::Result<()> {
        let [from, to] = &mut self.ends;
        let (Some(leaving), Some(coming)) = (&mut from.stamper, &mut to.stamper) else {
            return Ok(());
        };
        let came = seen.tagged.len();
        seen.tagged = timing::latencies([leaving, coming], signature, tagged)?;
        seen.untimed = came.saturating_sub(seen.tagged.len());
        Ok(())
    }

    /// The headers of frames from a port to the device.
    fn link(&self, from: usize) -> Result<Link> {
        let end = &self.ends[from];
        let to_mac = match end.host.device {
            None => Some(self.ends[1 - from].host.mac),
            Some(_) => end.device_mac,
        };
        let to_mac = to_mac.ok_or_else(|| {
            Error::Invalid(format!(
                "the Ethernet address of the device at `{}` is not known: learn first",
                end.name()
            ))
        })?;
        Ok(Link {
            from_mac: end.host.mac,
            to_mac,
            tag: end.host.tag,
        })
    }

    /// Refuses what cannot be sent, before anything is.
    fn prepare<'p>(&self, plan: &'p Plan) -> Result<[Option<Prepared<'p>>; 2]> {
        let mut prepared = [None, None];
        for (from, direction) in plan.directions.iter().enumerate() {
            let Some(Direction { traffic, loads }) = direction else {
                continue;
            };
            let end = &self.ends[from];
            traffic.check(end.host.tag.is_some())?;
            let most = self
                .ends
                .iter()
                .map(|end| end.most_bytes)
                .min()
                .unwrap_or(0)
                + usize::from(FCS_BYTES);
            if usize::from(traffic.longest()) > most {
                return Err(Error::Invalid(format!(
                    "frames of {} bytes: from `{}` go {most} at most, the check sequence included; \
                     set the MTU, or use another `--by`",
                    traffic.longest(),
                    end.name()
                )));
            }
            if self.ports[from].way == Way::Live {
                live::check(traffic)?;
            }
            let has_beside = traffic.queries.is_some() || traffic.updates;
            if has_beside && end.host.address.is_ipv6() {
                return Err(Error::Invalid(format!(
                    "management queries and routing updates are of IPv4, and port `{}` has {}",
                    end.name(),
                    end.host.address
                )));
            }
            let schedule = Schedule::new(loads, traffic.bursts).ok_or_else(|| {
                Error::Invalid(
                    "a load has to have a rate above 0 and up to 1e9 frames a second".to_owned(),
                )
            })?;
            prepared[from] = Some(Prepared {
                traffic,
                course: Course::new(traffic),
                schedule,
            });
        }
        if prepared.iter().all(Option::is_none) {
            return Err(Error::Invalid("a plan without a direction".to_owned()));
        }
        Ok(prepared)
    }

    /// Sends what `plan` says and checks what comes, until all is over or `stop` is set. A fault of
    /// a port ends the run; what was seen until then is in the answer.
    pub fn run(&mut self, plan: &Plan, stop: &AtomicBool) -> Result<Observation> {
        let prepared = self.prepare(plan)?;
        let calendar = Calendar::now();
        for end in &mut self.ends {
            end.drain(calendar).map_err(failed("read what has come"))?;
            end.take_answers();
        }
        let run = next_run();
        let shared = Shared {
            stop,
            has_failed: AtomicBool::new(false),
            sending: AtomicUsize::new(prepared.iter().flatten().count()),
            over_ns: AtomicI64::new(i64::MAX),
            ended_ns: [const { AtomicI64::new(i64::MAX) }; 2],
            residual_ns: i64::try_from(plan.residual.as_ns()).unwrap_or(i64::MAX),
            threads: plan.threads,
        };
        let parties = Parties {
            prepared: &prepared,
            run,
            calendar,
            shared: &shared,
            stretch_ns: plan
                .stretch
                .map(|stretch| i64::try_from(stretch.as_ns()).unwrap_or(i64::MAX)),
            tags: plan.tags,
        };
        let (directions, worked) = match self.ports[0].way {
            Way::Live => self.by_programs(&parties)?,
            Way::AfXdp | Way::AfPacket => self.by_devices(&parties)?,
        };
        let stamps = match self.ports[1].way {
            Way::AfXdp => Stamps::Reading,
            Way::AfPacket => Stamps::Kernel,
            Way::Live => Stamps::None,
        };
        let clock_step_ns = Calendar::now().date_ns(0).abs_diff(calendar.date_ns(0));
        Ok(Observation {
            directions,
            stamps,
            clock_step: Span::from_ns(clock_step_ns),
            is_interrupted: stop.load(Ordering::Relaxed),
            fault: worked.err().map(|error| error.to_string()),
            remarks: self.ends.iter().flat_map(End::remarks).collect(),
        })
    }

    /// Runs by devices that the ports' threads read and write.
    fn by_devices(&mut self, parties: &Parties<'_>) -> Result<(Seen, io::Result<()>)> {
        let (mut senders, mut checkers, mut tagged) = ([None, None], [None, None], None);
        for (from, prepared) in parties.prepared.iter().enumerate() {
            if let Some(one) = prepared {
                let Prepared {
                    traffic,
                    course,
                    schedule,
                } = one;
                let link = self.link(from)?;
                let (own, signature) = (self.ends[from].host.address, parties.signature(from));
                let mut sender = Sender::new(traffic, course, schedule, link, signature, own);
                sender.stretch_ns = parties.stretch_ns;
                // Frames that come to a port are those of the other one.
                let is_tagged = link.tag.is_some();
                let mut checker = Checker::new(
                    traffic,
                    course,
                    schedule,
                    is_tagged,
                    parties.run,
                    from as u8,
                );
                if let Some(tags) = parties.tags.filter(|_| from == 0) {
                    let own = self.tag(tags, one, &signature, &mut sender, &mut checker)?;
                    tagged = Some((own, signature));
                }
                senders[from] = Some(sender);
                checkers[1 - from] = Some(checker);
            }
        }
        let before = self.ends.each_ref().map(End::counters);
        let start_ns = monotonic_ns() + LEAD_NS;
        for sender in senders.iter_mut().flatten() {
            sender.start(start_ns);
        }
        for checker in checkers.iter_mut().flatten() {
            checker.start(start_ns);
        }
        let (shared, calendar) = (parties.shared, parties.calendar);
        let worked = std::thread::scope(|scope| {
            let ends = self.ends.iter_mut().zip(&mut senders).zip(&mut checkers);
            let threads = ends.zip(0..).map(|(((end, sender), checker), port)| {
                scope.spawn(move || {
                    let worked =
                        end.work(port, sender.as_mut(), checker.as_mut(), calendar, shared);
                    shared
                        .has_failed
                        .fetch_or(worked.is_err(), Ordering::Relaxed);
                    worked
                })
            });
            end::join(threads.collect())
        });
        let after = self.ends.each_ref().map(End::counters);
        let mut directions = [None, None];
        for (from, sender) in senders.iter_mut().enumerate() {
            let (Some(sender), Some(checker)) = (sender, &mut checkers[1 - from]) else {
                continue;
            };
            let (places, queries) = sender.sent();
            let errors = after[from].send_errors - before[from].send_errors;
            let mut seen = checker.finish(places, errors + self.ends[from].unsent() as u64);
            seen.effective = sender.effective();
            seen.lateness = sender.lateness();
            seen.unevenness = sender.unevenness();
            seen.sender_cpu = Span::from_ns(sender.cpu_ns.max(0).cast_unsigned());
            seen.queries.sent = queries;
            seen.queries.received = self.ends[from].take_answers();
            seen.receive_drops = after[1 - from].receive_drops - before[1 - from].receive_drops;
            if let Some((tagged, signature)) = tagged.filter(|_| from == 0) {
                self.timed(&signature, tagged, &mut seen)
                    .map_err(failed("read when tagged frames left and came"))?;
            }
            directions[from] = Some(seen);
        }
        Ok((directions, worked))
    }

    /// Runs by programs in the kernel, while the ports' threads answer.
    fn by_programs(&mut self, parties: &Parties<'_>) -> Result<(Seen, io::Result<()>)> {
        let mut sources = [None, None];
        for (from, prepared) in parties.prepared.iter().enumerate() {
            if let Some(Prepared {
                traffic,
                course,
                schedule,
            }) = prepared
            {
                let (ports, link) = ([&self.ports[from], &self.ports[1 - from]], self.link(from)?);
                let signature = parties.signature(from);
                let opened = Live::open(ports, traffic, course, schedule, &link, &signature)?;
                sources[from] = Some(opened);
            }
        }
        let start_ns = monotonic_ns() + LEAD_NS;
        let worked = live::work(&mut self.ends, &sources, start_ns, parties);
        let mut directions = [None, None];
        for (seen, source) in directions.iter_mut().zip(&sources) {
            let counted = source.as_ref().map(Live::seen).transpose();
            *seen = counted.map_err(failed("read what was counted"))?;
        }
        Ok((directions, worked))
    }
}

/// The number of a run: another one than those that this and other testers had shortly before.
fn next_run() -> u16 {
    static RUNS: AtomicU16 = AtomicU16::new(0);
    let own = RUNS.fetch_add(1, Ordering::Relaxed);
    // A fourth of a millisecond is more than runs that begin one after the other are apart.
    ((wall_ns() >> 18) as u16).wrapping_add(own)
}

/// For `map_err`: what failed.
fn failed(what: &str) -> impl Fn(io::Error) -> Error + '_ {
    move |source| Error::Kernel {
        what: format!("cannot {what}"),
        source,
    }
}
