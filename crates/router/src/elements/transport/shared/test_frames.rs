//! What sources of test frames share: when the next one is due, the handlers, and the frames
//! themselves.
//!
//! `FastUDPSource`, `FastUDPFlows` and `FastTCPFlows` give frames that were made beforehand, at a
//! rate and up to a limit, to whoever pulls.

use crate::args::Args;
use crate::args::numbers::{parse_bool, parse_int, parse_uint};
use crate::diagnostic::Diagnostics;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Handler};
use crate::headers::ip_packet;
use crate::rates::gap_rate::{GapRate, MAX_RATE};
use trammel_packet::batch::Packets;
use trammel_packet::headers::checksum::Sum;
use trammel_packet::headers::ipv4::{Ipv4, protocol, set_checksum};
use trammel_packet::pool::{FRAME_BYTES, Handle};
use trammel_packet::timestamp::Timestamp;

/// Bytes before the IP header.
pub(crate) const LINK: usize = 14;
/// Bytes before the transport header.
pub(crate) const TRANSPORT: usize = LINK + Ipv4::LEN;
/// The shortest frame.
const SHORTEST: usize = 60;

/// When frames are due, and how many there were.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    /// None: whenever one is asked for.
    rate: Option<GapRate>,
    /// None: without end.
    limit: Option<u64>,
    active: bool,
    count: u64,
    first: Timestamp,
    last: Option<Timestamp>,
    /// Set to when the next frame is due: virtual time passes to it.
    timer: Option<TimerId>,
}

impl Pace {
    /// Takes `RATE`, `LIMIT` and `ACTIVE`.
    pub(crate) fn configure(&mut self, setup: &mut Setup, args: &Args) {
        let rate = args.uint("RATE") as u32;
        if rate > MAX_RATE {
            let text = format!("rate too large; lowered to {MAX_RATE}");
            setup.warnings.push(text);
        }
        self.rate = (rate > 0).then(|| GapRate::new(rate));
        self.limit = u64::try_from(args.int("LIMIT")).ok();
        self.active = args.bool("ACTIVE");
    }

    /// Makes the timer.
    pub(crate) fn initialize(&mut self, ctx: &mut Ctx) {
        self.timer = Some(ctx.new_timer(0));
    }

    /// Has virtual time pass to when the next frame is due.
    fn wait(&self, ctx: &mut Ctx) {
        let next = self.rate.as_ref().and_then(GapRate::next);
        if let (Some(timer), Some(next)) = (self.timer, next)
            && ctx.timer_at(timer).is_none()
        {
            ctx.set_timer(timer, next);
        }
    }

    /// Whether all that may be sent was.
    pub(crate) fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.count >= limit)
    }

    /// Gives up to `max` frames, as `next` makes them.
    pub(crate) fn pull(
        &mut self,
        ctx: &mut Ctx,
        max: usize,
        into: &mut Packets,
        mut next: impl FnMut(&mut Ctx, &Pace) -> Option<Handle>,
    ) {
        if !self.active {
            return;
        }
        let mut now = None;
        for _ in 0..max.min(into.room()) {
            let now = *now.get_or_insert_with(|| ctx.now());
            if self.rate.as_mut().is_some_and(|rate| rate.due(now) <= 0) {
                self.wait(ctx);
                return;
            }
            let Some(packet) = next(ctx, self) else {
                return;
            };
            into.push(packet);
            if let Some(rate) = &mut self.rate {
                rate.happened(1);
            }
            self.count += 1;
            if self.count == 1 {
                self.first = now;
            }
            if self.is_over() {
                self.last = Some(now);
            }
        }
    }

    fn reset(&mut self) {
        (self.count, self.first, self.last) = (0, Timestamp::ZERO, None);
    }

    /// The handlers of all of them.
    pub(crate) fn handlers() -> Vec<Handler> {
        vec![
            Handler::new("count", "r"),
            Handler::new("rate", "rw"),
            Handler::new("reset", "wb"),
            Handler::new("active", "wc"),
            Handler::new("limit", "w"),
        ]
    }

    /// Answers `count` and `rate`.
    pub(crate) fn read(&self, name: &str) -> String {
        if name == "count" {
            return self.count.to_string();
        }
        let Some(last) = self.last else {
            return "0".to_owned();
        };
        let ms = |at: Timestamp| at.0 / 1_000_000;
        let spent = (ms(last) - ms(self.first)).max(1) as u64;
        (self.count.saturating_mul(1000) / spent).to_string()
    }

    /// Does what the others say; whether counting begins anew.
    pub(crate) fn write(&mut self, name: &str, value: &str) -> Result<bool, String> {
        let value = value.trim();
        match name {
            "limit" => {
                let limit = parse_int(value, i64::from(i32::MIN), i64::from(i32::MAX));
                let limit = limit.map_err(|_| "limit parameter must be integer >= 0")?;
                self.limit = u64::try_from(limit).ok();
            }
            "rate" => {
                let rate = parse_uint(value, u64::from(u32::MAX));
                let rate = rate.map_err(|_| "rate parameter must be integer >= 0")? as u32;
                if rate > MAX_RATE {
                    return Err(format!("rate too large; max is {MAX_RATE}"));
                }
                // One that sends whenever it is asked goes on doing so.
                if let Some(gap) = &mut self.rate {
                    gap.set_rate(rate);
                }
            }
            "active" => {
                let active = parse_bool(value);
                self.active = active.map_err(|_| "active parameter must be boolean")?;
                if self.active {
                    self.reset();
                }
                return Ok(self.active);
            }
            _ => {
                self.reset();
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// `frame` as a packet whose headers are marked.
pub(crate) fn make(ctx: &mut Ctx, frame: &[u8]) -> Option<Handle> {
    let pool = ctx.pool();
    let handle = pool.alloc_with(frame)?;
    let packet = &mut pool[&handle];
    ip_packet::mark(packet, LINK);
    let address = Ipv4::read(&frame[LINK..]).map_or([0; 4], |ip| ip.dst);
    ip_packet::set_destination(packet, address);
    Some(handle)
}

/// The `LENGTH` that frames have; one that no frame can have is an error.
pub(crate) fn length(setup: &mut Setup, wanted: u64) -> Result<usize, Diagnostics> {
    let longest = FRAME_BYTES;
    if wanted < SHORTEST as u64 {
        let text = format!("packet length < {SHORTEST}, defaulting to {SHORTEST}");
        setup.warnings.push(text);
    }
    if wanted > longest as u64 {
        return Err(Diagnostics::of(format!(
            "packet length > {longest}, the longest there is"
        )));
    }
    Ok((wanted as usize).max(SHORTEST))
}

/// A frame of `len` bytes, at least 60, with the headers of Ethernet and IPv4 that `args` tell and
/// zeros behind them.
pub(crate) fn frame(args: &Args, len: usize, protocol: u8) -> Vec<u8> {
    let mut frame = vec![0; len];
    frame[..6].copy_from_slice(&args.ether("DSTETH").0);
    frame[6..12].copy_from_slice(&args.ether("SRCETH").0);
    frame[12..14].copy_from_slice(&[8, 0]);
    if let Some(ip) = Ipv4::read_mut(&mut frame[LINK..]) {
        ip.version_ihl = 0x45;
        ip.total_length.set((len - LINK) as u16);
        ip.ttl = 250;
        ip.protocol = protocol;
        ip.src = args.ip("SRCIP").octets();
        ip.dst = args.ip("DSTIP").octets();
    }
    set_checksum(&mut frame[LINK..]);
    frame
}

/// Sets the ports, and the checksum at `at` bytes behind them, or none there.
pub(crate) fn set_ports(frame: &mut [u8], ports: [[u8; 2]; 2], at: usize, with_checksum: bool) {
    frame[TRANSPORT..TRANSPORT + 2].copy_from_slice(&ports[0]);
    frame[TRANSPORT + 2..TRANSPORT + 4].copy_from_slice(&ports[1]);
    let at = TRANSPORT + at;
    frame[at..at + 2].fill(0);
    if with_checksum {
        let sum = ip_packet::transport_sum(&frame[LINK..]).unwrap_or(Sum::ZERO);
        frame[at..at + 2].copy_from_slice(&sum.checksum().to_be_bytes());
    }
}

/// Where UDP's checksum stands in its header.
pub(crate) const UDP_CHECKSUM: usize = 6;
/// Where TCP's does.
pub(crate) const TCP_CHECKSUM: usize = 16;

/// A frame of UDP without ports.
pub(crate) fn udp_frame(args: &Args, len: usize) -> Vec<u8> {
    let mut frame = frame(args, len, protocol::UDP);
    let length = ((len - TRANSPORT) as u16).to_be_bytes();
    frame[TRANSPORT + 4..TRANSPORT + 6].copy_from_slice(&length);
    frame
}

/// Makes a frame of UDP as long as `len`, which must be one that frames may have.
pub(crate) fn resize_udp(frame: &mut Vec<u8>, len: u64) -> Result<(), String> {
    if len > FRAME_BYTES as u64 {
        return Err(format!(
            "packet length > {FRAME_BYTES}, the longest there is"
        ));
    }
    frame.resize((len as usize).max(SHORTEST), 0);
    let len = frame.len();
    if let Some(ip) = Ipv4::read_mut(&mut frame[LINK..]) {
        ip.total_length.set((len - LINK) as u16);
    }
    set_checksum(&mut frame[LINK..]);
    let length = ((len - TRANSPORT) as u16).to_be_bytes();
    frame[TRANSPORT + 4..TRANSPORT + 6].copy_from_slice(&length);
    Ok(())
}

/// Two ports at random.
pub(crate) fn random_ports(ctx: &mut Ctx) -> [[u8; 2]; 2] {
    let mut port = || (((ctx.draw_bits(31) >> 2) % 0xFFFF) as u16).to_le_bytes();
    [port(), port()]
}
