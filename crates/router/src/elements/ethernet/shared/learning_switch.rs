//! Which port of a switch an Ethernet address was last seen at: backward learning (IEEE 802.1D,
//! §7.8).

use crate::args::addresses::EtherAddress;
use crate::args::times::parse_seconds_in;
use crate::args::{Args, Kind, Param, keyword};
use crate::diagnostic::Diagnostics;
use crate::engine::study::Study;
use crate::engine::{Ctx, Handler};
use crate::lookup::NEAR;
use crate::neighbours::Key;
use crate::reason::Reason;
use std::collections::BTreeMap;
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::cpu::prefetch;
use trammel_packet::headers::ether::Ether;
use trammel_packet::pool::{Handle, Pool};
use trammel_packet::timestamp::Timestamp;

/// `TIMEOUT`.
pub(crate) const TIMEOUT: Param = keyword(
    "TIMEOUT",
    Kind::SecondsIn(0),
    "300",
    "seconds that an address is remembered; 0 makes it a hub",
);

/// Where an address was seen; four of them are in a cache line.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// The address in the lower 48 bits, above it the port plus one, so that 0 is a free place.
    key: u64,
    at: Timestamp,
}

/// The bits of an address.
const ADDRESS: u64 = (1 << 48) - 1;
/// The most inputs of a switch.
const MOST_PORTS: usize = (1 << 16) - 1;

impl Seen {
    fn is_free(self) -> bool {
        self.key == 0
    }

    fn port(self) -> usize {
        (self.key >> 48) as usize - 1
    }
}

fn number(address: [u8; 6]) -> u64 {
    let [a, b, c, d, e, f] = address;
    u64::from_be_bytes([0, 0, a, b, c, d, e, f])
}

/// What a switch has learnt, and how it forwards.
#[derive(Debug, Default)]
pub(crate) struct Switch {
    timeout_s: u32,
    /// A power of two of places, at most half of them in use.
    places: Vec<Seen>,
    count: usize,
    /// The output that gets a copy of everything, beyond those of the inputs.
    listens: bool,
}

impl Switch {
    /// Takes the arguments of one with so many inputs. A switch that `listens` has one more output
    /// than it has inputs.
    pub(crate) fn configure(
        &mut self,
        args: &Args,
        inputs: usize,
        listens: bool,
    ) -> Result<(), Diagnostics> {
        if inputs > MOST_PORTS {
            let text = format!("{inputs} inputs: a switch has at most {MOST_PORTS}");
            return Err(Diagnostics::of(text));
        }
        self.timeout_s = args.uint("TIMEOUT") as u32;
        self.listens = listens;
        Ok(())
    }

    /// What the operations of such elements call by names.
    pub(crate) fn quantities(&self) -> Vec<(&'static str, f64)> {
        let entries = self.count as f64;
        vec![("entries", entries), ("destinations", entries)]
    }

    /// Tells how many addresses are asked for: often fewer than are learnt.
    pub(crate) fn study(pool: &Pool, batch: &Packets, study: &mut Study) {
        let headers = batch.iter().filter_map(|h| Ether::read(pool[h].data()));
        headers.for_each(|header| study.different("destinations", number(header.dst)));
    }

    /// Where the address begins to be looked for.
    fn first(&self, address: u64) -> usize {
        let bits = self.places.len().trailing_zeros();
        (u64::from(u128::from(address).hash()) << bits >> 32) as usize
    }

    /// Where the address is, or the free place where it belongs.
    fn place(&self, address: u64) -> usize {
        let mask = self.places.len() - 1;
        let mut at = self.first(address);
        while !self.places[at].is_free() && self.places[at].key & ADDRESS != address {
            at = (at + 1) & mask;
        }
        at
    }

    fn learn(&mut self, address: u64, port: usize, at: Timestamp) {
        if (self.count + 1) * 2 > self.places.len() {
            self.grow();
        }
        let place = self.place(address);
        self.count += usize::from(self.places[place].is_free());
        self.places[place] = Seen {
            key: address | (port as u64 + 1) << 48,
            at,
        };
    }

    #[cold]
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.places);
        self.places = vec![Seen::default(); (old.len() * 2).max(16)];
        for seen in old.into_iter().filter(|seen| !seen.is_free()) {
            let place = self.place(seen.key & ADDRESS);
            self.places[place] = seen;
        }
    }

    /// The port of `address`, where one was seen not too long before `now`.
    fn find(&self, address: u64, now: Timestamp) -> Option<usize> {
        if self.places.is_empty() {
            return None;
        }
        let seen = self.places[self.place(address)];
        let until = seen.at + Timestamp::from_secs(i64::from(self.timeout_s));
        (!seen.is_free() && now < until).then(|| seen.port())
    }

    /// Asks for the places of a batch's addresses, so that they come while the packets before are
    /// forwarded.
    fn prefetch(&self, pool: &Pool, batch: &Packets) {
        if self.places.len() * size_of::<Seen>() <= NEAR {
            return;
        }
        for header in batch.iter().filter_map(|h| Ether::read(pool[h].data())) {
            prefetch(&self.places[self.first(number(header.src))]);
            prefetch(&self.places[self.first(number(header.dst))]);
        }
    }

    /// Forwards what came to input `source`.
    pub(crate) fn forward(&mut self, ctx: &mut Ctx, source: usize, mut batch: Batch) {
        self.prefetch(ctx.pool(), &batch);
        batch.filter(|h| {
            let packet = &ctx.pool()[&h];
            let now = packet.timestamp();
            let Some(header) = Ether::read(packet.data()).copied() else {
                ctx.drop(h, Reason::TooShort);
                return None;
            };
            let mut port = None;
            if self.timeout_s != 0 {
                self.learn(number(header.src), source, now);
                if !header.is_multicast() {
                    port = self.find(number(header.dst), now);
                }
            }
            match port {
                None => flood(ctx, source, h),
                Some(port) if port == source && self.listens => ctx.emit(ctx.outputs() - 1, h),
                Some(port) if port == source => ctx.drop(h, Reason::Filtered),
                Some(port) => {
                    if self.listens
                        && let Some(copy) = ctx.pool().duplicate(&h)
                    {
                        ctx.emit(ctx.outputs() - 1, copy);
                    }
                    ctx.emit(port, h);
                }
            }
            None
        });
        ctx.recycle(batch);
    }

    /// The handlers.
    pub(crate) fn handlers() -> Vec<Handler> {
        vec![Handler::new("table", "r"), Handler::new("timeout", "rw")]
    }

    /// Answers them.
    pub(crate) fn read(&self, name: &str) -> String {
        if name == "timeout" {
            return self.timeout_s.to_string();
        }
        let used = self.places.iter().filter(|seen| !seen.is_free());
        let sorted: BTreeMap<u64, usize> =
            used.map(|seen| (seen.key & ADDRESS, seen.port())).collect();
        let line = |(address, port): (&u64, &usize)| {
            let [_, _, address @ ..] = address.to_be_bytes();
            format!("{} {port}\n", EtherAddress(address))
        };
        sorted.iter().map(line).collect()
    }

    /// Sets the timeout.
    pub(crate) fn write(&mut self, value: &str) -> Result<(), String> {
        self.timeout_s = parse_seconds_in(value.trim(), 0)
            .map_err(|_| "expected timeout (integer)".to_owned())?;
        Ok(())
    }
}

/// Sends a packet out by every output but that of its input, the last first.
fn flood(ctx: &mut Ctx, source: usize, h: Handle) {
    let first = usize::from(source == 0);
    for port in (first + 1..ctx.outputs())
        .rev()
        .filter(|port| *port != source)
    {
        if let Some(copy) = ctx.pool().duplicate(&h) {
            ctx.emit(port, copy);
        }
    }
    ctx.emit(first, h);
}
