//! Captures of a run of the kernel: the files of a simulated run, and what its hosts saw.
//!
//! A link's file has what arrives at its ends, as that of a simulated link. `senders` and
//! `receivers` have every packet that passes the interfaces of these hosts, in both directions, as
//! `tcpdump` on such a host has it: there the kernel's own windows and round trips can be read.

use crate::job_of::ScenarioJob;
use anyhow::Context;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::fs::{File, create_dir_all};
use std::io::{self, BufWriter};
use std::path::Path;
use trammel_core::label::Label;
use trammel_kernel::frames::Frame;
use trammel_kernel::job::{Answer, Captured, QueueCounts};
use trammel_packet::capture::link::LinkType;
use trammel_packet::capture::pcapng::Writer;
use trammel_packet::capture::{Frame as Record, Order, Sink};
use trammel_packet::timestamp::Timestamp;
use trammel_report::run_folder::file_name;
use trammel_scenario::check::Fault;
use trammel_scenario::model::{Pcap, Scenario};

/// Files of what hosts saw.
const SENDERS: &str = "senders";
const RECEIVERS: &str = "receivers";
/// Places of a guest at most; each takes 8 MB of its memory.
const MOST_PLACES: usize = 64;
/// Bytes of a frame that are kept: Ethernet's header and those of a packet.
const SNAP_BYTES: u32 = 14 + 20 + 60;

/// What is captured in a guest, by files.
#[derive(Debug)]
pub(super) struct Taps {
    files: Vec<(String, Vec<Tap>)>,
}

/// A place: an interface of a file.
#[derive(Debug)]
struct Tap {
    name: String,
    /// Wire and end.
    at: (usize, usize),
    /// The link whose arrivals alone count, by its number; every packet without one.
    link: Option<usize>,
}

impl Taps {
    /// What `scenario` asks for.
    pub(super) fn of(job: &ScenarioJob, scenario: &Scenario) -> Taps {
        let mut files = Vec::new();
        let is_wanted = |name: &String| match &scenario.pcap {
            Pcap::Off => false,
            Pcap::All => true,
            Pcap::Links(names) => names.contains(name),
        };
        // The way back of a link follows it.
        for (at, pair) in job.links.chunks_exact(2).enumerate() {
            let [there, back] = pair else { continue };
            if !is_wanted(&there.link.name) {
                continue;
            }
            let tap = |number: usize, arrives: (usize, usize)| Tap {
                name: pair[number].link.name.clone(),
                at: arrives,
                link: Some(2 * at + number),
            };
            // What one way brings comes to where the other one begins.
            let taps = vec![tap(0, back.queue), tap(1, there.queue)];
            files.push((there.link.name.clone(), taps));
        }
        if scenario.pcap != Pcap::Off {
            let job = &job.job;
            let sender = |from: usize| {
                let wire = job.wires.iter().position(|wire| wire.ends.contains(&from));
                wire.map(|wire| (wire, usize::from(job.wires[wire].ends[1] == from)))
            };
            let senders = job.flows.iter().filter_map(|flow| sender(flow.from));
            let receivers = job.flows.iter().map(|flow| flow.to);
            files.push(hosts(SENDERS, senders.collect()));
            files.push(hosts(RECEIVERS, receivers.collect()));
        }
        Taps { files }
    }

    /// What stands against it.
    pub(super) fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let mut add = |what: String, why: &str, help: &str| {
            faults.push(Fault {
                place: "pcap".to_owned(),
                what,
                why: why.to_owned(),
                help: help.to_owned(),
            });
        };
        let places = self.places().len();
        if places > MOST_PLACES {
            add(
                format!("captures at {places} places cannot be taken"),
                &format!("each takes memory of a guest, which has room for {MOST_PLACES}"),
                "name fewer links, or leave out engine `measure`",
            );
        }
        let names = || self.files.iter().map(|(name, _)| name);
        for hosts in [SENDERS, RECEIVERS] {
            if names().filter(|name| *name == hosts).count() > 1 {
                add(
                    format!("link `{hosts}` cannot be captured"),
                    "the file of that name is of hosts",
                    "give the link another name",
                );
            }
        }
        faults
    }

    /// The places, each once.
    pub(super) fn places(&self) -> BTreeSet<(usize, usize)> {
        let taps = self.files.iter().flat_map(|(_, taps)| taps);
        taps.map(|tap| tap.at).collect()
    }

    /// Writes the files of `answer` into `folder`; says how much is missing.
    pub(super) fn write(
        &self,
        job: &ScenarioJob,
        answer: &Answer,
        folder: &Path,
        point: &str,
    ) -> anyhow::Result<Option<String>> {
        create_dir_all(folder).with_context(|| format!("`{}`", folder.display()))?;
        for (name, taps) in &self.files {
            let path = folder.join(format!("{point}.{}.pcapng", file_name(name)));
            let of = || format!("`{}`", path.display());
            let file = File::create(&path).with_context(of)?;
            let out = Sink::plain(Box::new(BufWriter::new(file)));
            write(out, taps, job, answer).with_context(of)?;
        }
        let missed: u64 = answer.captures.iter().map(|one| one.missed).sum();
        Ok((missed > 0).then(|| {
            format!(
                "captures of `{point}` lack {missed} packets: a guest has room for a minute of \
                 1 Gbit/s or so; capture a shorter run"
            )
        }))
    }
}

/// The file of some hosts, each with an interface.
fn hosts(name: &str, places: BTreeSet<(usize, usize)>) -> (String, Vec<Tap>) {
    let one = name.trim_end_matches('s');
    let taps = places.into_iter().zip(1..).map(|(at, number)| Tap {
        name: format!("{one} {number}"),
        at,
        link: None,
    });
    (name.to_owned(), taps.collect())
}

fn write(out: Sink, taps: &[Tap], job: &ScenarioJob, answer: &Answer) -> io::Result<()> {
    // Who imports it must not take packets in virtual time for measured ones.
    let by = format!("trammel, {}", Label::LinuxVt.key());
    let mut out = Writer::by(&by, out, Order::Little)?;
    let mut captured: Vec<(&Captured, u64)> = Vec::with_capacity(taps.len());
    let mut queues = Vec::with_capacity(taps.len());
    for tap in taps {
        out.interface(&tap.name, LinkType::EN10MB, SNAP_BYTES)?;
        let mut all = answer.captures.iter();
        let found = all.find(|one| one.at == tap.at);
        captured.push((found.expect("what was asked for was captured"), 0));
        queues.push(tap.link.is_some());
    }
    let mut frames: Vec<_> = captured
        .iter()
        .zip(&queues)
        .map(|((one, _), is_link)| {
            let all = one.frames.iter();
            all.filter(|frame| !*is_link || !frame.is_outgoing)
        })
        .collect();
    // The next frame of each interface, the earliest first.
    let mut next: BinaryHeap<Reverse<(i64, usize)>> = BinaryHeap::new();
    let mut heads: Vec<Option<Frame>> = frames.iter_mut().map(Iterator::next).collect();
    next.extend(
        heads
            .iter()
            .enumerate()
            .filter_map(|(at, head)| Some(Reverse((head.as_ref()?.at_ns, at)))),
    );
    let mut counts = vec![0_u64; taps.len()];
    while let Some(Reverse((_, at))) = next.pop() {
        let following = frames[at].next();
        next.extend(following.as_ref().map(|frame| Reverse((frame.at_ns, at))));
        if let Some(frame) = std::mem::replace(&mut heads[at], following) {
            counts[at] += 1;
            record(&mut out, at as u32, &frame)?;
        }
    }
    let end = Timestamp(job.job.duration_ns);
    for (at, tap) in taps.iter().enumerate() {
        let (received, dropped) = match tap.link {
            Some(link) => passed(job, answer, link),
            None => {
                let missed = captured[at].0.missed;
                (counts[at] + missed, missed)
            }
        };
        out.statistics(at as u32, end, received, dropped)?;
    }
    out.finish()
}

/// Packets that came to link number `link`, and how many of them it dropped or lost.
fn passed(job: &ScenarioJob, answer: &Answer, link: usize) -> (u64, u64) {
    let link = &job.links[link];
    let counts = |at: Option<(usize, usize)>| {
        let way = answer.ways.iter().find(|way| Some(way.at) == at);
        way.map_or(QueueCounts::default(), |way| way.end)
    };
    let (queue, spoil) = (counts(Some(link.queue)), counts(link.spoil));
    (queue.sent + queue.drops, queue.drops + spoil.drops)
}

/// Writes a frame, with an Ethernet header as simulated ones have it.
fn record(out: &mut Writer, interface: u32, frame: &Frame) -> io::Result<()> {
    let header = &frame.header;
    let (Some(length), Some(addresses)) = (header.get(2..4), header.get(12..20)) else {
        return Ok(());
    };
    let mut data = Vec::with_capacity(SNAP_BYTES as usize);
    // Locally administered addresses: 02 and the host's IPv4 address.
    let (from, to) = addresses.split_at(4);
    for address in [to, from] {
        data.extend([0x02, 0]);
        data.extend(address);
    }
    data.extend([0x08, 0x00]);
    let wire_len = data.len() as u32 + u32::from(u16::from_be_bytes([length[0], length[1]]));
    data.extend(header);
    out.write(&Record {
        timestamp: Timestamp(frame.at_ns.max(0)),
        interface,
        link: LinkType::EN10MB,
        wire_len,
        data: &data,
        comment: "",
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job_of::job_of;
    use crate::on_host;
    use trammel_kernel::frames::Frames;
    use trammel_kernel::job::WaySeen;
    use trammel_packet::Reader;
    use trammel_scenario::File as Scenarios;

    fn scenario(text: &str) -> Scenario {
        let file = Scenarios::parse("t", text, Path::new(".")).unwrap();
        file.points[0].scenario.clone()
    }

    /// Two links in a row, called `a` and `name`.
    fn network(pcap: &str, name: &str) -> String {
        format!(
            "duration = '1 s'\npcap = {pcap}\n[[host]]\nname = 'x'\n[[host]]\nname = 'y'\n\
             [[host]]\nname = 'z'\n[[link]]\nname = 'a'\nfrom = 'x'\nto = 'y'\nrate = \
             '9 Mbit/s'\ndelay = '1 ms'\n[[link]]\nname = '{name}'\nfrom = 'y'\nto = 'z'\n\
             rate = '9 Mbit/s'\ndelay = '1 ms'\n[[flow]]\nvariant = 'reno'\nfrom = 'x'\n\
             to = 'z'\n"
        )
    }

    #[test]
    fn links_are_captured_where_their_packets_arrive_and_hosts_at_their_interfaces() {
        let one = scenario(&network("['b']", "b"));
        let job = job_of(&one, 1).unwrap();
        let taps = Taps::of(&job, &one);
        let names: Vec<&str> = taps.files.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["b", "senders", "receivers"]);
        let link = &taps.files[0].1;
        assert_eq!((&*link[0].name, &*link[1].name), ("b", "b:back"));
        // Each arrives where the other one's queue is.
        assert_eq!(link[0].at, job.links[3].queue);
        assert_eq!(link[1].at, job.links[2].queue);
        let flow = &job.job.flows[0];
        let (wire, end) = taps.files[1].1[0].at;
        assert_eq!(job.job.wires[wire].ends[end], flow.from);
        assert_eq!(taps.files[2].1[0].at, flow.to);
        // Nothing is asked of a guest before there is a folder.
        assert!(job.job.captures.is_empty());
        let all = scenario(&network("true", "b"));
        let job = job_of(&all, 1).unwrap();
        assert_eq!(Taps::of(&job, &all).files.len(), 4);
        assert_eq!(Taps::of(&job, &all).places().len(), 6);
        let none = scenario(&network("false", "b"));
        let job = job_of(&none, 1).unwrap();
        assert!(Taps::of(&job, &none).places().is_empty());
    }

    #[test]
    fn what_cannot_be_captured_is_refused_at_its_key() {
        let refused = |text: &str| {
            let scenario = scenario(text);
            job_of(&scenario, 1).err().unwrap_or_default()
        };
        assert!(refused(&network("['a']", "senders")).is_empty());
        let faults = refused(&network("true", "senders"));
        assert_eq!(faults[0].place, "pcap");
        assert!(faults[0].what.contains("`senders`"), "{faults:?}");
        // An access link at each end of every flow.
        let many = "duration = '1 s'\npcap = true\n[path]\nrate = '9 Mbit/s'\nrtt = '9 ms'\n\
                    access = { rate = '90 Mbit/s', delay = '1 ms' }\n[[flow]]\nvariant = 'reno'\n\
                    count = 20\n";
        let faults = refused(many);
        assert!(faults[0].why.contains("room for 64"), "{faults:?}");
        let host = scenario(
            "duration = '1 s'\npcap = true\n[path]\nrate = '9 Mbit/s'\nrtt = '9 ms'\n\
             [[flow]]\nvariant = 'reno'\n",
        );
        assert_eq!(on_host::refusals(&host)[0].place, "pcap");
    }

    #[test]
    fn a_link_has_its_arrivals_in_order_and_says_what_it_dropped() {
        let one = scenario(&network("['a']", "b"));
        let job = job_of(&one, 1).unwrap();
        let taps = Taps::of(&job, &one);
        let frame = |at_ns: i64, is_outgoing: bool| {
            let mut header = vec![0_u8; 52];
            header[..4].copy_from_slice(&[0x45, 0, 0x05, 0xdc]);
            header[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 1, 2]);
            Frame {
                at_ns,
                is_outgoing,
                header,
            }
        };
        let captured = |at: (usize, usize), times: &[i64]| Captured {
            at,
            frames: times
                .iter()
                .flat_map(|time| [frame(*time, false), frame(*time + 1, true)])
                .collect::<Frames>(),
            missed: 3,
        };
        let (there, back) = (job.links[0].queue, job.links[1].queue);
        let mut captures = vec![captured(back, &[10, 40]), captured(there, &[20, 30])];
        let others: Vec<_> = taps.places().into_iter().collect();
        captures.extend(
            others
                .iter()
                .filter(|at| **at != there && **at != back)
                .map(|at| captured(*at, &[])),
        );
        let way = WaySeen {
            at: there,
            end: QueueCounts {
                sent: 7,
                drops: 2,
                ..QueueCounts::default()
            },
            ..WaySeen::default()
        };
        let answer = Answer {
            captures,
            ways: vec![way],
            ..Answer::default()
        };
        assert_eq!(passed(&job, &answer, 0), (9, 2));
        let folder = tempfile::tempdir().unwrap();
        let note = taps.write(&job, &answer, folder.path(), "p").unwrap();
        assert!(note.unwrap().contains("lack 12 packets"));
        let file = File::open(folder.path().join("p.a.pcapng")).unwrap();
        let mut reader = Reader::new(Box::new(file)).unwrap();
        let mut all = Vec::new();
        while let Some(frame) = reader.next_frame().unwrap() {
            all.push((frame.timestamp.0, frame.interface, frame.wire_len));
        }
        let wanted = [(10, 0), (20, 1), (30, 1), (40, 0)];
        assert_eq!(all, wanted.map(|(at, number)| (at, number, 1514)));
    }
}
