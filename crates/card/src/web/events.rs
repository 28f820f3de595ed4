//! Recorded events of the output queues, from the frames that a design for buffer sizing sends.
//!
//! A frame has its number, for each queue the words and frames in it before the first event, and
//! events: kind (2 bits), queue (3), words (8), time (19). Kind 0 has the next 30 bits of the time.

use serde_json::{Value, json};
use std::collections::VecDeque;
use trammel_netfpga::registers::{Map, Registers};

/// Events that are kept and shown.
const MOST_EVENTS: usize = 1500;
/// Bytes before the first event: the number, and two words for each queue.
const HEAD_BYTES: usize = 4 + 8 * 8;
/// Bytes of the headers before those: Ethernet, and with IPv4 and UDP.
const HEADERS: [usize; 2] = [14, 14 + 20 + 8];
/// Bits of the time in an event.
const TIME_BITS: u32 = 19;
/// What the time counts at resolution 0, in nanoseconds.
const TICK_NS: u64 = 8;

/// An event: its time in ticks, its queue and kind, and the words in the queue after it.
type Event = (u64, u8, u8, u32);

/// The events of a design that has them.
#[derive(Debug)]
pub(super) struct Events {
    is_on: u32,
    resolution: u32,
    next: Option<u32>,
    lost: u64,
    latest: VecDeque<Event>,
}

impl Events {
    /// None where the design with `map` records no events.
    pub(super) fn new(map: &Map) -> Option<Events> {
        Some(Events {
            is_on: map.find("EVT_CAP_ENABLE_CAPTURE").ok()?.address,
            resolution: map.find("EVT_CAP_TIMER_RESOLUTION").ok()?.address,
            next: None,
            lost: 0,
            latest: VecDeque::new(),
        })
    }

    /// Takes the events out of a frame. Of one that is none of the recorder's, nothing.
    pub(super) fn take(&mut self, frame: &[u8]) {
        let is_ip = frame.get(12..14) == Some(&[8, 0]);
        let body = frame.get(HEADERS[usize::from(is_ip)]..).unwrap_or(&[]);
        if body.len() < HEAD_BYTES {
            return;
        }
        let mut words = body
            .as_chunks::<4>()
            .0
            .iter()
            .map(|word| u32::from_be_bytes(*word));
        let number = words.next().unwrap_or(0);
        let expected = self.next.unwrap_or(number);
        self.lost += u64::from(number.wrapping_sub(expected));
        self.next = Some(number.wrapping_add(1));
        let mut levels = [0; 8];
        for level in &mut levels {
            *level = words.next().unwrap_or(0);
            words.next();
        }
        let mut upper = 0;
        for word in words {
            let (kind, queue) = ((word >> 30) as u8, (word >> 27 & 7) as u8);
            if kind == 0 {
                upper = u64::from(word) << TIME_BITS;
                continue;
            }
            let ticks = upper | u64::from(word & ((1 << TIME_BITS) - 1));
            let size = word >> TIME_BITS & 0xff;
            let level: &mut u32 = &mut levels[usize::from(queue)];
            *level = match kind {
                1 => level.saturating_add(size),
                2 => level.saturating_sub(size),
                _ => *level,
            };
            if self.latest.len() >= MOST_EVENTS {
                self.latest.pop_front();
            }
            self.latest.push_back((ticks, queue, kind, *level));
        }
    }

    /// The latest events.
    pub(super) fn json(&self, registers: &mut impl Registers) -> Value {
        let shift = registers.read(self.resolution) & 31;
        let column = |of: fn(&Event) -> u64| -> Vec<u64> { self.latest.iter().map(of).collect() };
        let times = column(|event| event.0).into_iter();
        let times = times.map(|ticks| (ticks << shift).saturating_mul(TICK_NS));
        json!({
            "is_on": registers.read(self.is_on) == 1,
            "lost_frames": self.lost,
            "times_ns": times.collect::<Vec<_>>(),
            "queues": column(|event| event.1.into()),
            "kinds": column(|event| event.2.into()),
            "words": column(|event| event.3.into()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use trammel_core::Time;
    use trammel_netfpga::stages::{Fcs, Queue};
    use trammel_netfpga::{Device, design};

    #[test]
    fn what_the_design_records_is_read() {
        let mut card = Device::new(design("buffer-sizing").unwrap());
        let map = card.design().map();
        let mut events = Events::new(&map).unwrap();
        card.copy_own();
        let at = |name: &str| map.find(name).unwrap().address;
        card.write(at("EVT_CAP_ENABLE_CAPTURE"), 1);
        card.write(at("OQ_QUEUE_1_MAX_PKTS_IN_Q"), 2);
        for number in 0..3 {
            card.set_time(Time::from_us(number));
            card.receive(Queue::mac(0), &[0xff; 60], Fcs::Good);
        }
        card.set_time(Time::from_ms(20));
        assert!(card.transmit(Queue::cpu(0), &mut Vec::new()));
        card.write(at("EVT_CAP_SEND_PKT"), 1);
        while let Some(frame) = card.own_copy() {
            events.take(&frame);
        }
        let json = events.json(&mut card);
        assert_eq!(json["is_on"], true);
        assert_eq!(json["times_ns"], json!([0, 1000, 2000, 20_000_000]));
        assert_eq!(json["queues"], json!([1, 1, 1, 1]));
        assert_eq!(json["kinds"], json!([1, 1, 3, 2]));
        assert_eq!(json["words"], json!([9, 18, 18, 9]));
        assert_eq!(json["lost_frames"], 0);
        assert!(Events::new(&design("reference-router").unwrap().map()).is_none());
    }

    proptest! {
        #[test]
        fn any_frames_are_taken_and_few_events_kept(
            frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..1600), 0..8)
        ) {
            let mut card = Device::new(design("buffer-sizing").unwrap());
            let mut events = Events::new(&card.design().map()).unwrap();
            for frame in &frames {
                events.take(frame);
            }
            let json = events.json(&mut card);
            prop_assert!(json["times_ns"].as_array().unwrap().len() <= MOST_EVENTS);
        }
    }
}
