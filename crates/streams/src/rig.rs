//! Two ends of a path on this machine: namespaces with a pair of virtual links, or loopback where
//! these may not be made.

use super::achieved::{Achieved, Wanted, rate};
use super::log_file::session;
use super::send::{self, SendJob};
use anyhow::{Context, anyhow, bail};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use trammel_core::time::{Span, Time};
use trammel_io::netns::{Namespace, veth};
use trammel_scenario::traffic::words::{Words, source};
use trammel_traffic::decode::{Decoder, Options};
use trammel_traffic::receive::hub::{Hub, Sink};
use trammel_traffic::receive::{Receiver, Settings};
use trammel_traffic::record::{Instants, LoggedFlow, Record};
use trammel_traffic::signal::message::Count;
use trammel_traffic::stream::{Late, Limits, Meter, Stream};

/// The addresses of both ends; no namespace but ours has them.
const SENDER: &str = "10.0.3.1/24";
const RECEIVER: &str = "10.0.3.2/24";
const RECEIVER_ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 3, 2));
/// The seed of streams: at equal gaps and sizes nothing is drawn.
const SEED: u64 = 1;

/// The two ends; gone when dropped.
#[derive(Debug)]
pub struct Rig {
    ends: Option<[Namespace; 2]>,
    refused: Option<String>,
}

impl Rig {
    /// Namespaces of its own, or loopback where the kernel refuses them.
    pub fn new() -> Rig {
        let made = || -> Result<[Namespace; 2], trammel_io::error::Error> {
            let ends = [Namespace::new()?, Namespace::new()?];
            let [sender, receiver] = &ends;
            veth(sender, "sender", receiver, "receiver")?;
            sender.add_address("sender", SENDER)?;
            receiver.add_address("receiver", RECEIVER)?;
            Ok(ends)
        };
        match made() {
            Ok(ends) => Rig {
                ends: Some(ends),
                refused: None,
            },
            Err(why) => Rig::loopback(Some(why.to_string())),
        }
    }

    /// Both ends in the namespace of the caller.
    pub fn loopback(refused: Option<String>) -> Rig {
        Rig {
            ends: None,
            refused,
        }
    }

    /// What packets cross.
    pub fn path(&self) -> &'static str {
        match self.ends {
            Some(_) => "veth",
            None => "loopback",
        }
    }

    /// Why there are no namespaces.
    pub fn refused(&self) -> Option<&str> {
        self.refused.as_deref()
    }

    /// Where the receiver is.
    pub fn address(&self) -> IpAddr {
        match self.ends {
            Some(_) => RECEIVER_ADDRESS,
            None => Ipv4Addr::LOCALHOST.into(),
        }
    }

    /// Runs `action` where the sender is.
    pub(crate) fn at_sender<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        match &self.ends {
            Some([sender, _]) => sender.run(action),
            None => action(),
        }
    }

    /// Runs `action` where the receiver is.
    pub(crate) fn at_receiver<T: Send>(&self, action: impl FnOnce() -> T + Send) -> T {
        match &self.ends {
            Some([_, receiver]) => receiver.run(action),
            None => action(),
        }
    }

    /// Sends `wanted` from one end to the other; `stop` ends it early.
    pub fn send(&self, wanted: &Wanted, stop: &AtomicBool) -> anyhow::Result<Achieved> {
        let account = Account::default();
        let hub = Hub::new(Box::new(account.clone()));
        let at = SocketAddr::from((self.address(), 0));
        let receiver = self.at_receiver(|| Receiver::open(at, Settings::default(), hub));
        let receiver = receiver.map_err(|why| anyhow!("{at} cannot be listened on: {why}"))?;
        let job = SendJob::to(receiver.address().to_string());
        let streams = [stream(wanted)?];
        let over = AtomicBool::new(false);
        let outcome = std::thread::scope(|scope| {
            // Sessions that end otherwise than their sender said show in its own outcome.
            scope.spawn(|| self.at_receiver(|| receiver.run(&over, &|_, _| {})));
            let outcome = self.at_sender(|| send::run(&streams, &job, stop));
            over.store(true, Ordering::SeqCst);
            outcome
        })?;
        let [flow] = &outcome.flows[..] else {
            bail!("one stream has {} accounts", outcome.flows.len());
        };
        let (sent, received) = (&flow.sent, &flow.received);
        if let Some(why) = &sent.fault {
            bail!("the stream has ended early: {why}");
        }
        let received = received.as_ref().map_err(|why| anyhow!("{why}"))?;
        let summary = account.finish();
        let summary = summary.context("no packet came")?;
        // Who begins late and catches up is not faster than the plan.
        let planned = sent.count.packets.saturating_sub(1) as f64 / wanted.pps;
        let took = (sent.last_ns - sent.first_ns) as f64 / 1e9;
        let sent_pps = rate(sent.count.packets, took.max(planned));
        let late = |fraction| Some(sent.lateness.quantile_time(fraction)?.as_secs_f64() * 1e6);
        Ok(Achieved {
            bytes: Some(received.bytes as f64 / received.packets as f64),
            sent_pkts: sent.count.packets,
            sent_pps,
            received_pkts: received.packets,
            pps: sent_pps.map(|pps| pps * received.packets as f64 / sent.count.packets as f64),
            lost_pkts: sent.count.packets.saturating_sub(received.packets),
            receiver_lost_pkts: Some(received.lost),
            overdue_pkts: Some(sent.overdue),
            late_us: late(0.5).zip(late(0.99)),
            delay_us: summary.delay.map(|delay| delay.mean_ns / 1e3),
            jitter_us: summary.jitter.mean_ns.map(|ns| ns / 1e3),
        })
    }
}

impl Default for Rig {
    fn default() -> Rig {
        Rig::new()
    }
}

/// What is to be sent.
fn stream(wanted: &Wanted) -> anyhow::Result<Stream> {
    let words = Words {
        rate: Some(wanted.pps.to_string()),
        gap: "constant".to_owned(),
        size: wanted.bytes.to_string(),
        app: None,
    };
    Ok(Stream {
        name: String::new(),
        protocol: wanted.protocol,
        source: source(&words)?,
        start: Time::ZERO,
        limits: Limits {
            duration: Some(Span::from_secs_f64(wanted.seconds)),
            ..Limits::default()
        },
        seed: SEED,
        meter: Meter::OneWay,
        late: Late::Burst,
        ds: None,
        ttl: None,
    })
}

/// Decodes what comes, and tells nobody.
#[derive(Clone, Debug)]
struct Account(Arc<Mutex<Decoder>>);

impl Default for Account {
    fn default() -> Account {
        let mut decoder = Decoder::new(Options::default());
        decoder.session(session(Instants::SentReceived, SEED));
        Account(Arc::new(Mutex::new(decoder)))
    }
}

impl Account {
    fn decoder<T>(&self, work: impl FnOnce(&mut Decoder) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The numbers of the flow; nothing where no packet came.
    fn finish(&self) -> Option<trammel_traffic::decode::Summary> {
        let empty = Decoder::new(Options::default());
        let decoder = self.decoder(|decoder| std::mem::replace(decoder, empty));
        let flow = decoder.finish().flows.pop()?;
        (flow.summary.pkts > 0).then_some(flow.summary)
    }
}

impl Sink for Account {
    fn flow(&mut self, flow: &LoggedFlow) {
        self.decoder(|decoder| decoder.flow(flow.clone()));
    }

    fn record(&mut self, record: &Record) {
        self.decoder(|decoder| decoder.record(record));
    }

    fn closed(&mut self, flow: u32, _: Count, sent: Option<Count>) {
        if let Some(sent) = sent {
            self.decoder(|decoder| decoder.sent(flow, sent.packets));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_traffic::record::Protocol;

    #[test]
    fn both_protocols_are_sent_received_and_accounted_on_both_paths() {
        let own = Rig::new();
        if let Some(why) = own.refused() {
            eprintln!("skipped: no namespaces: {why}");
        }
        for rig in [own, Rig::loopback(None)] {
            for protocol in [Protocol::Udp, Protocol::Tcp] {
                let wanted = Wanted {
                    protocol,
                    bytes: 100,
                    pps: 2000.0,
                    seconds: 0.1,
                };
                let came = rig.send(&wanted, &AtomicBool::new(false));
                let came = came.expect("it is sent");
                assert_eq!((came.sent_pkts, came.received_pkts), (200, 200), "{came:?}");
                assert_eq!((came.lost_pkts, came.bytes), (0, Some(100.0)));
                // On a machine that is busy the rate may be missed, and never by being faster.
                assert!(
                    came.pps.is_some_and(|pps| (10.0..=2000.1).contains(&pps)),
                    "{came:?}"
                );
                assert!(came.delay_us.is_some_and(|us| us > 0.0), "{came:?}");
            }
        }
    }

    #[test]
    fn a_stream_that_is_stopped_ends() {
        let wanted = Wanted {
            protocol: Protocol::Udp,
            bytes: 16,
            pps: 10.0,
            seconds: 1000.0,
        };
        let came = Rig::new().send(&wanted, &AtomicBool::new(true));
        let sent = came.map_or(0, |came| came.sent_pkts);
        assert!(sent < 10, "{sent}");
    }
}
