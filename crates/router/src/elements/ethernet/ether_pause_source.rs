//! Generates Ethernet pause frames.
//!
//! # What it does
//! A frame every `INTERVAL` at a push output, or whenever one is asked for at a pull output, tells
//! the neighbour to be silent for `PAUSETIME` times 512 bits.
//!
//! # Example
//! ```click
//! // The other end of the link is asked to be silent for a while, five times.
//! EtherPauseSource(2:0:0:0:0:1, 65535, LIMIT 5, INTERVAL 1) -> Queue -> ToDevice(eth0)
//! ```
//!
//! # References
//! IEEE 802.3, annex 31B.

use crate::args::addresses::{EtherAddress, parse_ether};
use crate::args::kinds::{INT, U16};
use crate::args::numbers::{parse_bool, parse_int, parse_uint};
use crate::args::{Args, Kind, flag, keyword, mandatory};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::timer::TimerId;
use crate::engine::{Ctx, Element, Handler};
use crate::graph::processing::Mode;
use trammel_packet::batch::Packets;
use trammel_packet::headers::ether::Ether;
use trammel_packet::pool::Handle;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new("EtherPauseSource", "generates pause frames", || {
    Box::<EtherPauseSource>::default()
})
.ports("0/1", "a/a")
.references(&["IEEE 802.3, annex 31B"])
.params(&[
    mandatory(
        "SRC",
        Kind::Ether,
        "the address of the device that sends them",
    ),
    mandatory("PAUSETIME", U16, "how long to pause, in times of 512 bits"),
    keyword(
        "DST",
        Kind::Ether,
        "01-80-C2-00-00-01",
        "to whom; the group address of pause frames",
    ),
    keyword("LIMIT", INT, "-1", "frames in all; -1 is no limit"),
    flag("ACTIVE", "true", "whether it makes frames"),
    keyword(
        "INTERVAL",
        Kind::SecondsIn(3),
        "1",
        "time between frames at a push output",
    ),
])
.ops("deparse(60); work(150)");

/// Bytes of a frame, as Click makes it: room for the FCS is in.
const FRAME_LEN: usize = 64;
/// The Ethernet type of MAC control frames.
const MAC_CONTROL: u16 = 0x8808;
/// The operation of MAC control frames that pauses.
const PAUSE: u16 = 1;

#[derive(Debug, Default)]
struct EtherPauseSource {
    src: EtherAddress,
    dst: EtherAddress,
    pause: u16,
    limit: i64,
    count: i64,
    active: bool,
    interval: Timestamp,
    pushes: bool,
    timer: Option<TimerId>,
}

impl EtherPauseSource {
    fn is_done(&self) -> bool {
        self.limit >= 0 && self.count >= self.limit
    }

    fn make(&mut self, ctx: &mut Ctx) -> Option<Handle> {
        let mut frame = [0; FRAME_LEN];
        frame[..6].copy_from_slice(&self.dst.0);
        frame[6..12].copy_from_slice(&self.src.0);
        frame[12..14].copy_from_slice(&MAC_CONTROL.to_be_bytes());
        frame[14..16].copy_from_slice(&PAUSE.to_be_bytes());
        frame[16..18].copy_from_slice(&self.pause.to_be_bytes());
        let h = ctx.pool().alloc_with(&frame)?;
        let packet = &mut ctx.pool()[&h];
        packet.set_mac_header(0);
        packet.set_network_header(Ether::LEN as isize);
        self.count += 1;
        Some(h)
    }

    fn wake(&self, ctx: &mut Ctx) {
        if let Some(timer) = self.timer
            && self.active
            && ctx.timer_at(timer).is_none()
        {
            ctx.set_timer_after(timer, Timestamp::ZERO);
        }
    }
}

impl Element for EtherPauseSource {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.src = args.ether("SRC");
        self.dst = args.ether("DST");
        self.pause = args.uint("PAUSETIME") as u16;
        self.limit = args.int("LIMIT");
        self.active = args.bool("ACTIVE");
        // An interval of nothing would be a timer that never lets go.
        let ms = args.uint("INTERVAL").max(1);
        self.interval = Timestamp(ms as i64 * 1_000_000);
        self.pushes = setup.outputs[0] == Mode::Push;
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        if self.pushes {
            let timer = ctx.new_timer(0);
            if self.active && self.limit != 0 {
                ctx.set_timer_after(timer, self.interval);
            }
            self.timer = Some(timer);
        }
        Ok(())
    }

    fn run_timer(&mut self, ctx: &mut Ctx, _: u32) {
        // Differs from Click, whose timer goes on once more after `active` or `limit` was written.
        if !self.active || self.is_done() {
            return;
        }
        if let Some(packet) = self.make(ctx) {
            ctx.emit(0, packet);
        }
        if let Some(timer) = self.timer.filter(|_| !self.is_done()) {
            ctx.set_timer_again(timer, self.interval);
        }
    }

    fn pull(&mut self, ctx: &mut Ctx, _: usize, max: usize, into: &mut Packets) {
        for _ in 0..max.min(into.room()) {
            if !self.active || self.is_done() {
                return;
            }
            match self.make(ctx) {
                Some(packet) => into.push(packet),
                None => return,
            }
        }
    }

    fn handlers(&self) -> Vec<Handler> {
        [
            ("count", "r"),
            ("limit", "rw"),
            ("active", "rwx"),
            ("src", "rw"),
            ("dst", "rw"),
            ("pausetime", "rw"),
            ("reset_counts", "w"),
        ]
        .map(|(name, letters)| Handler::new(name, letters))
        .to_vec()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(match name {
            "count" => self.count.to_string(),
            "limit" => self.limit.to_string(),
            "active" => self.active.to_string(),
            "src" => self.src.to_string(),
            "dst" => self.dst.to_string(),
            _ => self.pause.to_string(),
        })
    }

    fn write(&mut self, ctx: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let value = value.trim();
        let wrong = |_| "type mismatch".to_owned();
        let address = || parse_ether(value, &ctx.names()).map_err(wrong);
        match name {
            "src" => self.src = address()?,
            "dst" => self.dst = address()?,
            "pausetime" => self.pause = parse_uint(value, 0xFFFF).map_err(wrong)? as u16,
            "limit" => {
                self.limit =
                    parse_int(value, i64::from(i32::MIN), i64::from(i32::MAX)).map_err(wrong)?;
                self.wake(ctx);
            }
            "active" => {
                self.active = parse_bool(value).map_err(wrong)?;
                self.wake(ctx);
            }
            _ => {
                self.count = 0;
                self.wake(ctx);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::loaded;

    #[test]
    fn a_frame_every_interval_up_to_the_limit() {
        let mut run = loaded(
            "p :: EtherPauseSource(2:2:2:2:2:2, 390, LIMIT 3, INTERVAL 0.5) -> c :: Counter \
             -> Discard;",
        );
        run.run(1.2);
        assert_eq!(run.read("c.count"), "2");
        run.run(5.0);
        assert_eq!(
            (run.read("c.count"), run.read("c.byte_count")),
            ("3".into(), "192".into())
        );
        run.write("p.reset_counts", "").expect("right");
        run.run(5.0);
        assert_eq!(run.read("c.count"), "6");
        assert_eq!(
            run.write("p.pausetime", "65536"),
            Err("type mismatch".into())
        );
    }
}
