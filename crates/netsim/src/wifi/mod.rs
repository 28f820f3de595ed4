//! An 802.11g path: an access point, a station and others that contend for one medium (DCF).
//!
//! A model of the distributed coordination function, driven by events and not slot by slot. While
//! the medium is idle every station with a frame counts down its backoff in slots from the end of
//! DIFS (the *anchor*); the next transmission starts at the smallest counter, and stations with
//! equal counters collide. A frame that arrives at an idle medium after its station's counter ran
//! out goes at the next slot. After a frame the station draws a new backoff, also where it has
//! nothing more to send. A frame that collides or is received in error is repeated with a window
//! twice as large, up to the retry limit.
//!
//! An ACK is a frame too: at its basic rate and of its 14 bytes, it is received in error as often
//! as the power at the sender of the data says. A sender that misses the ACK repeats its frame,
//! which the receiver has already and drops by its sequence number (§10.3.2.14), acknowledging it
//! anew; a frame whose every ACK was lost is given up by its sender and was delivered all the same.
//!
//! ```text
//!   … DIFS | slots | data ———————— | SIFS | ACK | DIFS | slots | …
//! ```
//!
//! Both directions of traffic share the medium, so that TCP's ACKs contend with its data. Each end
//! queues its packets before one frame that is on its way.
//!
//! Simplifications: everyone hears everyone; a collision destroys all frames in it; after a failed
//! frame everyone waits for as long as an ACK would have taken (in the standard the sender waits
//! for its ACK timeout and the others for EIFS, of about that length); the rate is chosen once, for
//! the received power, and not by sampling.
//!
//! Sources: IEEE 802.11-2016, §10.3 and §18; Bianchi 2000; Jun, Peddabachagari and Sichitiu 2003.

pub mod phy;

use crate::link::Queue;
use crate::packet::Packet;
use phy::{NOISE_DBM, OfdmRate};
use trammel_core::rng::Rng;
use trammel_core::time::{Span, Time};

const SIFS: Span = Span::from_us(10);
const SHORT_SLOT: Span = Span::from_us(9);
/// Where stations of 802.11b are present.
const LONG_SLOT: Span = Span::from_us(20);
/// MAC header, FCS, LLC and SNAP.
const MAC_BYTES: u32 = 24 + 4 + 8;
const ACK_BYTES: u32 = 14;
/// A CTS that stations of 802.11b understand: long preamble and 14 bytes at 11 Mbit/s.
const CTS_TO_SELF: Span = Span::from_us(192 + 11);

/// How a rate is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RateChoice {
    /// Always this one.
    Fixed(OfdmRate),
    /// The fastest one that loses at most this fraction of full frames at the received power.
    Best(f64),
}

/// What a path over 802.11g is made of. Index 0 is from the access point to the station.
#[derive(Debug)]
pub struct WifiSpec {
    /// Its name; the directions are called `name:down` and `name:up`.
    pub name: String,
    /// Power received at the station and at the access point, dBm. It decides which data frames are
    /// received in error, and which ACKs on the opposite way.
    pub received_dbm: [f64; 2],
    /// Noise at the receivers, noise figure included, dBm.
    pub noise_dbm: f64,
    /// The rate of data frames.
    pub rate: RateChoice,
    /// Whether stations of 802.11b are present: slots of 20 µs, and `cw_min` is usually 31.
    pub long_slot: bool,
    /// Whether each frame is announced to stations of 802.11b.
    pub cts_to_self: bool,
    /// Smallest contention window, slots.
    pub cw_min: u32,
    /// Largest contention window, slots.
    pub cw_max: u32,
    /// Transmissions of a frame before it is dropped.
    pub retry_limit: u32,
    /// Other stations, which always have a frame to send.
    pub contenders: u32,
    /// IP bytes of the contenders' frames.
    pub contender_bytes: u32,
    /// Bytes that packets count for lower layers of a wire, which do not go on the air.
    pub wire_overhead_bytes: u32,
    /// Queue of each end, before the frame that is on its way.
    pub queues: [Queue; 2],
    /// Seed of the path's own random streams.
    pub seed: u64,
}

impl WifiSpec {
    /// A pure 802.11g network of two, 100 packets of queue at both ends.
    pub fn ieee80211g(name: &str, received_dbm: f64) -> WifiSpec {
        let queue = || Queue::DropTail {
            packets: 100,
            bytes: u64::MAX,
        };
        WifiSpec {
            name: name.to_owned(),
            received_dbm: [received_dbm; 2],
            noise_dbm: NOISE_DBM,
            rate: RateChoice::Best(0.1),
            long_slot: false,
            cts_to_self: false,
            cw_min: 15,
            cw_max: 1023,
            retry_limit: 7,
            contenders: 0,
            contender_bytes: 1500,
            wire_overhead_bytes: 14,
            queues: [queue(), queue()],
            seed: 0,
        }
    }
}

/// Counters of a medium since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MediumCounters {
    /// Frames sent, each repetition counted.
    pub transmissions: u64,
    /// Of these, frames that collided.
    pub collided: u64,
    /// Of these, frames that were alone and received in error.
    pub errors: u64,
    /// Frames given up at the retry limit, delivered or not.
    pub given_up: u64,
    /// ACKs that were received in error.
    pub acks_lost: u64,
    /// Frames received again after their ACK was lost, and dropped.
    pub duplicates: u64,
    /// Frames of contenders that were received.
    pub contender_frames: u64,
    /// Time in which frames or ACKs were on the air, ns.
    pub busy_ns: u64,
}

/// A frame that its station tries to send.
#[derive(Debug)]
struct Frame {
    /// Nothing for a contender's.
    packet: Option<Packet>,
    bytes: u32,
    attempts: u32,
    /// It was received and its ACK lost: what is received again is dropped.
    is_delivered: bool,
}

#[derive(Debug)]
struct Station {
    frame: Option<Frame>,
    /// Slots after the anchor at which it may send.
    backoff: u64,
    /// The backoff was counted down without a frame to send.
    is_expired: bool,
    window: u32,
    rate: OfdmRate,
    /// Logarithm of the probability that a bit is decoded.
    ln_bit_success: f64,
    /// Probability that the ACK of its frame reaches it.
    ack_success: f64,
    is_sending: bool,
}

/// What became of a frame of one of the two ends.
#[derive(Clone, Copy, Debug)]
pub struct FrameOutcome {
    /// The packet in it.
    pub packet: Packet,
    /// Whether it was received; otherwise it was given up.
    pub is_received: bool,
}

/// A medium and the stations at it.
#[derive(Debug)]
pub struct Medium {
    stations: Vec<Station>,
    slot: Span,
    difs: Span,
    cw_min: u32,
    cw_max: u32,
    retry_limit: u32,
    cts_to_self: bool,
    contender_bytes: u32,
    wire_overhead_bytes: u32,
    rng: Rng,
    /// Decides on ACKs, apart from all else: a signal that loses none leaves the rest as it was.
    ack_rng: Rng,
    /// When the last frame and its ACK are off the air.
    free_at: Time,
    /// When counting down begins.
    anchor: Time,
    /// End of the frames on the air.
    sending_until: Option<Time>,
    next: Time,
    /// Counters since the start.
    pub counters: MediumCounters,
}

impl Medium {
    /// Puts the medium to work.
    pub fn new(spec: &WifiSpec) -> Medium {
        let slot = if spec.long_slot {
            LONG_SLOT
        } else {
            SHORT_SLOT
        };
        let difs = SIFS + slot * 2;
        let bit_success =
            |rate: OfdmRate, dbm: f64| (-rate.bit_failure_rate(dbm - spec.noise_dbm)).ln_1p();
        let station = |received_dbm: f64, answered_dbm: f64| {
            let snr_db = received_dbm - spec.noise_dbm;
            let rate = match spec.rate {
                RateChoice::Fixed(rate) => rate,
                RateChoice::Best(max_per) => OfdmRate::best(snr_db, 1500 + MAC_BYTES, max_per),
            };
            Station {
                frame: None,
                backoff: 0,
                is_expired: true,
                window: spec.cw_min,
                rate,
                ln_bit_success: bit_success(rate, received_dbm),
                ack_success: decoded(bit_success(rate.control(), answered_dbm), ACK_BYTES),
                is_sending: false,
            }
        };
        let [down, up] = spec.received_dbm;
        let mut stations = vec![station(down, up), station(up, down)];
        // Contenders reach the access point, and it them, as the station does.
        stations.extend((0..spec.contenders).map(|_| station(up, down)));
        let mut medium = Medium {
            stations,
            slot,
            difs,
            cw_min: spec.cw_min,
            cw_max: spec.cw_max,
            retry_limit: spec.retry_limit.max(1),
            cts_to_self: spec.cts_to_self,
            contender_bytes: spec.contender_bytes,
            wire_overhead_bytes: spec.wire_overhead_bytes,
            rng: Rng::new(spec.seed, &format!("wifi:{}", spec.name)),
            ack_rng: Rng::new(spec.seed, &format!("wifi:{}:ack", spec.name)),
            free_at: Time::ZERO,
            anchor: Time::ZERO + difs,
            sending_until: None,
            next: Time::MAX,
            counters: MediumCounters::default(),
        };
        for index in 2..medium.stations.len() {
            medium.draw(index);
            medium.refill(index);
        }
        medium.note_next();
        medium
    }

    /// The rate of data frames in direction `side`.
    pub fn rate(&self, side: usize) -> OfdmRate {
        self.stations[side].rate
    }

    /// Fraction of frames for packets of `ip_bytes` bytes in direction `side` that are received in
    /// error.
    pub fn frame_error_rate(&self, side: usize, ip_bytes: u32) -> f64 {
        1.0 - self.success_rate(side, ip_bytes + MAC_BYTES)
    }

    /// When the medium next has something to do.
    #[inline]
    pub fn next(&self) -> Time {
        self.next
    }

    /// Whether end `side` has no frame on its way.
    #[inline]
    pub fn is_free(&self, side: usize) -> bool {
        self.stations[side].frame.is_none()
    }

    /// End `side`, which is free, has a packet to send at `now`.
    pub fn offer(&mut self, now: Time, side: usize, packet: Packet) {
        debug_assert!(self.is_free(side));
        let bytes = packet.wire_bytes.saturating_sub(self.wire_overhead_bytes) + MAC_BYTES;
        self.stations[side].frame = Some(Frame {
            packet: Some(packet),
            bytes,
            attempts: 0,
            is_delivered: false,
        });
        if self.sending_until.is_some() || now < self.free_at {
            // A busy medium asks for a backoff of a station that has none left to count.
            if self.stations[side].is_expired {
                self.draw(side);
            }
        } else {
            let passed = now
                .saturating_since(self.anchor)
                .as_ps()
                .div_ceil(self.slot.as_ps());
            let station = &mut self.stations[side];
            station.backoff = station.backoff.max(passed);
        }
        self.note_next();
    }

    /// Does what is due; says what became of frames of the two ends.
    pub fn advance(&mut self, now: Time) -> [Option<FrameOutcome>; 2] {
        let mut outcomes = [None, None];
        match self.sending_until {
            None => self.start_sending(now),
            Some(_) => self.end_sending(now, &mut outcomes),
        }
        self.note_next();
        outcomes
    }

    fn note_next(&mut self) {
        self.next = self.sending_until.unwrap_or_else(|| {
            let with_frames = self
                .stations
                .iter()
                .filter(|station| station.frame.is_some());
            let first = with_frames.map(|station| station.backoff).min();
            first.map_or(Time::MAX, |slots| self.anchor + self.slot * slots)
        });
    }

    /// Draws a new backoff.
    fn draw(&mut self, index: usize) {
        let station = &mut self.stations[index];
        station.backoff = self.rng.below(u64::from(station.window) + 1);
        station.is_expired = false;
    }

    fn refill(&mut self, index: usize) {
        let bytes = self.contender_bytes + MAC_BYTES;
        self.stations[index].frame = Some(Frame {
            packet: None,
            bytes,
            attempts: 0,
            is_delivered: false,
        });
    }

    fn success_rate(&self, index: usize, bytes: u32) -> f64 {
        decoded(self.stations[index].ln_bit_success, bytes)
    }

    fn start_sending(&mut self, now: Time) {
        let passed = (now - self.anchor).as_ps() / self.slot.as_ps();
        let mut longest = Span::ZERO;
        for station in &mut self.stations {
            match &mut station.frame {
                Some(frame) if station.backoff == passed => {
                    frame.attempts += 1;
                    station.is_sending = true;
                    longest = longest.max(station.rate.airtime(frame.bytes));
                    self.counters.transmissions += 1;
                }
                _ => {
                    station.is_expired |= station.backoff <= passed;
                    station.backoff = station.backoff.saturating_sub(passed);
                }
            }
        }
        if self.cts_to_self {
            longest += CTS_TO_SELF + SIFS;
        }
        self.sending_until = Some(now + longest);
        self.counters.busy_ns += longest.as_ns();
    }

    fn end_sending(&mut self, now: Time, outcomes: &mut [Option<FrameOutcome>; 2]) {
        let is_alone = self
            .stations
            .iter()
            .filter(|station| station.is_sending)
            .count()
            == 1;
        let mut ack = Span::ZERO;
        let mut is_acknowledged = false;
        for index in 0..self.stations.len() {
            let station = &mut self.stations[index];
            if std::mem::take(&mut station.is_sending) {
                ack = ack.max(station.rate.control().airtime(ACK_BYTES));
                is_acknowledged |= self.end_frame(index, is_alone, outcomes);
            }
        }
        self.sending_until = None;
        self.free_at = now + SIFS + ack;
        self.anchor = self.free_at + self.difs;
        if is_acknowledged {
            self.counters.busy_ns += ack.as_ns();
        }
    }

    /// The frame of station `index` is off the air; says whether it was received, and so an ACK
    /// sent.
    fn end_frame(
        &mut self,
        index: usize,
        is_alone: bool,
        outcomes: &mut [Option<FrameOutcome>; 2],
    ) -> bool {
        let bytes = self.stations[index].frame.as_ref().map(|f| f.bytes);
        let success = self.success_rate(index, bytes.expect("who sends has a frame"));
        let is_received = is_alone && self.rng.unit() < success;
        let station = &mut self.stations[index];
        let is_acknowledged = is_received && self.ack_rng.unit() < station.ack_success;
        let frame = station.frame.as_mut().expect("who sends has a frame");
        let is_given_up = !is_acknowledged && frame.attempts >= self.retry_limit;
        let is_new = is_received && !frame.is_delivered;
        frame.is_delivered |= is_received;
        self.counters.collided += u64::from(!is_alone);
        self.counters.errors += u64::from(is_alone && !is_received);
        self.counters.given_up += u64::from(is_given_up);
        self.counters.acks_lost += u64::from(is_received && !is_acknowledged);
        self.counters.duplicates += u64::from(is_received && !is_new);
        // What becomes of a packet is said once: when it is received first, or when it is given up
        // unseen.
        let is_lost = is_given_up && !frame.is_delivered;
        if let Some(packet) = frame.packet.filter(|_| is_new || is_lost) {
            outcomes[index] = Some(FrameOutcome {
                packet,
                is_received,
            });
        }
        let is_contender = frame.packet.is_none();
        self.counters.contender_frames += u64::from(is_contender && is_new);
        if is_acknowledged || is_given_up {
            station.window = self.cw_min;
            station.frame = None;
            if is_contender {
                self.refill(index);
            }
        } else {
            station.window = (2 * station.window + 1).min(self.cw_max);
        }
        self.draw(index);
        is_received
    }
}

/// Probability that all bits of a frame of `bytes` bytes are decoded, from the logarithm of that of
/// one.
fn decoded(ln_bit_success: f64, bytes: u32) -> f64 {
    (ln_bit_success * f64::from(8 * bytes + 22)).exp()
}

#[cfg(test)]
mod tests;
