//! Flows that share one bottleneck: the simulator's smallest complete program, and its yardstick.
//!
//! Every option is `key=value`; `dumbbell help` lists them. The results are `key=value` lines on
//! standard output, one line a flow and one for the run, so that a bench reads them without a
//! parser. With `trace=INTERVAL` standard output is instead a CSV of all flows over time, and the
//! results go to standard error. The process does nothing but simulate: its CPU time is the
//! simulator's.
//!
//! ```text
//! sender i ──in i──┐                        ┌──out i── receiver i      with access=10Gbit/s,1ms;
//!                  ├── bottleneck, buffer ──┤                          without, hosts sit at the
//!        …  ───────┘                        └───────                   bottleneck's ends
//! ```

use std::io::{self, Write};
use std::process::ExitCode;
use trammel_core::entry::{Params, Value};
use trammel_core::time::{Span, Time};
use trammel_core::units::{Dimension, Quantity, Rate};
use trammel_netsim::flow::{FlowSpec, Reader};
use trammel_netsim::ids::{FlowId, LinkId};
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::Network;
use trammel_netsim::trace::Pace;
use trammel_queues::loss;
use trammel_tcp::cc;
use trammel_tcp::stack::{AckPolicy, Stack};

/// Bytes of a full packet, in which the buffer is counted.
const MTU_BYTES: f64 = 1500.0;

const HELP: &str = "\
usage: dumbbell [key=value ...]
  flows=cubic         [N*]VARIANT[:DIALECT][@START], separated by commas: `2*reno,scalable:kelly@1s`
  rate=100Mbit/s      rate of the bottleneck
  rtt=50ms            unloaded round trip; `10ms..100ms` spreads the flows evenly over the range
  buffer=1bdp         of the bottleneck: bdp (of the largest rtt), packets or bytes
  burst=0B            depth of the bottleneck's token bucket; 0 serialises
  loss=0              behind the bottleneck: a probability, or `periodic:N` for each N-th packet
  access=none         `10Gbit/s,1ms`: an access link of this rate and delay at each end of each flow
  overhead=14B        bytes of lower layers that links count for each packet
  duration=30s        of virtual time
  stack=linux-6       linux-6, linux-2.6 or rfc
  ack=preset          linux, every (segment), or every second one and after a time such as 40ms
  iw=0                initial window, segments; 0 leaves the preset's
  window=preset       receive buffer, start and limit, such as 512MB
  reader=at-once      how often the receiving application reads, such as 5ms (it is up to 50us late)
  trace=off           interval of a CSV of all flows, such as 10ms
  seed=1              of every random stream
";

fn main() -> ExitCode {
    if std::env::args().any(|arg| matches!(arg.as_str(), "help" | "--help" | "-h")) {
        return match io::stdout().write_all(HELP.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::FAILURE,
        };
    }
    let options = match Options::from_args(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(error) => {
            eprintln!("dumbbell: {error}; `dumbbell help` lists the options");
            return ExitCode::from(2);
        }
    };
    let mut network = options.network();
    network.run_until(Time::ZERO + options.duration);
    match options.report(&mut network) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("dumbbell: {error}");
            ExitCode::FAILURE
        }
    }
}

/// One flow as written on the command line.
struct FlowOption {
    variant: &'static cc::Entry,
    params: Params,
    start: Time,
}

/// The command line.
struct Options {
    flows: Vec<FlowOption>,
    rate: Rate,
    /// Smallest and largest.
    rtt: (Span, Span),
    /// Limits in packets and in bytes.
    buffer: (u32, u64),
    burst_bytes: Option<u64>,
    loss: Option<(&'static loss::Entry, Params)>,
    access: Option<(Rate, Span)>,
    overhead_bytes: u32,
    duration: Span,
    stack: Stack,
    reader: Option<Span>,
    trace: Option<Span>,
    seed: u64,
}

impl Options {
    fn from_args(args: impl Iterator<Item = String>) -> Result<Options, String> {
        let mut text = Texts::default();
        for arg in args {
            text.set(&arg)?;
        }
        let rate = rate_of(text.get("rate"))?;
        let rtt = match text.get("rtt").split_once("..") {
            Some((low, high)) => (time_of(low)?, time_of(high)?),
            None => (time_of(text.get("rtt"))?, time_of(text.get("rtt"))?),
        };
        let access = match text.get("access") {
            "none" => None,
            access => {
                let (rate, delay) = access
                    .split_once(',')
                    .ok_or("`access` is a rate and a delay")?;
                Some((rate_of(rate)?, time_of(delay)?))
            }
        };
        let least = access.map_or(Span::ZERO, |(_, delay)| delay * 4);
        if rtt.0 < least || rtt.1 < rtt.0 {
            return Err(format!(
                "`rtt` is at least {least}, four access delays, and not falling"
            ));
        }
        Ok(Options {
            flows: flows_of(text.get("flows"))?,
            rate,
            rtt,
            buffer: buffer_of(text.get("buffer"), rate, rtt.1)?,
            burst_bytes: Some(bytes_of(text.get("burst"))?).filter(|bytes| *bytes > 0),
            loss: loss_of(text.get("loss"))?,
            access,
            overhead_bytes: bytes_of(text.get("overhead"))? as u32,
            duration: time_of(text.get("duration"))?,
            stack: stack_of(&text)?,
            reader: optional_time(text.get("reader"), "at-once")?,
            trace: optional_time(text.get("trace"), "off")?,
            seed: whole(text.get("seed"))?,
        })
    }

    /// Links, then flows.
    fn network(&self) -> Network {
        let mut network = Network::new();
        let core_delay = match self.access {
            Some((_, delay)) => (self.rtt.0 - delay * 4) / 2,
            None => self.rtt.0 / 2,
        };
        let bottleneck = network.add_link(LinkSpec {
            rate: Some(self.rate),
            burst_bytes: self.burst_bytes,
            queue: Queue::DropTail {
                packets: self.buffer.0,
                bytes: self.buffer.1,
            },
            loss: self.loss.as_ref().map(|(entry, params)| {
                (entry.build)(params).expect("resolved parameters of these models are possible")
            }),
            seed: self.seed,
            ..LinkSpec::wire("bottleneck", core_delay)
        });
        // ACKs share a way back as fast as the bottleneck where hosts have access links of their
        // own.
        let shared_return = (self.access.is_some() || self.rtt.0 == self.rtt.1).then(|| {
            let rate = self.access.map(|_| self.rate);
            network.add_link(LinkSpec {
                rate,
                ..LinkSpec::wire("return", core_delay)
            })
        });
        for index in 0..self.flows.len() {
            let extra = self.extra_delay(index);
            let mut wire = |name: &str, rate, delay| {
                let name = format!("{name} {index}");
                network.add_link(LinkSpec {
                    rate,
                    ..LinkSpec::wire(&name, delay)
                })
            };
            let (forward, backward) = match (self.access, shared_return) {
                (Some((rate, delay)), Some(back)) => {
                    let mut access = |name, delay| wire(name, Some(rate), delay);
                    (
                        vec![
                            access("in", delay),
                            bottleneck,
                            access("out", delay + extra),
                        ],
                        vec![access("back in", delay), back, access("back out", delay)],
                    )
                }
                (_, Some(back)) => (vec![bottleneck], vec![back]),
                (_, None) => (
                    vec![bottleneck],
                    vec![wire("return", None, core_delay + extra)],
                ),
            };
            network.add_flow(self.flow(index, forward, backward));
        }
        network
    }

    /// By how much the round trip of flow `index` exceeds the smallest.
    fn extra_delay(&self, index: usize) -> Span {
        let steps = self.flows.len().saturating_sub(1).max(1) as u64;
        (self.rtt.1 - self.rtt.0) / steps * index as u64
    }

    fn flow(&self, index: usize, forward: Vec<LinkId>, backward: Vec<LinkId>) -> FlowSpec {
        let FlowOption {
            variant,
            params,
            start,
        } = &self.flows[index];
        let (build, params) = (variant.build, params.clone());
        FlowSpec {
            name: format!("flow {index}"),
            client: self.stack.clone(),
            server: self.stack.clone(),
            cc: Box::new(move || build(&params)),
            start: *start,
            stop: Time::MAX,
            bytes: None,
            forward,
            backward,
            // A reader that the scheduler wakes is late by tens of microseconds.
            reader: self
                .reader
                .map(|interval| Reader::every(interval, Span::from_us(50))),
            overhead_bytes: self.overhead_bytes,
            pace: self.trace.map_or(Pace::Off, Pace::Interval),
            seed: self.seed,
        }
    }

    fn report(&self, network: &mut Network) -> io::Result<()> {
        let mut results: Box<dyn Write> = Box::new(io::stdout().lock());
        if self.trace.is_some() {
            self.write_trace(network, &mut io::BufWriter::new(results))?;
            results = Box::new(io::stderr().lock());
        }
        self.write_results(network, &mut io::BufWriter::new(results))
    }

    fn write_trace(&self, network: &Network, out: &mut dyn Write) -> io::Result<()> {
        writeln!(
            out,
            "flow,time_s,cwnd,ssthresh,srtt_us,in_flight,state,retransmissions,bytes_acked"
        )?;
        for index in 0..self.flows.len() {
            for s in &network.flow_trace(FlowId::new(index)).samples {
                write!(
                    out,
                    "{index},{:.6},{},{}",
                    s.time.as_secs_f64(),
                    s.cwnd,
                    s.ssthresh
                )?;
                write!(out, ",{},{},{}", s.srtt_us, s.in_flight, s.state)?;
                writeln!(out, ",{},{}", s.retransmissions, s.bytes_acked)?;
            }
        }
        out.flush()
    }

    fn write_results(&self, network: &mut Network, out: &mut dyn Write) -> io::Result<()> {
        let (mut data_packets, mut acks, mut delivered_bytes) = (0, 0, 0);
        for (index, option) in self.flows.iter().enumerate() {
            let mean_rtt_us = network.flow_rtt(FlowId::new(index)).mean().unwrap_or(0.0);
            let flow = network.flow(FlowId::new(index));
            let sender = &flow.sender;
            data_packets += sender.data_segments_sent;
            acks += sender.acks_received;
            delivered_bytes += flow.bytes_delivered;
            write!(out, "flow={index} variant={}", option.variant.about.name)?;
            let end = Time::ZERO + self.duration;
            let active_s = end.saturating_since(option.start).as_secs_f64();
            let goodput_mbps = flow.bytes_delivered as f64 * 8e-6 / active_s;
            write!(
                out,
                " goodput_mbps={goodput_mbps:.4} data_packets={}",
                sender.data_segments_sent
            )?;
            write!(
                out,
                " retransmissions={} timeouts={}",
                sender.retransmissions, sender.timeouts
            )?;
            write!(
                out,
                " recoveries={} probes={}",
                sender.recoveries, sender.tail_loss_probes
            )?;
            write!(out, " undos={} acks={}", sender.undos, sender.acks_received)?;
            write!(out, " cwnd={} srtt_us={}", flow.cwnd, flow.srtt_us)?;
            writeln!(out, " mean_rtt_us={mean_rtt_us:.1}")?;
        }
        let goodput_mbps = delivered_bytes as f64 * 8e-6 / self.duration.as_secs_f64();
        let bottleneck = network.link(LinkId::new(0)).counters();
        write!(
            out,
            "run data_packets={data_packets} acks={acks} goodput_mbps={goodput_mbps:.4}"
        )?;
        write!(
            out,
            " overflow={} lost={}",
            bottleneck.overflow_pkts, bottleneck.lost_pkts
        )?;
        write!(out, " peak_queue={}", bottleneck.peak_pkts)?;
        if let Some(kb) = peak_rss_kb() {
            write!(out, " peak_rss_kb={kb}")?;
        }
        writeln!(out)?;
        out.flush()
    }
}

/// The words of the command line, with the defaults that `HELP` states.
struct Texts(Vec<(String, String)>);

impl Default for Texts {
    fn default() -> Texts {
        let pairs = HELP.lines().skip(1).filter_map(|line| {
            let (key, value) = line.split_whitespace().next()?.split_once('=')?;
            Some((key.to_owned(), value.to_owned()))
        });
        Texts(pairs.collect())
    }
}

impl Texts {
    fn set(&mut self, arg: &str) -> Result<(), String> {
        let (key, value) = arg
            .split_once('=')
            .ok_or(format!("`{arg}` is not key=value"))?;
        let known = self.0.iter_mut().find(|(name, _)| name == key);
        let (_, text) = known.ok_or(format!("`{key}` is no option"))?;
        value.clone_into(text);
        Ok(())
    }

    fn get(&self, key: &str) -> &str {
        let found = self.0.iter().find(|(name, _)| name == key);
        &found.expect("every option has a line in the help").1
    }
}

fn flows_of(text: &str) -> Result<Vec<FlowOption>, String> {
    let mut flows = Vec::new();
    for word in text.split(',') {
        let (count, word) = word.split_once('*').unwrap_or(("1", word));
        let (word, start) = word.split_once('@').unwrap_or((word, "0s"));
        let (name, dialect) = match word.split_once(':') {
            Some((name, dialect)) => (name, Some(dialect)),
            None => (word, None),
        };
        let variant = cc::find(name).ok_or(format!("`{name}` is no variant"))?;
        let given: Vec<_> = dialect
            .map(|word| ("dialect".to_owned(), Value::Text(word.to_owned())))
            .into_iter()
            .collect();
        let params = resolve(&variant.about, &given)?;
        for _ in 0..whole(count)? {
            flows.push(FlowOption {
                variant,
                params: params.clone(),
                start: Time::ZERO + time_of(start)?,
            });
        }
    }
    Ok(flows)
}

fn loss_of(text: &str) -> Result<Option<(&'static loss::Entry, Params)>, String> {
    let (name, given) = match text.split_once(':') {
        Some(("periodic", every)) => ("periodic", ("every", Value::Int(whole(every)? as i64))),
        Some((other, _)) => return Err(format!("`{other}` is not `periodic`")),
        None => match quantity(text, Dimension::Ratio)? {
            0.0 => return Ok(None),
            probability => ("bernoulli", ("probability", Value::Float(probability))),
        },
    };
    let entry = loss::find(name).ok_or(format!("this build has no loss model `{name}`"))?;
    let params = resolve(&entry.about, &[(given.0.to_owned(), given.1)])?;
    Ok(Some((entry, params)))
}

fn stack_of(text: &Texts) -> Result<Stack, String> {
    let preset = text.get("stack");
    let mut stack = Stack::preset(preset).ok_or(format!("`{preset}` is no stack"))?;
    match text.get("ack") {
        "preset" => {}
        "linux" => stack.ack_policy = AckPolicy::Linux,
        "every" => stack.ack_policy = AckPolicy::EverySegment,
        delay => stack.ack_policy = AckPolicy::Delayed(time_of(delay)?),
    }
    let initial_window = whole(text.get("iw"))? as u32;
    if initial_window > 0 {
        stack.initial_window = initial_window;
    }
    if text.get("window") != "preset" {
        stack.max_receive_buffer = bytes_of(text.get("window"))?;
        stack.receive_buffer = stack.max_receive_buffer;
        stack.rmem_max = 2 * stack.max_receive_buffer;
    }
    // The flows here always have data: one that pauses was stopped by its peer, not by its
    // application.
    stack.slow_start_after_idle = false;
    Ok(stack)
}

/// The limits of the bottleneck's queue in packets and in bytes.
fn buffer_of(text: &str, rate: Rate, rtt: Span) -> Result<(u32, u64), String> {
    let wanted = [Dimension::Bdp, Dimension::Packets, Dimension::Bytes];
    let quantity = Quantity::parse_as(text, &wanted).map_err(|error| error.to_string())?;
    Ok(match quantity.dimension {
        Dimension::Bytes => (u32::MAX, quantity.value as u64),
        Dimension::Packets => (quantity.value as u32, u64::MAX),
        _ => {
            let bdp = rate.as_bps() as f64 * rtt.as_secs_f64() / 8.0 / MTU_BYTES;
            ((bdp * quantity.value).max(1.0) as u32, u64::MAX)
        }
    })
}

fn resolve(
    about: &trammel_core::entry::About,
    given: &[(String, Value)],
) -> Result<Params, String> {
    Params::resolve(about, given).map_err(|errors| {
        errors
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join("; ")
    })
}

fn quantity(text: &str, dimension: Dimension) -> Result<f64, String> {
    let quantity = Quantity::parse_as(text, &[dimension]).map_err(|error| error.to_string())?;
    Ok(quantity.value)
}

fn rate_of(text: &str) -> Result<Rate, String> {
    Ok(Rate::from_bps(quantity(text, Dimension::Rate)? as u64))
}

fn time_of(text: &str) -> Result<Span, String> {
    Ok(Span::from_secs_f64(quantity(text, Dimension::Time)?))
}

fn optional_time(text: &str, none: &str) -> Result<Option<Span>, String> {
    if text == none {
        Ok(None)
    } else {
        time_of(text).map(Some)
    }
}

fn bytes_of(text: &str) -> Result<u64, String> {
    Ok(quantity(text, Dimension::Bytes)? as u64)
}

fn whole(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no whole number"))
}

/// Largest resident set of this process so far, where the system tells.
fn peak_rss_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse().ok()
}
