//! One TCP flow: its congestion control, the stack around it, when it sends and how much.

use super::plugin::Plugin;
use crate::registry::Family;
use trammel_core::entry::{Kind, Params, Value};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_tcp::cc;

/// The TCP around a congestion control.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stack {
    /// Linux 6: PRR, RACK-TLP, DSACK undo, HyStart, ten segments at first.
    #[default]
    Linux6,
    /// Linux 2.6: rate halving, FACK, three segments at first.
    Linux26,
    /// RFC 5681, 6582 and 6675 to the letter.
    Rfc,
}

impl Stack {
    /// The word in a scenario file.
    pub fn name(self) -> &'static str {
        match self {
            Stack::Linux6 => "linux-6",
            Stack::Linux26 => "linux-2.6",
            Stack::Rfc => "rfc",
        }
    }
}

/// When the receiver acknowledges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DelayedAck {
    /// Every segment at once.
    Off,
    /// As the stack does: every second segment, or after its timer.
    Stack,
    /// After this many segments, or after the stack's timer.
    Segments(u32),
}

/// The ECN that a flow negotiates at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ecn {
    /// None.
    #[default]
    Off,
    /// Classic ECN (RFC 3168).
    Classic,
    /// Accurate ECN (RFC 9768).
    Accurate,
}

impl From<bool> for Ecn {
    fn from(on: bool) -> Ecn {
        if on { Ecn::Classic } else { Ecn::Off }
    }
}

/// Memory of sockets that nobody set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Buffers {
    /// Never what binds.
    #[default]
    Unlimited,
    /// As Linux has it: small at first, growing to 4 MB for sending and 6 MB for receiving.
    Linux,
}

/// The queue of a sending host, in front of its first link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SenderQueue {
    /// None that counts.
    #[default]
    None,
    /// Linux's `fq`: each flow is paced.
    Fq,
}

/// One TCP flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name in the results; empty until the scenario names it after its variant.
    pub name: String,
    /// Its place among the flows, from 0, where only its variant has named it.
    pub place: Option<usize>,
    /// Its congestion control.
    pub variant: Plugin,
    /// When it starts; without it, drawn from the seed.
    pub start: Option<Time>,
    /// When it stops to send; without it, at the end of the run.
    pub stop: Option<Time>,
    /// How long it sends, in place of `stop`.
    pub duration: Option<Span>,
    /// What it has to send; without it, there is no end.
    pub bytes: Option<u64>,
    /// Payload that its application writes; without it, as fast as TCP sends.
    pub rate: Option<Rate>,
    /// Sending host, in a network.
    pub from: Option<String>,
    /// Receiving host, in a network.
    pub to: Option<String>,
    /// Its own unloaded round trip.
    pub rtt: Option<Span>,
    /// The TCP around the congestion control.
    pub stack: Stack,
    /// Selective acknowledgements.
    pub sack: bool,
    /// The ECN that it negotiates; without it, what the variant needs.
    pub ecn: Option<Ecn>,
    /// The differentiated services codepoint of its packets.
    pub dscp: u8,
    /// Memory of its sockets where it is not set.
    pub buffers: Buffers,
    /// Send buffer in bytes, as an application sets it.
    pub socket_buffer: Option<u64>,
    /// Receive buffer in bytes, as an application sets it.
    pub receive_buffer: Option<u64>,
    /// Interval at which the receiving application reads; without it, at once.
    pub reader: Option<Span>,
    /// When the receiver acknowledges.
    pub delayed_ack: DelayedAck,
    /// First congestion window in segments; without it, the stack's.
    pub initial_window: Option<u32>,
    /// Least retransmission timeout; without it, the stack's.
    pub min_rto: Option<Span>,
    /// Largest congestion window in segments.
    pub cwnd_clamp: Option<u32>,
    /// The timestamp option; without it, as the stack does.
    pub timestamps: Option<bool>,
    /// Small segments wait while data is unacknowledged; without it, as the stack does.
    pub nagle: Option<bool>,
    /// Segments are paced; without it, if the variant requires it.
    pub pacing: Option<bool>,
    /// Payload that is sent at most, paced (`SO_MAX_PACING_RATE`).
    pub pacing_rate: Option<Rate>,
    /// The queue of the sending host.
    pub sender_queue: SenderQueue,
    /// Segmentation offload.
    pub offload: bool,
    /// The kernel's name of the congestion control that is measured, where it is not that of
    /// `variant`.
    pub kernel_variant: Option<String>,
}

/// The kernel's name of BBR version 3, which comes in place of version 1, and the dialect that it
/// speaks.
const KERNELS_BBR3: (&str, &str) = ("bbr", "linux");

impl Flow {
    /// The variant's name, not an alias of it.
    fn own_name(&self) -> &str {
        let about = self.variant.about(Family::Variant).ok();
        about.map_or(self.variant.name.as_str(), |about| about.name)
    }

    /// The kernel's name of what is measured.
    pub fn kernel_name(&self) -> &str {
        match (&self.kernel_variant, self.own_name()) {
            (Some(own), _) => own,
            (None, "bbr3") => KERNELS_BBR3.0,
            (None, name) => name,
        }
    }

    /// Whether the kernel must have BBR version 3 for this flow.
    pub fn needs_bbr3(&self) -> bool {
        self.own_name() == "bbr3" && self.kernel_name() == KERNELS_BBR3.0
    }

    /// The kernel's congestion control, where it is another law than the `variant` that is
    /// simulated and predicted: one of another name, or of another dialect.
    pub fn other_law(&self) -> Option<&str> {
        if self.needs_bbr3() {
            let speaks = |(key, value): &(String, Value)| {
                key == "dialect" && *value == Value::Text(KERNELS_BBR3.1.to_owned())
            };
            let is_same = self.variant.given.iter().any(speaks);
            return (!is_same).then_some(KERNELS_BBR3.0);
        }
        let own = self.kernel_variant.as_deref()?;
        (own != self.own_name()).then_some(own)
    }

    /// The variant as the stack speaks it: in the dialect called after the stack, where it has one
    /// and no other is given.
    fn spoken(&self) -> Result<Plugin, String> {
        let about = self.variant.about(Family::Variant)?;
        let stack = self.stack.name();
        let speaks = about.params.iter().any(|param| {
            param.name == "dialect"
                && matches!(param.kind, Kind::Choice(words) if words.contains(&stack))
        });
        let is_given = self.variant.given.iter().any(|(key, _)| key == "dialect");
        let variant = self.variant.clone();
        Ok(if speaks && !is_given {
            variant.with("dialect", Value::Text(stack.to_owned()))
        } else {
            variant
        })
    }

    /// The variant's parameters, the defaults filled in.
    pub fn params(&self) -> Result<Params, String> {
        self.spoken()?.params(Family::Variant)
    }

    /// The entry of the congestion control, with all its parameters.
    pub fn congestion_control(&self) -> Result<(&'static cc::Entry, Params), String> {
        let params = self.params()?;
        let entry = cc::find(&self.variant.name).expect("the variant is built in");
        Ok((entry, params))
    }

    /// A flow of `variant` with all defaults. `newreno` means Reno over stack `rfc` without SACK.
    pub fn new(variant: &str) -> Flow {
        let is_newreno = variant == "newreno";
        Flow {
            name: String::new(),
            place: None,
            variant: variant.into(),
            start: None,
            stop: None,
            duration: None,
            bytes: None,
            rate: None,
            from: None,
            to: None,
            rtt: None,
            stack: if is_newreno {
                Stack::Rfc
            } else {
                Stack::Linux6
            },
            sack: !is_newreno,
            dscp: 0,
            ecn: None,
            buffers: Buffers::Unlimited,
            socket_buffer: None,
            receive_buffer: None,
            reader: None,
            delayed_ack: DelayedAck::Stack,
            initial_window: None,
            min_rto: None,
            cwnd_clamp: None,
            timestamps: None,
            nagle: None,
            pacing: None,
            pacing_rate: None,
            sender_queue: SenderQueue::None,
            offload: false,
            kernel_variant: None,
        }
    }
    /// Sets the name.
    pub fn name(mut self, name: &str) -> Flow {
        name.clone_into(&mut self.name);
        self
    }
    /// Sets a parameter of the variant.
    pub fn param(mut self, key: &str, value: Value) -> Flow {
        self.variant = self.variant.with(key, value);
        self
    }
    /// Sets when it starts.
    pub fn start(mut self, at: Time) -> Flow {
        self.start = Some(at);
        self
    }
    /// Sets when it stops to send.
    pub fn stop(mut self, at: Time) -> Flow {
        self.stop = Some(at);
        self
    }
    /// Sets what it has to send.
    pub fn bytes(mut self, bytes: u64) -> Flow {
        self.bytes = Some(bytes);
        self
    }
    /// Sets the payload that its application writes in a second.
    pub fn rate(mut self, rate: Rate) -> Flow {
        self.rate = Some(rate);
        self
    }
    /// Sets its own unloaded round trip.
    pub fn rtt(mut self, rtt: Span) -> Flow {
        self.rtt = Some(rtt);
        self
    }
    /// Sets its hosts.
    pub fn between(mut self, from: &str, to: &str) -> Flow {
        self.from = Some(from.to_owned());
        self.to = Some(to.to_owned());
        self
    }
    /// Sets the TCP around the congestion control.
    pub fn stack(mut self, stack: Stack) -> Flow {
        self.stack = stack;
        self
    }
    /// Switches selective acknowledgements.
    pub fn sack(mut self, on: bool) -> Flow {
        self.sack = on;
        self
    }
    /// Sets the ECN that it negotiates; `true` is classic ECN.
    pub fn ecn(mut self, ecn: impl Into<Ecn>) -> Flow {
        self.ecn = Some(ecn.into());
        self
    }
    /// Sets the memory of its sockets where they are not set one by one.
    pub fn buffers(mut self, buffers: Buffers) -> Flow {
        self.buffers = buffers;
        self
    }
    /// Sets the send buffer in bytes.
    pub fn socket_buffer(mut self, bytes: u64) -> Flow {
        self.socket_buffer = Some(bytes);
        self
    }
    /// Sets the receive buffer in bytes.
    pub fn receive_buffer(mut self, bytes: u64) -> Flow {
        self.receive_buffer = Some(bytes);
        self
    }
    /// Sets when the receiver acknowledges.
    pub fn delayed_ack(mut self, delayed_ack: DelayedAck) -> Flow {
        self.delayed_ack = delayed_ack;
        self
    }
    /// Sets the first congestion window in segments.
    pub fn initial_window(mut self, segments: u32) -> Flow {
        self.initial_window = Some(segments);
        self
    }
    /// Whether its segments are paced by the scenario's word, whatever its variant asks for.
    pub fn is_paced(&self) -> Option<bool> {
        let must = self.pacing_rate.is_some() || self.sender_queue == SenderQueue::Fq;
        if must { Some(true) } else { self.pacing }
    }
    /// Bytes of payload a second that it sends at most; `u64::MAX` for no limit.
    pub fn most_paced(&self) -> u64 {
        self.pacing_rate
            .map_or(u64::MAX, |rate| (rate.as_bps() / 8).max(1))
    }
    /// Sets what it sends at most, paced.
    pub fn pacing_rate(mut self, rate: Rate) -> Flow {
        self.pacing_rate = Some(rate);
        self
    }
    /// Sets the queue of its sending host.
    pub fn sender_queue(mut self, queue: SenderQueue) -> Flow {
        self.sender_queue = queue;
        self
    }
    /// Switches pacing.
    pub fn pacing(mut self, on: bool) -> Flow {
        self.pacing = Some(on);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variant_speaks_its_stack_s_dialect_unless_another_is_given() {
        let dialect = |flow: &Flow| flow.params().unwrap().text("dialect").to_owned();
        let mut flow = Flow::new("scalable");
        assert_eq!(dialect(&flow), "linux");
        flow.stack = Stack::Linux26;
        assert_eq!(dialect(&flow), "linux-2.6");
        flow.variant = flow
            .variant
            .with("dialect", Value::Text("kelly".to_owned()));
        assert_eq!(dialect(&flow), "kelly");
        flow.variant = "reno".into();
        assert!(flow.params().is_ok());
    }
}
