//! When tagged frames left and came, timed outside the tester: by the interfaces' clock, or by the
//! driver and the kernel.
//!
//! ```text
//! sender ─ tagged frame ─> stamper ─ device ─> port ─> checker: counts it, like all others
//!                             │ when it left     └──> stamper: when it came
//!                             └──────── latency ─────────┘
//! ```
//! All other frames keep the stamps of the tester, which tell what they wait for the sender's
//! thread and the checker's as well.

use super::course::BROADCASTS;
use super::frame::payload;
use super::port::{Port, Way};
use super::signature::{HEAD_BYTES, Signature, extend};
use std::collections::HashMap;
use std::io;
use trammel_core::time::Span;
use trammel_io::error::{Error, Result};
use trammel_io::ethtool::{Ethtool, Times};
use trammel_io::stamper::{By, Mark, Stamper};

/// By what tagged frames are to be timed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TimedBy {
    /// By the interfaces where they have one clock, else by the tester.
    #[default]
    Auto,
    /// By the tester: as it hands a frame over, and as its port hears it.
    Tester,
    /// By the kernel: as the driver takes a frame, and as the kernel gets it.
    Driver,
    /// By the interfaces.
    Hardware,
}

/// Chooses by what frames from the first to the second of two ports are timed; none is the tester
/// itself. The error is what is lacking.
fn choose(
    wish: TimedBy,
    ways: [Way; 2],
    times: [Times; 2],
) -> std::result::Result<Option<By>, &'static str> {
    let are_heard = if ways == [Way::AfPacket; 2] {
        Ok(())
    } else {
        Err("frames by AF_XDP or live bypass the timestamps: use `--by af-packet`")
    };
    let hardware = || match times {
        _ if are_heard.is_err() => are_heard,
        [from, _] if !from.hardware_sends => {
            Err("the first interface does not timestamp departures")
        }
        [_, to] if !to.hardware_hears => {
            Err("the second interface does not timestamp every arrival")
        }
        [from, to] if from.clock.is_none() || from.clock != to.clock => {
            Err("the interfaces do not share a clock")
        }
        _ => Ok(()),
    };
    match wish {
        TimedBy::Tester => Ok(None),
        TimedBy::Auto => Ok(hardware().is_ok().then_some(By::Hardware)),
        TimedBy::Hardware => hardware().map(|()| Some(By::Hardware)),
        TimedBy::Driver if !times[0].driver_sends => {
            Err("the first interface's driver does not timestamp departures")
        }
        TimedBy::Driver => are_heard.map(|()| Some(By::Driver)),
    }
}

/// Opens what times tagged frames from the first port to the second, one at each; none where the
/// tester itself does.
pub(crate) fn open(ports: &[Port; 2], wish: TimedBy) -> Result<Option<[Stamper; 2]>> {
    let mut times = [Times::default(); 2];
    for (port, times) in ports.iter().zip(&mut times) {
        *times = port.there(|| Ethtool::open()?.times(&port.interface))?;
    }
    let ways = ports.each_ref().map(|port| port.way);
    let by = choose(wish, ways, times).map_err(|why| {
        Error::Invalid(format!(
            "`{}` and `{}`: {why}; use `--timed-by tester`",
            ports[0].interface, ports[1].interface
        ))
    })?;
    let Some(by) = by else {
        return Ok(None);
    };
    let open = |port: &Port| port.there(|| Stamper::open(&port.interface, by));
    Ok(Some([open(&ports[0])?, open(&ports[1])?]))
}

/// Has `stamper` hear the tagged frames of those that `signature` is of, which may be at these
/// places.
pub(crate) fn hear(
    stamper: &mut Stamper,
    at: Vec<u32>,
    signature: &Signature,
    tags: Tagged,
) -> Result<()> {
    let [a, b, c, d, ..] = signature.head();
    stamper.hear(&Mark {
        at,
        bytes: [a, b, c, d],
        to_number: HEAD_BYTES as u32,
        series: (tags.first as u32, tags.step as u32),
    })
}

/// The latencies of the tagged frames, in their order: of those that came and of which both times
/// are known.
pub(crate) fn latencies(
    [leaving, coming]: [&mut Stamper; 2],
    signature: &Signature,
    tags: Tagged,
) -> io::Result<Vec<Span>> {
    let number = |frame: &[u8]| {
        let read = Signature::read(payload(frame)?)?;
        let is_own = (read.run, read.port) == (signature.run, signature.port);
        let number = extend(read.sequence, tags.first)?;
        (is_own && read.stream != BROADCASTS && tags.has(number)).then_some(number)
    };
    let (mut left, mut came) = (HashMap::new(), Vec::new());
    leaving.left(&mut |frame, at_ns| left.extend(number(frame).map(|number| (number, at_ns))))?;
    coming.heard(&mut |frame, at_ns| {
        // A copy of a frame comes later, and finds its departure taken.
        came.extend(number(frame).and_then(|number| Some((number, at_ns - left.remove(&number)?))));
    })?;
    came.sort_unstable();
    let latency = |&(_, ns): &(u64, i64)| Span::from_ns(ns.max(0).cast_unsigned());
    Ok(came.iter().map(latency).collect())
}

/// Which numbers are tagged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tagged {
    first: u64,
    /// From one to the next.
    step: u64,
    /// One above the last.
    end: u64,
}

impl Tagged {
    /// `frames` of the numbers from `first` on, of which there are `left`.
    pub(crate) fn of(frames: u32, first: u64, left: u64) -> Tagged {
        let step = (left / u64::from(frames.max(1))).max(1);
        Tagged {
            first,
            step,
            end: first + left.min(step * u64::from(frames)),
        }
    }

    /// Whether `number` is one of them.
    #[inline]
    pub(crate) fn has(&self, number: u64) -> bool {
        (self.first..self.end).contains(&number) && (number - self.first).is_multiple_of(self.step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIRES: [Way; 2] = [Way::AfPacket; 2];
    const CARD: Times = Times {
        driver_sends: true,
        hardware_sends: true,
        hardware_hears: true,
        clock: Some(3),
    };

    #[test]
    fn hardware_is_chosen_where_both_interfaces_time_by_one_clock() {
        for wish in [TimedBy::Auto, TimedBy::Hardware] {
            assert_eq!(choose(wish, WIRES, [CARD; 2]), Ok(Some(By::Hardware)));
        }
        assert_eq!(choose(TimedBy::Tester, WIRES, [CARD; 2]), Ok(None));
        assert_eq!(
            choose(TimedBy::Driver, WIRES, [CARD; 2]),
            Ok(Some(By::Driver))
        );
    }

    #[test]
    fn what_is_lacking_is_named_and_found_out_by_itself() {
        let deaf = Times {
            hardware_hears: false,
            ..CARD
        };
        let mute = Times {
            hardware_sends: false,
            ..CARD
        };
        let other = Times {
            clock: Some(4),
            ..CARD
        };
        let none = Times {
            clock: None,
            ..CARD
        };
        let lacking = [
            ([CARD, deaf], "the second interface"),
            ([mute, CARD], "the first interface"),
            ([CARD, other], "share a clock"),
            ([none, none], "share a clock"),
        ];
        for (times, why) in lacking {
            assert_eq!(choose(TimedBy::Auto, WIRES, times), Ok(None));
            let refused = choose(TimedBy::Hardware, WIRES, times).expect_err("it cannot");
            assert!(refused.contains(why), "{refused}");
        }
        for way in [Way::AfXdp, Way::Live] {
            assert_eq!(choose(TimedBy::Auto, [way; 2], [CARD; 2]), Ok(None));
            for wish in [TimedBy::Hardware, TimedBy::Driver] {
                assert!(choose(wish, [way; 2], [CARD; 2]).is_err());
            }
        }
        assert!(choose(TimedBy::Driver, WIRES, [Times::default(); 2]).is_err());
    }

    #[test]
    fn tags_are_spread_over_what_is_left() {
        let tags = Tagged::of(2, 100, 100);
        let tagged: Vec<u64> = (0..300).filter(|&number| tags.has(number)).collect();
        assert_eq!(tagged, [100, 150]);
        assert!(!Tagged::of(5, 100, 0).has(100));
    }
}
