//! A video call: frames of a camera as datagrams, at a rate that follows delay and loss, and how
//! often the picture freezes.
//!
//! # What it does
//! The other party, at the sending host, encodes 30 frames a second at the rate that is allowed,
//! and sends each as datagrams of up to 1200 bytes at 2.5 times that rate. The user's end sends
//! feedback every 50 ms: the rate that it allows by how delay changes, what of the last second was
//! lost, and which packets are missing; these are sent once more, not sooner again than a round
//! trip after. The rate is the lesser of that by delay and that by loss of draft-ietf-rmcat-gcc-02
//! (with two differences, which `shared/rate_control.rs` names), between `least` and `most`.
//! Browsers' probes at the start are left out: it begins at `first`.
//!
//! A frame is shown once it and all before it are there. One that is not complete after a second is
//! given up, and the next complete one is shown (a key frame costs no more than another here).
//! `delay` is from camera to screen; `stalled` the part of the time in freezes: a frame that stays
//! for 150 ms longer than its interval is one, as in W3C's statistics. `bitrate` is of the frames
//! shown, `overdue` the part of frames never shown, `loss` of datagrams. Audio is another
//! application (`voice`).
//!
//! # Example
//! ```toml
//! duration = "20 s"
//! [path]
//! rate = "3 Mbit/s"
//! rtt = "50 ms"
//! [[app]]
//! kind = "call"
//! ```
//!
//! # Parameters
//! `least`, `most`: 150 kbit/s and 2.5 Mbit/s, as browsers have for 720p (*observed*). `first`
//! (*assumed*).
//!
//! # References
//! Holmer, Lundin, Carlucci, De Cicco and Mascolo, "A Google Congestion Control Algorithm for
//! Real-Time Communication", draft-ietf-rmcat-gcc-02, 2016; Carlucci and others, "Analysis and
//! Design of the Google Congestion Control for WebRTC", MMSys 2016; W3C, "Identifiers for WebRTC's
//! Statistics API", `freezeCount`.

use super::shared::rate_control::{ByDelay, by_loss};
use super::{App, Carrier, Entry, Event, GIVE_UP, Io, MAX_PAYLOAD, Party};
use crate::experience::{Experience, after};
use std::collections::VecDeque;
use trammel_core::entry::{About, Kind, Param, Params};
use trammel_core::time::{Span, Time};

const FRAMES_PER_S: u64 = 30;
const FEEDBACK: Span = Span::from_ms(50);
/// Bytes of a feedback message.
const FEEDBACK_BYTES: u64 = 80;
const PACING: f64 = 2.5;
/// How long an incomplete frame is waited for.
const PATIENCE: Span = Span::from_secs(1);
/// A frame that stays on the screen for this much longer than its interval has frozen.
const FREEZE: Span = Span::from_ms(150);
/// From one look at loss to the next.
const LOSS_WINDOW: Span = Span::from_secs(1);
/// Packets that one feedback names as missing at most.
const MOST_MISSING: usize = 256;
/// Feedback that may be under way, and packets whose frames may still be shown, at most.
const MOST_FEEDBACK: usize = 256;
const MOST_PACKETS: usize = 65_536;
/// How much of a smoothed round trip a new one is.
const NEW: f64 = 0.125;

/// A video call in the table of applications.
pub static ENTRY: Entry = Entry {
    about: About {
        name: "call",
        aliases: &["webrtc"],
        summary: "a video call with rate control: bit rate, freezes, delay of frames",
        references: &[
            "draft-ietf-rmcat-gcc-02",
            "Carlucci et al., MMSys 2016",
            "W3C, Identifiers for WebRTC's Statistics API",
        ],
        params: &[
            Param {
                name: "least",
                kind: Kind::Rate,
                default: "150 kbit/s",
                unit: "bit/s",
                help: "lowest bit rate of the video",
            },
            Param {
                name: "first",
                kind: Kind::Rate,
                default: "1 Mbit/s",
                unit: "bit/s",
                help: "bit rate at the start",
            },
            Param {
                name: "most",
                kind: Kind::Rate,
                default: "2.5 Mbit/s",
                unit: "bit/s",
                help: "highest bit rate of the video",
            },
        ],
    },
    carrier: Carrier::Datagrams,
    connections: |_| 0,
    pace: |params| {
        let packets = params.rate("most").as_bps() as f64 / 8.0 / MAX_PAYLOAD as f64;
        2.0 * (packets + FRAMES_PER_S as f64) + 20.0
    },
    build: |params| Ok(Box::new(Call::new(params)?)),
};

/// A packet of the video, until nobody waits for its frame any more.
#[derive(Clone, Copy, Debug)]
struct Packet {
    /// The frame's number.
    frame: u64,
    bytes: u32,
    /// When it was sent last.
    sent: Time,
    /// Whether it has come, which the user's end knows.
    has_come: bool,
}

/// A frame that is not yet shown.
#[derive(Clone, Copy, Debug)]
struct Frame {
    captured: Time,
    bits: u64,
    /// Packets of it that have not come.
    missing: u32,
}

/// A datagram on its way: which packet it carries.
#[derive(Clone, Copy, Debug)]
struct Flight {
    packet: u64,
    bytes: u32,
}

/// What a feedback message says.
#[derive(Clone, Debug)]
struct Feedback {
    allowed: f64,
    loss: Option<f64>,
    missing: Vec<u64>,
    /// Whether it answers a datagram: when that was sent, and how long ago it had come.
    answers: Option<(Time, Span)>,
}

#[derive(Debug)]
struct Call {
    bounds: (f64, f64),
    /// What the other party has.
    rate: f64,
    by_loss: f64,
    rtt: Span,
    next_frame: Time,
    next_send: Time,
    /// Packets to be sent, the most urgent first.
    queue: VecDeque<u64>,
    packets: VecDeque<Packet>,
    /// The number of the first of `packets`, of `frames` and of `flights`.
    first_packet: u64,
    frames: VecDeque<Frame>,
    first_frame: u64,
    flights: VecDeque<Flight>,
    first_flight: u32,
    feedback: VecDeque<Feedback>,
    first_feedback: u32,
    /// What the user's end has.
    next_feedback: Time,
    by_delay: ByDelay,
    /// The highest packet that has come, and datagram.
    highest: Option<u64>,
    highest_flight: Option<u32>,
    /// Datagrams that came since loss was looked at, the first number that is looked at, and when.
    came: u32,
    looked_from: u32,
    looked: Time,
    last_came: Option<(Time, Time)>,
    /// When the last frame was shown.
    shown: Option<Time>,
    /// Freezes, and how long they were.
    frozen: (u64, Span),
    started: Time,
}

impl Call {
    fn new(params: &Params) -> Result<Call, String> {
        let [least, first, most] =
            ["least", "first", "most"].map(|name| params.rate(name).as_bps() as f64);
        super::within("least", least / 1e3, (10.0, 1e6), "kbit/s")?;
        super::within("most", most / 1e3, (10.0, 1e5), "kbit/s")?;
        if !(least <= first && first <= most) {
            return Err("`first` must lie between `least` and `most`".to_owned());
        }
        Ok(Call {
            bounds: (least, most),
            rate: first,
            by_loss: first,
            rtt: Span::from_ms(100),
            next_frame: Time::MAX,
            next_send: Time::ZERO,
            queue: VecDeque::new(),
            packets: VecDeque::new(),
            first_packet: 0,
            frames: VecDeque::new(),
            first_frame: 0,
            flights: VecDeque::new(),
            first_flight: 0,
            feedback: VecDeque::new(),
            first_feedback: 0,
            next_feedback: Time::MAX,
            by_delay: ByDelay::new(first, (least, most)),
            highest: None,
            highest_flight: None,
            came: 0,
            looked_from: 0,
            looked: Time::ZERO,
            last_came: None,
            shown: None,
            frozen: (0, Span::ZERO),
            started: Time::ZERO,
        })
    }

    fn packet(&mut self, number: u64) -> Option<&mut Packet> {
        let at = number.checked_sub(self.first_packet)?;
        self.packets.get_mut(at as usize)
    }

    /// The camera has a frame.
    fn capture(&mut self, io: &mut Io<'_>) {
        let bits = (self.rate / FRAMES_PER_S as f64).max(8.0);
        let bytes = (bits / 8.0).round() as u64;
        let count = bytes.div_ceil(MAX_PAYLOAD);
        let frame = self.first_frame + self.frames.len() as u64;
        self.frames.push_back(Frame {
            captured: io.now,
            bits: bytes * 8,
            missing: count as u32,
        });
        io.got.begun += u64::from(io.counts());
        for n in 0..count {
            let number = self.first_packet + self.packets.len() as u64;
            self.packets.push_back(Packet {
                frame,
                bytes: (bytes * (n + 1) / count - bytes * n / count) as u32,
                sent: Time::MAX,
                has_come: false,
            });
            self.queue.push_back(number);
        }
        self.next_frame += Span::from_ps(1_000_000_000_000 / FRAMES_PER_S);
    }

    /// Sends the next packet of the queue.
    fn send(&mut self, io: &mut Io<'_>) {
        let (now, counts) = (io.now, io.counts_sent(io.now));
        // Nobody waits any more for a packet that is gone.
        while let Some(number) = self.queue.front().copied()
            && self.packet(number).is_none()
        {
            self.queue.pop_front();
        }
        let Some(number) = self.queue.pop_front() else {
            return;
        };
        let Some(packet) = self.packet(number) else {
            return;
        };
        packet.sent = now;
        let bytes = packet.bytes;
        io.send(Party::Server, u64::from(bytes));
        self.flights.push_back(Flight {
            packet: number,
            bytes,
        });
        if self.flights.len() > MOST_PACKETS {
            self.flights.pop_front();
            self.first_flight += 1;
        }
        io.got.sent += u64::from(counts);
        io.got.lost += u64::from(counts);
        let rate = PACING * self.rate;
        self.next_send = now + Span::from_secs_f64(f64::from(bytes) * 8.0 / rate);
    }

    /// A datagram with a packet has come to the user.
    fn receive(&mut self, number: u32, sent: Time, io: &mut Io<'_>) {
        let at = number.checked_sub(self.first_flight).map(|at| at as usize);
        let Some(flight) = at.and_then(|at| self.flights.get(at)).copied() else {
            return;
        };
        if io.counts_sent(sent) && io.now.saturating_since(sent) <= GIVE_UP {
            io.got.lost -= 1;
        }
        self.by_delay.packet(io.now, sent, flight.bytes);
        self.came += u32::from(number >= self.looked_from);
        self.highest_flight = self.highest_flight.max(Some(number));
        self.last_came = Some((sent, io.now));
        self.highest = self.highest.max(Some(flight.packet));
        if let Some(packet) = self.packet(flight.packet)
            && !packet.has_come
        {
            packet.has_come = true;
            let frame = packet.frame;
            if let Some(at) = frame.checked_sub(self.first_frame)
                && let Some(frame) = self.frames.get_mut(at as usize)
            {
                frame.missing -= 1;
            }
        }
        self.show(io);
    }

    /// Shows what can be shown, and gives up what is too old.
    fn show(&mut self, io: &mut Io<'_>) {
        while let Some(frame) = self.frames.front().copied() {
            let is_complete = frame.missing == 0;
            let is_old = frame.captured + PATIENCE < io.now;
            if !is_complete && !is_old {
                break;
            }
            self.frames.pop_front();
            self.first_frame += 1;
            let counts = frame.captured >= io.since;
            if is_complete {
                io.got.done += u64::from(counts);
                if counts {
                    io.got.media.0 += frame.bits as f64;
                    io.got.delay(io.now.saturating_since(frame.captured));
                }
                let since = self.shown.replace(io.now);
                let freeze = frozen(since.unwrap_or(self.started), io.now, io.since);
                self.frozen.0 += u64::from(freeze > Span::ZERO);
                self.frozen.1 += freeze;
            } else {
                io.got.overdue += u64::from(counts);
            }
        }
        let first = self.first_frame;
        let is_over = |packet: &Packet, held: usize| packet.frame < first || held > MOST_PACKETS;
        while self
            .packets
            .front()
            .is_some_and(|packet| is_over(packet, self.packets.len()))
        {
            self.packets.pop_front();
            self.first_packet += 1;
        }
    }

    /// The user's end tells the other what it has seen.
    fn report(&mut self, io: &mut Io<'_>) {
        self.show(io);
        self.by_delay.update(io.now, self.rtt);
        let mut loss = None;
        if io.now.saturating_since(self.looked) >= LOSS_WINDOW
            && let Some(highest) = self.highest_flight
        {
            let sent = (highest + 1).saturating_sub(self.looked_from);
            if sent > 0 {
                loss = Some((1.0 - f64::from(self.came) / f64::from(sent)).max(0.0));
            }
            (self.came, self.looked_from, self.looked) = (0, highest + 1, io.now);
        }
        let first = self.first_packet;
        let known = self
            .highest
            .map_or(0, |highest| (highest + 1).saturating_sub(first));
        let missing = self.packets.iter().take(known as usize).enumerate();
        let missing = missing.filter(|(_, packet)| !packet.has_come);
        let missing = missing.map(|(at, _)| first + at as u64).take(MOST_MISSING);
        self.feedback.push_back(Feedback {
            allowed: self.by_delay.rate,
            loss,
            missing: missing.collect(),
            answers: self
                .last_came
                .take()
                .map(|(sent, came)| (sent, io.now.saturating_since(came))),
        });
        if self.feedback.len() > MOST_FEEDBACK {
            self.feedback.pop_front();
            self.first_feedback += 1;
        }
        io.send(Party::User, FEEDBACK_BYTES);
        self.next_feedback += FEEDBACK;
    }

    /// Feedback has come to the other party.
    fn hear(&mut self, number: u32, io: &mut Io<'_>) {
        let at = number
            .checked_sub(self.first_feedback)
            .map(|at| at as usize);
        let Some(feedback) = at.and_then(|at| self.feedback.get_mut(at)) else {
            return;
        };
        let Feedback {
            allowed,
            loss,
            answers,
            ..
        } = *feedback;
        let missing = std::mem::take(&mut feedback.missing);
        if let Some((sent, held)) = answers {
            let rtt = io
                .now
                .saturating_since(sent)
                .saturating_sub(held)
                .as_secs_f64();
            let smoothed = self.rtt.as_secs_f64() * (1.0 - NEW) + rtt * NEW;
            self.rtt = Span::from_secs_f64(smoothed);
        }
        if let Some(loss) = loss {
            self.by_loss = by_loss(self.by_loss, loss).clamp(self.bounds.0, self.bounds.1);
        }
        self.rate = allowed
            .min(self.by_loss)
            .clamp(self.bounds.0, self.bounds.1);
        let again = io.now.saturating_sub(self.rtt);
        for number in missing.into_iter().rev() {
            let is_due = |packet: &mut Packet| packet.sent <= again;
            if self.packet(number).is_some_and(is_due) && !self.queue.contains(&number) {
                self.queue.push_front(number);
            }
        }
    }

    /// Does what is due, and asks for the next time.
    fn go_on(&mut self, io: &mut Io<'_>) {
        if io.now < io.stop {
            if self.next_frame <= io.now {
                self.capture(io);
            }
            if self.next_feedback <= io.now {
                self.report(io);
            }
            if self.next_send <= io.now {
                self.send(io);
            }
            let send = if self.queue.is_empty() {
                Time::MAX
            } else {
                self.next_send
            };
            io.wake(self.next_frame.min(self.next_feedback).min(send));
        }
    }
}

/// How long a frame has frozen that was shown from `from` to `to`, after `since`.
fn frozen(from: Time, to: Time, since: Time) -> Span {
    let interval = Span::from_ps(1_000_000_000_000 / FRAMES_PER_S);
    if to.saturating_since(from) >= interval + FREEZE {
        after(since, from, to)
    } else {
        Span::ZERO
    }
}

impl App for Call {
    fn start(&mut self, io: &mut Io<'_>) {
        (self.started, self.looked) = (io.now, io.now);
        (self.next_frame, self.next_feedback) = (io.now, io.now + FEEDBACK);
        self.go_on(io);
    }

    fn on(&mut self, event: Event, io: &mut Io<'_>) {
        match event {
            Event::Timer => {}
            Event::Datagram {
                to: Party::User,
                number,
                sent,
            } => {
                if io.now < io.stop {
                    self.receive(number, sent, io);
                }
                // What it sends next does not depend on it.
                return;
            }
            Event::Datagram { number, .. } => self.hear(number, io),
            Event::Delivered { .. } | Event::Failed { .. } => return,
        }
        self.go_on(io);
    }

    fn end(&self, now: Time, since: Time, got: &mut Experience) {
        let freeze = frozen(self.shown.unwrap_or(self.started), now, since);
        let stalled = self.frozen.1 + freeze;
        got.stalls += self.frozen.0 + u64::from(freeze > Span::ZERO);
        got.stalled += stalled;
        let all = after(since, self.started, now);
        got.media.1 += all.as_secs_f64();
        got.played += all.saturating_sub(stalled);
    }
}
