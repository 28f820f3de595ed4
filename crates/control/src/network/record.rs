//! Puts together what a simulation of routers finds: episodes, outages, probes, control packets.

use super::report::{AtEnd, Episode, Probes, Report, Traffic};
use super::settings::Change;
use trammel_core::{Span, Time};

/// What becomes of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Its sender does not work.
    NotSent,
    /// It arrives.
    Arrives,
    /// It is lost though a working path is there.
    Lost,
    /// It goes round.
    Loops,
    /// It is lost, and no working path is there.
    CutOff,
}

/// What a control packet is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A HELLO.
    Hello,
    /// A link-state update.
    Lsu,
    /// ARP or ICMP.
    Other,
}

/// Outages of one pair of subnets, each since when.
#[derive(Debug, Clone, Copy, Default)]
struct Outage {
    black_hole: Option<Time>,
    looped: Option<Time>,
}

/// What a simulation of routers found so far.
///
/// A simulation looks at intervals: it gives the fate of the probe of each pair with
/// [`Recorder::fate`] and ends the look with [`Recorder::look`]. A look without fates is like the
/// one before.
#[derive(Debug)]
pub struct Recorder {
    outages: Vec<Outage>,
    /// The probes of one look, as fates have them now.
    look: Probes,
    is_all_well: bool,
    /// The look since which all is well.
    restored: Option<Time>,
    episode: Episode,
    traffic: Traffic,
    /// Control packets and computations before this episode.
    before: (Traffic, u64),
    episodes: Vec<Episode>,
}

impl Recorder {
    /// Of a run that starts at instant 0, with `pairs` of subnets between which probes go.
    pub fn new(pairs: usize) -> Recorder {
        Recorder {
            outages: vec![Outage::default(); pairs],
            look: Probes::default(),
            is_all_well: false,
            restored: None,
            episode: episode(Time::ZERO, None, "start".to_owned()),
            traffic: Traffic::default(),
            before: (Traffic::default(), 0),
            episodes: Vec::new(),
        }
    }

    /// A control packet of `bytes` with its IP header was sent on a link.
    pub fn sent(&mut self, kind: Kind, bytes: u64) {
        let traffic = &mut self.traffic;
        let (packets, sum) = match kind {
            Kind::Hello => (&mut traffic.hellos, &mut traffic.hello_bytes),
            Kind::Lsu => (&mut traffic.lsus, &mut traffic.lsu_bytes),
            Kind::Other => (&mut traffic.others, &mut traffic.other_bytes),
        };
        *packets += 1;
        *sum += bytes;
    }

    /// A broken link or router swallowed a packet.
    pub fn swallowed(&mut self) {
        self.traffic.lost += 1;
    }

    /// A router's table changed.
    pub fn table_changed(&mut self, now: Time) {
        self.episode.settled = now - self.episode.at;
    }

    /// Begins a look whose fates are to be given: those of all pairs.
    pub fn begin_look(&mut self) {
        self.look = Probes::default();
        self.is_all_well = true;
    }

    /// The fate of the probe of `pair` at this look.
    pub fn fate(&mut self, now: Time, pair: usize, fate: Fate) {
        let (is_lost, is_looped) = (fate == Fate::Lost, fate == Fate::Loops);
        self.is_all_well &= !is_lost && !is_looped;
        self.look.sent += u64::from(fate != Fate::NotSent);
        self.look.lost += u64::from(is_lost);
        self.look.looped += u64::from(is_looped);
        self.look.cut_off += u64::from(fate == Fate::CutOff);
        let outage = &mut self.outages[pair];
        let episode = &mut self.episode;
        let now = now.max(episode.at);
        note(
            &mut outage.black_hole,
            is_lost,
            now,
            &mut episode.black_hole,
        );
        note(&mut outage.looped, is_looped, now, &mut episode.looped);
    }

    /// Ends a look.
    pub fn look(&mut self, now: Time) {
        self.episode.probes.add(&self.look);
        let since = self.restored.unwrap_or(now.max(self.episode.at));
        self.restored = self.is_all_well.then_some(since);
    }

    /// Begins an episode. Outages that go on count anew. `spf_runs` are the computations of paths
    /// so far.
    pub fn begin(&mut self, now: Time, change: Change, cause: String, spf_runs: u64) {
        self.end_episode(now, spf_runs);
        self.episode = episode(now, Some(change), cause);
        self.is_all_well = false;
    }

    /// Ends the run.
    pub fn finish(mut self, now: Time, spf_runs: u64, routers: Vec<AtEnd>) -> Report {
        self.end_episode(now, spf_runs);
        Report {
            episodes: self.episodes,
            routers,
            traffic: self.traffic,
            spf_runs,
            end: now,
        }
    }

    fn end_episode(&mut self, now: Time, spf_runs: u64) {
        let mut ended = self.episode.clone();
        for outage in &mut self.outages {
            close(&mut outage.black_hole, now, &mut ended.black_hole);
            close(&mut outage.looped, now, &mut ended.looped);
        }
        ended.restored = self.restored.take().map(|at| at - ended.at);
        ended.traffic = self.traffic.since(&self.before.0);
        ended.spf_runs = spf_runs - self.before.1;
        self.before = (self.traffic, spf_runs);
        self.episodes.push(ended);
    }
}

/// Begins or ends an outage.
fn note(since: &mut Option<Time>, is_out: bool, now: Time, longest: &mut Span) {
    if !is_out {
        close(since, now, longest);
    } else if since.is_none() {
        *since = Some(now);
    }
}

fn close(since: &mut Option<Time>, now: Time, longest: &mut Span) {
    if let Some(since) = since.take() {
        *longest = (*longest).max(now - since);
    }
}

fn episode(at: Time, change: Option<Change>, cause: String) -> Episode {
    Episode {
        at,
        change,
        cause,
        settled: Span::ZERO,
        restored: None,
        black_hole: Span::ZERO,
        looped: Span::ZERO,
        probes: Probes::default(),
        traffic: Traffic::default(),
        spf_runs: 0,
    }
}
