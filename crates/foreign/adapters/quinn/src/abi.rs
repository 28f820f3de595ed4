//! The parts of `trammel.h` (version 1) that the adapter needs, in its order.

use std::ffi::{c_char, c_void};

/// `TRAMMEL_ABI`.
pub const ABI: u32 = 1;
/// `TRAMMEL_CA_LOSS`.
pub const CA_LOSS: u32 = 4;

/// `struct trammel_tp`.
#[repr(C)]
pub struct Tp {
    pub pacing_rate: u64,
    pub snd_cwnd: u32,
    pub snd_cwnd_cnt: u32,
    pub snd_cwnd_clamp: u32,
    pub snd_ssthresh: u32,
    pub pacing: u32,

    pub ca_state: u32,
    pub now_us: u64,
    pub delivered: u64,
    pub delivered_ce: u64,
    pub delivered_mstamp_us: u64,
    pub lost: u64,
    pub app_limited: u64,
    pub bytes_acked: u64,
    pub lsndtime_us: u64,
    pub prior_cwnd: u32,
    pub packets_out: u32,
    pub sacked_out: u32,
    pub lost_out: u32,
    pub retrans_out: u32,
    pub max_packets_out: u32,
    pub snd_una: u32,
    pub snd_nxt: u32,
    pub mss: u32,
    pub srtt_us: u32,
    pub min_rtt_us: u32,
    pub hz: u32,
    pub ecn_ok: u32,
    pub is_cwnd_limited: u32,

    pub host: *mut c_void,
}

/// `struct trammel_rate_sample`.
#[repr(C)]
pub struct RateSample {
    pub prior_mstamp_us: u64,
    pub prior_delivered: u64,
    pub delivered: i64,
    pub delivered_ce: i64,
    pub interval_us: i64,
    pub rtt_us: i64,
    pub losses: u32,
    pub acked_sacked: u32,
    pub prior_in_flight: u32,
    pub is_app_limited: u32,
    pub is_retrans: u32,
    pub is_ack_delayed: u32,
    pub tx_in_flight: u32,
    pub lost: u32,
}

/// `struct trammel_lost_segment`.
#[repr(C)]
pub struct LostSegment {
    pub seq: u32,
    pub end: u32,
    pub tx_in_flight: u32,
    pub lost: u32,
    pub is_app_limited: u32,
}

/// `struct trammel_cc`.
#[repr(C)]
pub struct Cc {
    pub abi: u32,
    pub tp_bytes: u32,
    pub name: *const c_char,
    pub summary: *const c_char,
    pub params: *const c_void,
    pub n_params: usize,
    pub flags: u32,
    pub create: Option<unsafe extern "C" fn(*const f64) -> *mut c_void>,
    pub destroy: Option<unsafe extern "C" fn(*mut c_void)>,
    pub init: Option<unsafe extern "C" fn(*mut c_void, *mut Tp)>,
    pub ssthresh: Option<unsafe extern "C" fn(*mut c_void, *mut Tp) -> u32>,
    pub cong_avoid: Option<unsafe extern "C" fn(*mut c_void, *mut Tp, u32, u32)>,
    pub set_state: Option<unsafe extern "C" fn(*mut c_void, *mut Tp, u32)>,
    pub cwnd_event: Option<unsafe extern "C" fn(*mut c_void, *mut Tp, u32)>,
    pub pkts_acked: Option<unsafe extern "C" fn(*mut c_void, *mut Tp, *const c_void)>,
    pub undo_cwnd: Option<unsafe extern "C" fn(*mut c_void, *mut Tp) -> u32>,
    pub cong_control: Option<unsafe extern "C" fn(*mut c_void, *mut Tp, *const RateSample)>,
    pub lost: Option<unsafe extern "C" fn(*mut c_void, *mut Tp, *const LostSegment)>,
    pub observe: Option<unsafe extern "C" fn(*const c_void, *mut c_void, usize) -> usize>,
}

// The pointers are to constants.
unsafe impl Sync for Cc {}
