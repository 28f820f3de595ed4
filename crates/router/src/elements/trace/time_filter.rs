//! Passes packets with timestamps in a range.
//!
//! # What it does
//! Packets from `START` up to `END` pass; others leave by output 1, or end here. Either bound may
//! count from the first packet (`_AFTER`) or from when the router began (`_DELAY`). The first
//! packet after the end writes the handler `END_CALL`, in whose argument `$t` is the packet's time;
//! the call may extend the range, and the packet then passes.
//!
//! # Example
//! ```click
//! // The second ten seconds of a capture.
//! FromDump(a.pcap, STOP true) -> TimeFilter(START_AFTER 10, INTERVAL 10) -> ToDump(b.pcap)
//! ```

use crate::args::handler_call::HandlerCall;
use crate::args::times::{parse_timestamp, unparse_timestamp};
use crate::args::{Args, Kind, Need, Param, flag, keyword, param};
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::{Ctx, Element, Handler};
use crate::reason::Reason;
use trammel_packet::batch::Packets;
use trammel_packet::timestamp::Timestamp;

/// The class.
pub static ENTRY: Entry = Entry::new(
    "TimeFilter",
    "passes packets with timestamps in a range",
    || Box::<TimeFilter>::default(),
)
.ports("1/1-2", "a/ah")
.params(&[
    time("START", Need::Positional, "the first time that passes"),
    time("END", Need::Positional, "the first time that does not"),
    time(
        "START_DELAY",
        Need::Keyword,
        "`START`, from when the router began",
    ),
    time(
        "END_DELAY",
        Need::Keyword,
        "`END`, from when the router began",
    ),
    time(
        "START_AFTER",
        Need::Keyword,
        "`START`, from the first packet",
    ),
    time("END_AFTER", Need::Keyword, "`END`, from the first packet"),
    time("INTERVAL", Need::Keyword, "`END`, from `START`"),
    flag("STOP", "false", "whether it stops the driver at the end"),
    keyword(
        "END_CALL",
        Kind::HandlerCall,
        "",
        "handler written at the end",
    ),
])
.ops("work(35)");

const fn time(name: &'static str, need: Need, help: &'static str) -> Param {
    param(name, need, Kind::Timestamp, "", help)
}

/// What a bound is counted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum From {
    #[default]
    Epoch,
    Begin,
    FirstPacket,
    Start,
}

#[derive(Debug, Default)]
struct TimeFilter {
    start: Timestamp,
    start_from: From,
    end: Timestamp,
    end_from: From,
    /// Whether a packet was seen.
    is_set: bool,
    stops: bool,
    end_call: Option<HandlerCall>,
    /// Whether the end is still to be told.
    is_armed: bool,
}

/// The one bound of `kinds` that is given, if not zero; an error where there are more.
fn bound(
    args: &Args,
    kinds: &[(&'static str, From)],
    what: &str,
) -> Result<Option<(Timestamp, From)>, Diagnostics> {
    let given = kinds
        .iter()
        .map(|(name, from)| (args.timestamp(name), *from));
    let given: Vec<_> = given.filter(|(time, _)| !time.is_zero()).collect();
    if given.len() > 1 {
        let mut said = Diagnostics::new();
        said.error(None, format!("{what} are mutually exclusive"));
        return Err(said);
    }
    Ok(given.first().copied())
}

impl TimeFilter {
    fn first_packet(&mut self, time: Timestamp) {
        if self.start_from == From::FirstPacket {
            self.start = self.start + time;
        }
        match self.end_from {
            From::FirstPacket => self.end = self.end + time,
            // Where no start is given the first packet is it.
            From::Start if self.start.is_zero() => self.end = self.end + time,
            From::Start => self.end = self.end + self.start,
            From::Epoch | From::Begin => {}
        }
        self.is_set = true;
    }

    #[cold]
    fn reached(&mut self, ctx: &mut Ctx, time: Timestamp) {
        while time >= self.end && self.is_armed {
            let before = self.end;
            self.is_armed = false;
            if self.stops {
                ctx.stop();
            } else if let Some(mut call) = self.end_call.clone() {
                let text = unparse_timestamp(time);
                call.argument = call.argument.replace("${t}", &text).replace("$t", &text);
                if let Err(why) = ctx.call_back(self, &call) {
                    let text = format!("{}: END_CALL: {why}\n", ctx.declaration(ctx.me()));
                    ctx.host().say(&text);
                }
            }
            if self.end <= before {
                break;
            }
        }
    }

    fn passes(&mut self, ctx: &mut Ctx, time: Timestamp) -> bool {
        if !self.is_set {
            self.first_packet(time);
        }
        if time >= self.start && time >= self.end && self.is_armed {
            self.reached(ctx, time);
        }
        (self.start..self.end).contains(&time)
    }
}

impl Element for TimeFilter {
    fn configure(&mut self, _: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        let start = [
            ("START", From::Epoch),
            ("START_DELAY", From::Begin),
            ("START_AFTER", From::FirstPacket),
        ];
        let start = bound(args, &start, "START, START_AFTER, and START_AFTER_INIT")?;
        (self.start, self.start_from) = start.unwrap_or_default();
        let end = [
            ("END", From::Epoch),
            ("END_DELAY", From::Begin),
            ("END_AFTER", From::FirstPacket),
            ("INTERVAL", From::Start),
        ];
        let end = bound(args, &end, "END, END_AFTER, END_AFTER_INIT, and INTERVAL")?;
        (self.end, self.end_from) = end.unwrap_or((Timestamp(i64::MAX), From::Epoch));
        self.stops = args.bool("STOP");
        self.end_call = args.opt_handler_call("END_CALL").cloned();
        self.is_armed = self.stops || self.end_call.is_some();
        if self.stops && self.end_call.is_some() {
            let mut said = Diagnostics::new();
            said.error(None, "END_CALL and STOP are mutually exclusive");
            return Err(said);
        }
        Ok(())
    }

    fn initialize(&mut self, ctx: &mut Ctx) -> Result<(), String> {
        let now = ctx.now();
        if self.start_from == From::Begin {
            self.start = self.start + now;
        }
        if self.end_from == From::Begin {
            self.end = self.end + now;
        }
        Ok(())
    }

    fn process(&mut self, ctx: &mut Ctx, batch: &mut Packets) {
        batch.filter(|handle| {
            let time = ctx.pool()[&handle].timestamp();
            if self.passes(ctx, time) {
                return Some(handle);
            }
            ctx.reject(1, handle, Reason::Filtered);
            None
        });
    }

    fn handlers(&self) -> Vec<Handler> {
        vec![
            Handler::new("start", "rw"),
            Handler::new("end", "rw"),
            Handler::new("interval", "rw"),
            Handler::new("extend_interval", "w"),
        ]
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(unparse_timestamp(match name {
            "start" => self.start,
            "end" => self.end,
            _ => self.end - self.start,
        }))
    }

    fn write(&mut self, _: &mut Ctx, name: &str, value: &str) -> Result<(), String> {
        let time = parse_timestamp(value.trim()).map_err(|_| "expected time".to_owned())?;
        if name == "start" {
            if !self.is_set {
                self.first_packet(time);
            }
            self.start = time;
            return Ok(());
        }
        match name {
            "end" => (self.end, self.end_from) = (time, From::Epoch),
            "interval" => self.end = self.start + time,
            _ => self.end = self.end + time,
        }
        self.is_armed = self.stops || self.end_call.is_some();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{errors, loaded};

    const TIMES: &str =
        "FromIPSummaryDump(DATA \"!data timestamp\n1.0\n2.0\n3.0\n4.5\n9.0\", STOP true)";

    #[test]
    fn an_interval_without_a_start_begins_with_the_first_packet() {
        assert_eq!(passed("INTERVAL 1.5"), "1 2 3");
        assert_eq!(passed("START 2, INTERVAL 1.5"), "2 3 3");
    }

    fn passed(filter: &str) -> String {
        let mut run = loaded(&format!(
            "{TIMES} -> t :: TimeFilter({filter}) \
             -> ToIPSummaryDump(-, HEADER false, FIELDS ts_sec) -> Discard; t[1] -> r :: Counter \
             -> Discard"
        ));
        run.run(1.0);
        assert_eq!(run.ctx.pool().in_use(), 0);
        let printed = run.host.memory().printed.clone();
        format!(
            "{} {}",
            printed.trim().replace('\n', " "),
            run.read("r.count")
        )
    }

    #[test]
    fn bounds_are_absolute_or_relative() {
        assert_eq!(passed("2, 4.5"), "2 3 3");
        assert_eq!(passed("START_AFTER 1, END_AFTER 3.5"), "2 3 3");
        assert_eq!(passed("START 2, INTERVAL 3"), "2 3 4 2");
        assert_eq!(passed("END 3, STOP true"), "1 2 1");
    }

    #[test]
    fn an_end_call_may_extend_the_range() {
        assert_eq!(passed("0, 3, END_CALL t.end 4"), "1 2 3 2");
    }

    #[test]
    fn two_ends_are_refused() {
        assert!(errors("Idle -> TimeFilter(END 3, INTERVAL 4) -> Idle").contains("exclusive"));
        assert!(
            errors("Idle -> TimeFilter(STOP true, END_CALL stop) -> Idle").contains("exclusive")
        );
    }
}
