//! A card in virtual time: frames with contents, each stage at its instant.
//!
//! The engine says when, the device says what. A frame is offered at an instant; it leaves at the
//! instant that the timing of the design gives, with the contents that its tables give, and the
//! counters are those of the instant up to which the card was advanced.

mod cargo;

use crate::device::{Design, Device};
use crate::engine::Engine;
use crate::error::Error;
use crate::params::Params;
use crate::registers::Registers;
use crate::stages::{Fcs, PORTS, Queue};
use cargo::Cargo;
use trammel_core::time::Time;

/// A frame that left a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// By which queue: a port's, or to the host.
    pub queue: Queue,
    /// When it began to come in.
    pub arrived: Time,
    /// When the first bit of its preamble left, or the host had done with it.
    pub left: Time,
}

/// A card with a design, in virtual time.
///
/// ```
/// use trammel_core::time::Time;
/// use trammel_netfpga::stages::{Fcs, Queue};
/// use trammel_netfpga::{Card, Params, design};
///
/// let mut card = Card::new(design("reference-nic")?, &Params::REFERENCE_1G)?;
/// card.offer(Time::ZERO, Queue::cpu(1), &[7; 60], Fcs::Good);
/// card.advance(Time::from_ms(1));
/// let mut frame = Vec::new();
/// let departure = card.take(&mut frame).expect("the frame left");
/// assert_eq!((departure.queue, &frame[..]), (Queue::mac(1), &[7; 60][..]));
/// # Ok::<(), trammel_netfpga::Error>(())
/// ```
#[derive(Debug)]
pub struct Card {
    engine: Engine,
    cargo: Cargo,
}

impl Card {
    /// A card with `design` and the timing of `params`, which have four ports.
    pub fn new(design: &'static Design, params: &Params) -> Result<Card, Error> {
        params.check()?;
        if params.ports != PORTS as u64 {
            return Err(Error::OutOfRange {
                name: "ports",
                value: params.ports,
                least: PORTS as u64,
                most: PORTS as u64,
                unit: "",
            });
        }
        let mut device = Device::new(design);
        device.limit_queues(
            params.queue_words.saturating_mul(params.bus_bytes),
            params.queue_reserve_words.saturating_mul(params.bus_bytes),
        );
        let mut cargo = Cargo::new(device, params);
        Ok(Card {
            engine: Engine::new(params, &[], &mut cargo)?,
            cargo,
        })
    }

    /// Its design.
    pub fn design(&self) -> &'static Design {
        self.cargo.device.design()
    }

    /// The instant up to which everything has happened.
    pub fn now(&self) -> Time {
        self.cargo.now()
    }

    /// A frame begins to come in by `from` at `at`, or as soon as the line is free of those that
    /// were offered before; `at` counts as now where it is earlier, and as 200 days where it is
    /// later than that. Preamble and gap are not part of `frame`.
    pub fn offer(&mut self, at: Time, from: Queue, frame: &[u8], fcs: Fcs) {
        self.cargo.offer(at, from, frame, fcs);
    }

    /// Lets everything happen up to `until`. Frames that begin to come in by then must have been
    /// offered.
    pub fn advance(&mut self, until: Time) {
        if self.cargo.reach(until) {
            self.engine.run_on(&mut self.cargo);
        }
    }

    /// When it may next be of use to advance the card, if no frame is offered before: a frame
    /// leaves then, or something happens inside. None where nothing is in it.
    pub fn next_event(&self) -> Option<Time> {
        let inside = self.engine.next_cycle(&self.cargo);
        self.cargo.next_event(inside)
    }

    /// The frame that left first, of those that left by now and have not been taken; its bytes come
    /// into `frame`, without FCS.
    pub fn take(&mut self, frame: &mut Vec<u8>) -> Option<Departure> {
        self.cargo.take(frame)
    }

    /// Sets what the PHY of `port`, 0 to 3, says of its link.
    pub fn set_link(&mut self, port: usize, is_up: bool) {
        self.cargo.device.set_link(port, is_up);
    }
}

/// Registers as they are now.
impl Registers for Card {
    fn read(&mut self, address: u32) -> u32 {
        self.cargo.device.read(address)
    }

    fn write(&mut self, address: u32, value: u32) {
        let before = Queue::ALL.map(|queue| self.cargo.state(queue));
        self.cargo.write(address, value);
        for (queue, before) in Queue::ALL.into_iter().zip(before) {
            let (may_send, kept) = self.cargo.state(queue);
            if (may_send, kept) != before {
                let now = self.cargo.cycle();
                let changed = (queue.number(), kept);
                self.engine.queue_changed(changed, now, &self.cargo);
            }
        }
    }
}
