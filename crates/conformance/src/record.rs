//! Records what a variant does: a controller around it that keeps a sample for every ACK.
//!
//! The recorder is a variant of its own, registered for as long as the program runs. What it wraps
//! is set for the thread that builds the network, so that cases run on several threads.

use crate::mutant::Mutation;
use crate::series::{STATES, Series};
use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use trammel_core::entry::{About, Params};
use trammel_tcp::cc::{
    AckFlags, AckSample, CaEvent, CaState, CongestionControl, Entry, INFINITE_SSTHRESH,
    LostSegment, PathModel, Phase, RateSample, Tp,
};

/// The recorder's name as a variant.
pub(crate) const NAME: &str = "conformance-recorder";

static ENTRY: Entry = Entry {
    about: About {
        name: NAME,
        aliases: &[],
        summary: "records another variant for `trammel conformance`",
        references: &[],
        params: &[],
    },
    build: |_| Box::new(Recorder::new()),
};

/// Most samples that a recorder keeps; a run of a case has far fewer.
const MOST: usize = 1 << 21;

thread_local! {
    static WRAPPED: RefCell<Option<Wrapped>> = const { RefCell::new(None) };
}

/// What the recorders of a thread wrap, and where they put their samples: a log for each.
struct Wrapped {
    entry: &'static Entry,
    params: Params,
    mutation: Option<Mutation>,
    logs: Vec<Log>,
}

type Log = Arc<Mutex<Series>>;

/// Records `entry` with `params` while `run` builds and runs a network on this thread. Returns what
/// `run` returns, and the series of the recorder that saw most.
pub(crate) fn recorded<T>(
    (entry, params): (&'static Entry, Params),
    mutation: Option<Mutation>,
    run: impl FnOnce() -> T,
) -> (T, Series) {
    trammel_tcp::cc::register(&ENTRY).expect("no variant has this name");
    WRAPPED.set(Some(Wrapped {
        entry,
        params,
        mutation,
        logs: Vec::new(),
    }));
    let made = run();
    let logs = WRAPPED.take().map_or_else(Vec::new, |one| one.logs);
    let series = logs.iter().map(|log| {
        let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *log)
    });
    // The receiver of a flow has a controller too, which sees next to nothing.
    let series = series.max_by_key(|series| series.times.len());
    let mut series = series.unwrap_or_default();
    series.close();
    (made, series)
}

/// A controller that records another.
#[derive(Debug)]
struct Recorder {
    inner: Box<dyn CongestionControl>,
    log: Log,
}

impl Recorder {
    fn new() -> Recorder {
        WRAPPED.with_borrow_mut(|wrapped| {
            let wrapped = wrapped
                .as_mut()
                .expect("a recorder is built within `recorded` only");
            let mut inner = (wrapped.entry.build)(&wrapped.params);
            if let Some(mutation) = wrapped.mutation {
                inner = mutation.around(inner);
            }
            let log = Log::default();
            wrapped.logs.push(Arc::clone(&log));
            Recorder { inner, log }
        })
    }

    fn record(&self, tp: &Tp, rs: Option<&RateSample>) {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if log.times.len() == MOST {
            return;
        }
        let known = |value: u32, unknown: u32| {
            if value == unknown {
                f64::NAN
            } else {
                f64::from(value)
            }
        };
        let rate = |rs: &RateSample| {
            if rs.interval_us > 0 && rs.delivered > 0 {
                rs.delivered as f64 * f64::from(tp.mss) * 8e6 / rs.interval_us as f64
            } else {
                f64::NAN
            }
        };
        let pacing = tp.pacing_rate;
        let mut values = vec![
            ("cwnd_pkts", f64::from(tp.snd_cwnd)),
            ("ssthresh_pkts", known(tp.snd_ssthresh, INFINITE_SSTHRESH)),
            ("srtt_us", f64::from(tp.srtt_us >> 3)),
            ("rtt_min_us", known(tp.min_rtt_us, u32::MAX)),
            ("in_flight_pkts", f64::from(tp.packets_in_flight())),
            (
                "pacing_bps",
                if pacing == u64::MAX {
                    f64::NAN
                } else {
                    pacing as f64 * 8.0
                },
            ),
            ("acked_bytes", tp.bytes_acked as f64),
            ("delivered_pkts", tp.delivered as f64),
            ("lost_pkts", tp.lost as f64),
            ("ce_pkts", tp.delivered_ce as f64),
        ];
        if let Some(rs) = rs {
            values.push(("delivery_bps", rate(rs)));
            values.push(("app_limited", f64::from(u8::from(rs.is_app_limited))));
        }
        let mut in_phase = "";
        for (name, value) in self.inner.observe() {
            match name {
                "state" => in_phase = phase(value),
                // A bound of 0 is none.
                "bw_lo_pps" | "inflight_hi" | "inflight_lo" => {
                    let has = value > 0.0;
                    values.push((name, if has { value } else { f64::NAN }));
                    if name == "bw_lo_pps" {
                        values.push(("bounded", f64::from(u8::from(has))));
                    }
                }
                _ => values.push((name, value)),
            }
        }
        let state = STATES[tp.ca_state as usize];
        log.push(tp.now_us as f64 / 1e6, &values, in_phase, state);
    }
}

/// The name of the phase whose number a variant observes as `state`.
fn phase(number: f64) -> &'static str {
    Phase::ALL.get(number as usize).map_or("", |one| one.name())
}

impl CongestionControl for Recorder {
    fn init(&mut self, tp: &mut Tp) {
        self.inner.init(tp);
    }
    fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
        self.inner.ssthresh(tp)
    }
    fn cong_avoid(&mut self, tp: &mut Tp, ack: u32, acked: u32) {
        self.inner.cong_avoid(tp, ack, acked);
        self.record(tp, None);
    }
    fn set_state(&mut self, tp: &mut Tp, new: CaState) {
        self.inner.set_state(tp, new);
    }
    fn cwnd_event(&mut self, tp: &mut Tp, event: CaEvent) {
        self.inner.cwnd_event(tp, event);
        let is_telling = matches!(
            event,
            CaEvent::CompleteCwr | CaEvent::Loss | CaEvent::CwndRestart | CaEvent::TxStart
        );
        if is_telling {
            self.record(tp, None);
        }
    }
    fn in_ack_event(&mut self, tp: &mut Tp, flags: AckFlags) {
        self.inner.in_ack_event(tp, flags);
        if !self.inner.has_cong_control() {
            self.record(tp, None);
        }
    }
    fn pkts_acked(&mut self, tp: &mut Tp, sample: &AckSample) {
        self.inner.pkts_acked(tp, sample);
    }
    fn undo_cwnd(&mut self, tp: &mut Tp) -> u32 {
        self.inner.undo_cwnd(tp)
    }
    fn has_cong_control(&self) -> bool {
        self.inner.has_cong_control()
    }
    fn cong_control(&mut self, tp: &mut Tp, rs: &RateSample) {
        self.inner.cong_control(tp, rs);
        self.record(tp, Some(rs));
    }
    fn wants_flight(&self) -> bool {
        self.inner.wants_flight()
    }
    fn lost(&mut self, tp: &mut Tp, segment: &LostSegment) {
        self.inner.lost(tp, segment);
    }
    fn path_model(&self, tp: &Tp) -> PathModel {
        self.inner.path_model(tp)
    }
    fn needs_ecn(&self) -> bool {
        self.inner.needs_ecn()
    }
    fn needs_accurate_ecn(&self) -> bool {
        self.inner.needs_accurate_ecn()
    }
    fn sends_ect1(&self) -> bool {
        self.inner.sends_ect1()
    }
    fn min_cwnd(&self, tp: &Tp) -> u32 {
        self.inner.min_cwnd(tp)
    }
    fn sndbuf_expand(&self) -> u32 {
        self.inner.sndbuf_expand()
    }
    fn min_tso_segs(&self, tp: &Tp) -> u32 {
        self.inner.min_tso_segs(tp)
    }
    fn observe(&self) -> Vec<(&'static str, f64)> {
        self.inner.observe()
    }
}
