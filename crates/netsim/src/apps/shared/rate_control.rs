//! Rate control of a video call by delay and by loss, as draft-ietf-rmcat-gcc-02 has it.
//!
//! Differs from the draft: the detector compares the estimate times the number of groups that it is
//! made of, at most 60, with its threshold, as browsers do; without that a queue that grows by a
//! millisecond a frame is never seen. And loss is looked at once a second.

use std::collections::VecDeque;
use trammel_core::time::{Span, Time};

/// Packets sent within this time are one group.
const BURST: Span = Span::from_ms(5);
/// The window of the incoming rate.
const WINDOW: Span = Span::from_ms(500);
/// How long the path must seem overused, ms.
const OVERUSE_MS: f64 = 10.0;
/// First threshold and its bounds, ms.
const THRESHOLD: f64 = 12.5;
const THRESHOLDS: (f64, f64) = (6.0, 600.0);
/// How fast the threshold rises and falls, 1/ms.
const RISES: f64 = 0.01;
const FALLS: f64 = 0.000_18;
const MOST_GROUPS: f64 = 60.0;
/// What a decrease leaves of the incoming rate, and what of it a target may exceed.
const BETA: f64 = 0.85;
const EXCEEDS: f64 = 1.5;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Hold,
    Increase,
    Decrease,
}

/// A group of packets: when its first was sent, its last was sent, its last came.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: Time,
    sent: Time,
    came: Time,
}

/// The rate that a receiver allows by how the delay of what comes changes.
#[derive(Debug)]
pub(crate) struct ByDelay {
    group: Option<Group>,
    before: Option<Group>,
    groups: f64,
    /// The filter: estimate of the variation of delay, ms, its error, variance of the noise.
    m: f64,
    error: f64,
    noise: f64,
    threshold: f64,
    /// Since when the path seems overused, and the estimate then.
    over: Option<Time>,
    last_m: f64,
    state: State,
    /// What came within the window.
    came: VecDeque<(Time, u32)>,
    /// When the first packet came.
    begun: Option<Time>,
    bytes: u64,
    /// Mean and variance of the incoming rate at decreases, kbit/s.
    converged: Option<(f64, f64)>,
    updated: Time,
    /// The rate, bit/s.
    pub(crate) rate: f64,
    bounds: (f64, f64),
}

impl ByDelay {
    /// Begins with `rate` bit/s, within `bounds`.
    pub(crate) fn new(rate: f64, bounds: (f64, f64)) -> ByDelay {
        ByDelay {
            group: None,
            before: None,
            groups: 0.0,
            m: 0.0,
            error: 0.1,
            noise: 1.0,
            threshold: THRESHOLD,
            over: None,
            last_m: 0.0,
            state: State::Increase,
            came: VecDeque::new(),
            begun: None,
            bytes: 0,
            converged: None,
            updated: Time::ZERO,
            rate,
            bounds,
        }
    }

    /// A packet of `bytes` that was sent at `sent` has come.
    pub(crate) fn packet(&mut self, now: Time, sent: Time, bytes: u32) {
        self.begun.get_or_insert(now);
        self.came.push_back((now, bytes));
        self.bytes += u64::from(bytes);
        let from = now.saturating_sub(WINDOW);
        while let Some((time, bytes)) = self.came.front().copied()
            && time < from
        {
            self.came.pop_front();
            self.bytes -= u64::from(bytes);
        }
        match &mut self.group {
            Some(group) if sent <= group.first + BURST => {
                group.sent = group.sent.max(sent);
                group.came = now;
                return;
            }
            _ => {}
        }
        let complete = self.group.replace(Group {
            first: sent,
            sent,
            came: now,
        });
        let Some(complete) = complete else { return };
        if let Some(before) = self.before.replace(complete) {
            let ms = |to: Time, from: Time| to.as_secs_f64() * 1e3 - from.as_secs_f64() * 1e3;
            let variation = ms(complete.came, before.came) - ms(complete.sent, before.sent);
            let interval = ms(complete.came, before.came).max(0.0);
            self.vary(now, variation, interval);
        }
    }

    /// The delay of a group differs by `variation` ms from that of the group before, `interval` ms
    /// earlier.
    fn vary(&mut self, now: Time, variation: f64, interval: f64) {
        self.groups = (self.groups + 1.0).min(MOST_GROUPS);
        // The Kalman filter of §5.3, for some 30 groups a second.
        let (q, alpha) = (1e-3, 0.95);
        let residual = variation - self.m;
        let clipped = residual.clamp(-3.0 * self.noise.sqrt(), 3.0 * self.noise.sqrt());
        self.noise = (alpha * self.noise + (1.0 - alpha) * clipped * clipped).max(1.0);
        let gain = (self.error + q) / (self.noise + self.error + q);
        self.error = (1.0 - gain) * (self.error + q);
        self.m += gain * residual;
        let seen = self.m * self.groups;
        // §5.4: the detector and its threshold.
        let state = if seen > self.threshold {
            let since = *self.over.get_or_insert(now);
            let lasts = now.saturating_since(since).as_secs_f64() * 1e3 >= OVERUSE_MS;
            (lasts && self.m >= self.last_m).then_some(State::Decrease)
        } else {
            self.over = None;
            let is_under = seen < -self.threshold;
            Some(match (is_under, self.state) {
                (true, _) | (false, State::Decrease) => State::Hold,
                (false, _) => State::Increase,
            })
        };
        self.last_m = self.m;
        if seen.abs() - self.threshold <= 15.0 {
            let speed = if seen.abs() < self.threshold {
                FALLS
            } else {
                RISES
            };
            self.threshold += interval.min(100.0) * speed * (seen.abs() - self.threshold);
            self.threshold = self.threshold.clamp(THRESHOLDS.0, THRESHOLDS.1);
        }
        if let Some(state) = state {
            self.state = state;
            if state == State::Decrease {
                self.over = Some(now);
            }
        }
    }

    /// The incoming rate, bit/s; at first, while less than a window has passed, the allowed one.
    fn incoming(&self, now: Time) -> f64 {
        let passed = self
            .begun
            .map_or(Span::ZERO, |begun| now.saturating_since(begun));
        if passed < WINDOW {
            return self.rate;
        }
        self.bytes as f64 * 8.0 / WINDOW.as_secs_f64()
    }

    /// Brings the rate up to date, for a sender whose round trip is `rtt` (§5.5).
    pub(crate) fn update(&mut self, now: Time, rtt: Span) {
        let passed = now.saturating_since(self.updated).as_secs_f64().min(1.0);
        self.updated = now;
        let incoming = self.incoming(now);
        match self.state {
            State::Hold => {}
            State::Increase => {
                let near = self.converged.is_some_and(|(mean, variance)| {
                    (incoming / 1e3 - mean).abs() <= 3.0 * variance.sqrt().max(mean * 0.01)
                });
                if near {
                    let response = 0.1 + rtt.as_secs_f64();
                    let alpha = 0.5 * (passed / response).min(1.0);
                    let frame = self.rate / 30.0;
                    let packet = frame / (frame / (1200.0 * 8.0)).ceil().max(1.0);
                    self.rate += (alpha * packet).max(1000.0 * passed);
                } else {
                    self.converged = None;
                    self.rate *= 1.08_f64.powf(passed);
                }
                self.rate = self.rate.min(EXCEEDS * incoming.max(self.bounds.0));
            }
            State::Decrease => {
                let kbps = incoming / 1e3;
                let (mean, variance) = self.converged.unwrap_or((kbps, 0.0));
                let off = kbps - mean;
                self.converged = Some((mean + 0.05 * off, 0.95 * (variance + 0.05 * off * off)));
                self.rate = self.rate.min(BETA * incoming);
                // The queue that has grown drains before the path is tried again.
                self.state = State::Hold;
            }
        }
        self.rate = self.rate.clamp(self.bounds.0, self.bounds.1);
    }
}

/// The rate by loss after one that lost this part of its packets (§6).
pub(crate) fn by_loss(rate: f64, loss: f64) -> f64 {
    if loss > 0.1 {
        rate * (1.0 - 0.5 * loss)
    } else if loss < 0.02 {
        rate * 1.05
    } else {
        rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_moves_the_rate_as_the_draft_says() {
        assert_eq!(by_loss(1e6, 0.0), 1.05e6);
        assert_eq!(by_loss(1e6, 0.05), 1e6);
        assert_eq!(by_loss(1e6, 0.2), 0.9e6);
    }

    /// The rate after ten seconds over a line of `mbps` Mbit/s, sending what is allowed.
    fn after_ten_seconds(mbps: f64) -> f64 {
        let mut control = ByDelay::new(3e5, (1.5e5, 5e6));
        let (mut now, mut free) = (0.0_f64, 0.0_f64);
        while now < 10.0 {
            let frame = control.rate / 30.0 / 8.0;
            let packets = (frame / 1200.0).ceil();
            for packet in 0..packets as u32 {
                let sent = now + f64::from(packet) * 0.001;
                let bytes = frame / packets;
                free = free.max(sent) + bytes * 8.0 / (mbps * 1e6);
                let [came, sent] = [free + 0.02, sent].map(Time::from_secs_f64);
                control.packet(came, sent, bytes as u32);
            }
            control.update(Time::from_secs_f64(free.max(now) + 0.02), Span::from_ms(40));
            now += 1.0 / 30.0;
        }
        control.rate
    }

    #[test]
    fn the_rate_finds_the_line_and_not_more() {
        let narrow = after_ten_seconds(0.5);
        assert!((0.3e6..0.6e6).contains(&narrow), "{narrow}");
        let wide = after_ten_seconds(50.0);
        // 8 % a second from 300 kbit/s: 648 kbit/s after ten.
        assert!((0.6e6..0.66e6).contains(&wide), "{wide}");
    }
}
