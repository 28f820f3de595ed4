//! The structures of `trammel.h` as Rust sees them, and how they follow the sender's state.

use core::ffi::{c_char, c_void};
use trammel_tcp::cc::{AckSample, CaEvent, CaState, LostSegment, RateSample, Tp as Sender};

/// The version of the interface (`TRAMMEL_ABI`).
pub(crate) const ABI: u32 = 1;

/// `struct trammel_tp`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Tp {
    pacing_rate: u64,
    snd_cwnd: u32,
    snd_cwnd_cnt: u32,
    snd_cwnd_clamp: u32,
    snd_ssthresh: u32,
    pacing: u32,

    ca_state: u32,
    now_us: u64,
    delivered: u64,
    delivered_ce: u64,
    delivered_mstamp_us: u64,
    lost: u64,
    app_limited: u64,
    bytes_acked: u64,
    lsndtime_us: u64,
    prior_cwnd: u32,
    packets_out: u32,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    max_packets_out: u32,
    snd_una: u32,
    snd_nxt: u32,
    mss: u32,
    srtt_us: u32,
    min_rtt_us: u32,
    hz: u32,
    ecn_ok: u32,
    is_cwnd_limited: u32,

    host: *mut c_void,
}

impl Tp {
    /// A copy of `tp`, which stays reachable for the functions of [`Host`].
    pub(crate) fn of(tp: &mut Sender) -> Tp {
        let host: *mut Sender = tp;
        Tp {
            pacing_rate: tp.pacing_rate,
            snd_cwnd: tp.snd_cwnd,
            snd_cwnd_cnt: tp.snd_cwnd_cnt,
            snd_cwnd_clamp: tp.snd_cwnd_clamp,
            snd_ssthresh: tp.snd_ssthresh,
            pacing: u32::from(tp.pacing),
            ca_state: state(tp.ca_state),
            now_us: tp.now_us,
            delivered: tp.delivered,
            delivered_ce: tp.delivered_ce,
            delivered_mstamp_us: tp.delivered_mstamp_us,
            lost: tp.lost,
            app_limited: tp.app_limited,
            bytes_acked: tp.bytes_acked,
            lsndtime_us: tp.lsndtime_us,
            prior_cwnd: tp.prior_cwnd,
            packets_out: tp.packets_out,
            sacked_out: tp.sacked_out,
            lost_out: tp.lost_out,
            retrans_out: tp.retrans_out,
            max_packets_out: tp.max_packets_out,
            snd_una: tp.snd_una,
            snd_nxt: tp.snd_nxt,
            mss: tp.mss,
            srtt_us: tp.srtt_us,
            min_rtt_us: tp.min_rtt_us,
            hz: tp.hz,
            ecn_ok: u32::from(tp.ecn_ok),
            is_cwnd_limited: u32::from(tp.is_cwnd_limited()),
            host: host.cast(),
        }
    }

    /// Takes over what a hook may write, within what the stack can bear.
    pub(crate) fn give_back(&self, tp: &mut Sender) {
        tp.pacing_rate = self.pacing_rate;
        tp.snd_cwnd = self.snd_cwnd.max(1);
        tp.snd_cwnd_cnt = self.snd_cwnd_cnt;
        tp.snd_cwnd_clamp = self.snd_cwnd_clamp.max(1);
        tp.snd_ssthresh = self.snd_ssthresh;
        tp.pacing = self.pacing != 0;
    }

    /// The sender behind a hook's argument, brought up to what the hook has written so far.
    ///
    /// # Safety
    ///
    /// `tp` is null, or the argument of the hook that is running, which has it alone.
    unsafe fn sender<'a>(tp: *mut Tp) -> Option<(&'a mut Tp, &'a mut Sender)> {
        // SAFETY: the caller's promise.
        let tp = unsafe { tp.as_mut() }?;
        let host: *mut Sender = tp.host.cast();
        // SAFETY: `of` made it from a borrow that lasts as long as the hook.
        let sender = unsafe { host.as_mut() }?;
        tp.give_back(sender);
        Some((tp, sender))
    }

    fn follow(&mut self, sender: &mut Sender) {
        *self = Tp::of(sender);
    }
}

/// `enum trammel_ca_state`.
pub(crate) fn state(state: CaState) -> u32 {
    match state {
        CaState::Open => 0,
        CaState::Disorder => 1,
        CaState::Cwr => 2,
        CaState::Recovery => 3,
        CaState::Loss => 4,
    }
}

/// `enum trammel_ca_event`.
pub(crate) fn event(event: CaEvent) -> u32 {
    match event {
        CaEvent::TxStart => 0,
        CaEvent::CwndRestart => 1,
        CaEvent::CompleteCwr => 2,
        CaEvent::Loss => 3,
        CaEvent::EcnNoCe => 4,
        CaEvent::EcnIsCe => 5,
        CaEvent::TailLossRepaired => 6,
    }
}

/// `struct trammel_ack_sample`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Ack {
    pkts_acked: u32,
    rtt_us: i32,
    in_flight: u32,
}

impl From<&AckSample> for Ack {
    fn from(sample: &AckSample) -> Ack {
        Ack {
            pkts_acked: sample.pkts_acked,
            rtt_us: sample.rtt_us,
            in_flight: sample.in_flight,
        }
    }
}

/// `struct trammel_rate_sample`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Rate {
    prior_mstamp_us: u64,
    prior_delivered: u64,
    delivered: i64,
    delivered_ce: i64,
    interval_us: i64,
    rtt_us: i64,
    losses: u32,
    acked_sacked: u32,
    prior_in_flight: u32,
    is_app_limited: u32,
    is_retrans: u32,
    is_ack_delayed: u32,
    tx_in_flight: u32,
    lost: u32,
}

impl From<&RateSample> for Rate {
    fn from(rs: &RateSample) -> Rate {
        Rate {
            prior_mstamp_us: rs.prior_mstamp_us,
            prior_delivered: rs.prior_delivered,
            delivered: rs.delivered,
            delivered_ce: rs.delivered_ce,
            interval_us: rs.interval_us,
            rtt_us: rs.rtt_us,
            losses: rs.losses,
            acked_sacked: rs.acked_sacked,
            prior_in_flight: rs.prior_in_flight,
            is_app_limited: u32::from(rs.is_app_limited),
            is_retrans: u32::from(rs.is_retrans),
            is_ack_delayed: u32::from(rs.is_ack_delayed),
            tx_in_flight: rs.tx_in_flight,
            lost: rs.lost,
        }
    }
}

/// `struct trammel_lost_segment`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Segment {
    seq: u32,
    end: u32,
    tx_in_flight: u32,
    lost: u32,
    is_app_limited: u32,
}

impl From<&LostSegment> for Segment {
    fn from(segment: &LostSegment) -> Segment {
        Segment {
            seq: segment.seq,
            end: segment.end,
            tx_in_flight: segment.tx_in_flight,
            lost: segment.lost,
            is_app_limited: u32::from(segment.is_app_limited),
        }
    }
}

/// What a library asks of the stack (`enum trammel_flags`).
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flag {
    NeedsEcn = 1,
    NeedsAccurateEcn = 2,
    SendsEct1 = 4,
}

impl Ops {
    /// Whether the library asks for `flag`.
    pub(crate) fn has(&self, flag: Flag) -> bool {
        self.flags & flag as u32 != 0
    }
}

/// `struct trammel_param`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Param {
    pub(crate) name: *const c_char,
    pub(crate) fallback: f64,
    pub(crate) least: f64,
    pub(crate) most: f64,
    pub(crate) help: *const c_char,
}

/// `struct trammel_variable`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Variable {
    pub(crate) name: *const c_char,
    pub(crate) value: f64,
}

type Object = *mut c_void;

/// `struct trammel_cc`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Ops {
    pub(crate) abi: u32,
    pub(crate) tp_bytes: u32,
    pub(crate) name: *const c_char,
    pub(crate) summary: *const c_char,
    pub(crate) params: *const Param,
    pub(crate) n_params: usize,
    pub(crate) flags: u32,
    pub(crate) create: Option<unsafe extern "C" fn(*const f64) -> Object>,
    pub(crate) destroy: Option<unsafe extern "C" fn(Object)>,
    pub(crate) init: Option<unsafe extern "C" fn(Object, *mut Tp)>,
    pub(crate) ssthresh: Option<unsafe extern "C" fn(Object, *mut Tp) -> u32>,
    pub(crate) cong_avoid: Option<unsafe extern "C" fn(Object, *mut Tp, u32, u32)>,
    pub(crate) set_state: Option<unsafe extern "C" fn(Object, *mut Tp, u32)>,
    pub(crate) cwnd_event: Option<unsafe extern "C" fn(Object, *mut Tp, u32)>,
    pub(crate) pkts_acked: Option<unsafe extern "C" fn(Object, *mut Tp, *const Ack)>,
    pub(crate) undo_cwnd: Option<unsafe extern "C" fn(Object, *mut Tp) -> u32>,
    pub(crate) cong_control: Option<unsafe extern "C" fn(Object, *mut Tp, *const Rate)>,
    pub(crate) lost: Option<unsafe extern "C" fn(Object, *mut Tp, *const Segment)>,
    pub(crate) observe: Option<unsafe extern "C" fn(*const c_void, *mut Variable, usize) -> usize>,
}

/// `struct trammel_host`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct Host {
    abi: u32,
    slow_start: unsafe extern "C" fn(*mut Tp, u32) -> u32,
    cong_avoid_ai: unsafe extern "C" fn(*mut Tp, u32, u32),
    reno_cong_avoid: unsafe extern "C" fn(*mut Tp, u32),
    below: unsafe extern "C" fn(*mut Tp, u64) -> u64,
}

/// What every library is given.
pub(crate) static HOST: Host = Host {
    abi: ABI,
    slow_start,
    cong_avoid_ai,
    reno_cong_avoid,
    below,
};

/// Has the sender behind `tp` do something, and brings `tp` up to what it did.
///
/// # Safety
///
/// As for [`Tp::sender`].
unsafe fn with<T: Default>(tp: *mut Tp, act: impl FnOnce(&mut Sender) -> T) -> T {
    // SAFETY: the caller's promise.
    let Some((tp, sender)) = (unsafe { Tp::sender(tp) }) else {
        return T::default();
    };
    let result = act(sender);
    tp.follow(sender);
    result
}

unsafe extern "C" fn slow_start(tp: *mut Tp, acked: u32) -> u32 {
    // SAFETY: a hook passes its own argument, as the header says.
    unsafe {
        with(tp, |tp| {
            if tp.in_slow_start() {
                tp.slow_start(acked)
            } else {
                acked
            }
        })
    }
}

unsafe extern "C" fn cong_avoid_ai(tp: *mut Tp, w: u32, acked: u32) {
    // SAFETY: a hook passes its own argument, as the header says.
    unsafe { with(tp, |tp| tp.cong_avoid_ai(w.max(1), acked)) }
}

unsafe extern "C" fn reno_cong_avoid(tp: *mut Tp, acked: u32) {
    // SAFETY: a hook passes its own argument, as the header says.
    unsafe { with(tp, |tp| tp.reno_cong_avoid(acked)) }
}

unsafe extern "C" fn below(tp: *mut Tp, n: u64) -> u64 {
    // SAFETY: a hook passes its own argument, as the header says.
    unsafe {
        with(tp, |tp| match n {
            0 => 0,
            n => tp.rng.below(n),
        })
    }
}
