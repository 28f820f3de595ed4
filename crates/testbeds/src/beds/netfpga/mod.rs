//! The NetFPGA reference router as a device under test, by its model: nothing of it is here
//! (docs/netfpga.md).
//!
//! ```text
//! --model reference-1g                           a design of the crate `netfpga`
//! --model reference-1g:loaded=4                  so many ports are offered the load, each to the next
//! --model reference-1g:path=software             all by the software, as through the paper's `nf2c0`
//! --model reference-1g:ideal_memory=1            any number of the design
//! --model reference-1g:tables=rfc2544            frames with contents, tables of `--dut netfpga`
//! --model reference-1g:tables=FILE,ttl=1         tables of a file; frames whose TTL ends here
//! ```
//! Virtual time: a trial of a minute takes no minute, and the same trial always gives the same. A
//! repetition is therefore the same number again, which is kept and not computed anew.

mod contents;
mod offered;
mod ran;
mod trial;

use crate::transfer::simulated::{self, ACK_BYTES, DeviceBetween, SEGMENT_BYTES};
use anyhow::{Context, bail};
use contents::Contents;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trammel_bench::ports::PortFlow;
use trammel_bench::testbed::{LatencyOf, Observation, Plan, Testbed, Traffic, Unable};
use trammel_bench::transfer::{File, Protocol as Carrier, Transferred};
use trammel_bench::trial::{Failure, TrialOutcome};
use trammel_core::label::Label;
use trammel_core::time::{Span, Time};
use trammel_netfpga::params::{Params, preset};
use trammel_netfpga::router::Router;
use trial::last_due;

/// Frames of a port that are simulated of a long trial, about, before its state comes again.
const SIMULATED: f64 = 200_000.0;
/// What one of them takes here, s, about; with contents.
const FRAME_S: f64 = 0.25e-6;
const CONTENTS_S: f64 = 0.5e-6;
/// What a restart of the card is in RFC 6201's taxonomy: the card is a line card of its host.
const RESTART: &str = "hardware-lc: FPGA, tables and control software";

/// Where the frames go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    /// From port to port.
    Hardware,
    /// To the software, and no further.
    Software,
}

/// The model with a tester around it.
#[derive(Debug)]
pub struct NetFpga {
    name: String,
    router: Router,
    path: Path,
    /// What frames have, where they have contents.
    contents: Option<Contents>,
    /// Ports that are offered the load, each to the next.
    loaded: u64,
    /// What came of the last trial.
    last: Option<(Traffic, Plan, Observation)>,
}

impl NetFpga {
    /// The design that `text` names, with what it changes of it: `NAME` or
    /// `NAME:KEY=VALUE,KEY=VALUE`. Trials of frames with contents end when `interrupted` is set.
    pub fn parse(text: &str, interrupted: &Arc<AtomicBool>) -> anyhow::Result<NetFpga> {
        let (name, changes) = text.split_once(':').unwrap_or((text, ""));
        let mut params = preset(name)?;
        let (mut path, mut loaded) = (Path::Hardware, 1);
        let (mut contents, mut ttl) = (None, None);
        for change in changes.split(',').filter(|change| !change.is_empty()) {
            let (key, value) = change.split_once('=').with_context(|| {
                format!("`--model {text}`: `{change}` changes nothing; write it as KEY=VALUE")
            })?;
            let number = || {
                let number = value.parse::<u64>().ok();
                number.with_context(|| format!("`{key}` = `{value}`: that is no whole number"))
            };
            match (key, value) {
                ("path", "hardware") => path = Path::Hardware,
                ("path", "software") => path = Path::Software,
                ("path", _) => bail!("`path` = `{value}`: it is `hardware` or `software`"),
                ("loaded", _) => loaded = number()?,
                ("tables", _) => contents = Some(Contents::of(value).map_err(anyhow::Error::msg)?),
                ("ttl", _) => ttl = Some(u8::try_from(number()?).context("`ttl` is 0 to 255")?),
                _ => params.set(key, number()?)?,
            }
        }
        if !(1..=params.ports).contains(&loaded) {
            let ports = params.ports;
            bail!("`loaded` = {loaded}: the design has {ports} ports; give 1 to {ports}");
        }
        if contents.is_none() && ttl.is_some() {
            bail!("`ttl` is of frames with contents: add `tables=rfc2544` or `tables=FILE`");
        }
        let contents = contents.map(|contents| Contents {
            ttl: ttl.unwrap_or(contents.ttl),
            is_to_host: path == Path::Software,
            interrupted: Arc::clone(interrupted),
            ..contents
        });
        Ok(NetFpga {
            name: text.to_owned(),
            router: Router::new(&params)?,
            path,
            contents,
            loaded,
            last: None,
        })
    }

    fn params(&self) -> &Params {
        self.router.params()
    }
}

impl Testbed for NetFpga {
    fn label(&self) -> Label {
        Label::Modelled
    }

    fn device(&self) -> String {
        format!("NetFPGA model {}", self.name)
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        let params = self.params();
        let bits_per_s = 8e12 / params.byte_ps() as f64;
        let ways = self.ways(traffic).map_or(1, |ways| ways.len());
        ways as f64 * traffic.sizes.line_fps(bits_per_s)
    }

    fn sources(&self, traffic: &Traffic) -> u32 {
        let ways = self.ways(traffic).map_or(1, |ways| ways.len());
        let mut sizes = traffic.sizes.bytes().to_vec();
        sizes.sort_unstable();
        sizes.dedup();
        (ways * sizes.len()) as u32
    }

    fn latency_of(&self) -> LatencyOf {
        LatencyOf::StoreAndForward
    }

    /// With contents every frame is simulated: once is enough.
    fn repeats_itself(&self) -> bool {
        self.contents.is_some()
    }

    fn resets(&self) -> Vec<String> {
        vec![RESTART.to_owned()]
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        if let Some((_, _, observed)) = self
            .last
            .as_ref()
            .filter(|(with, by, _)| with == traffic && by == plan)
        {
            return Ok(observed.clone());
        }
        let observed = self.observe(traffic, plan)?;
        self.last = Some((traffic.clone(), plan.clone(), observed.clone()));
        Ok(observed)
    }

    fn offer_together(&mut self, flows: &[PortFlow]) -> Result<Vec<Observation>, Failure> {
        let mut streams = Vec::new();
        let mut of_flow = Vec::new();
        let Some(with) = flows.first().map(|flow| flow.traffic.clone()) else {
            return Ok(Vec::new());
        };
        for flow in flows {
            self.check(&flow.traffic)?;
            let ports = self.params().ports;
            if u64::from(flow.from.max(flow.to)) >= ports {
                return Err(Unable(format!("the design has {ports} ports")).into());
            }
            let way = (flow.from as usize, flow.to as usize);
            let load = (flow.load.frames_per_second(), flow.load.duration());
            let of = (&flow.traffic.sizes, flow.traffic.burst);
            let own = self.streams(way, of, load, Time::ZERO);
            of_flow.push(streams.len()..streams.len() + own.len());
            streams.extend(own);
        }
        let ran = self.run(&with, &streams, Vec::new(), self.end(&streams))?;
        let observation = |(flow, range): (&PortFlow, std::ops::Range<usize>)| {
            let own = &ran.streams[range.clone()];
            Observation::of(TrialOutcome {
                offered: own.iter().map(|counts| counts.received).sum(),
                forwarded: own.iter().map(|counts| counts.came).sum(),
                effective: flow
                    .load
                    .duration()
                    .max(last_due(&streams[range]).since_start()),
                bunched: 0,
                latency: None,
            })
        };
        Ok(flows.iter().zip(of_flow).map(observation).collect())
    }

    fn takes(&self, _: &Traffic, plan: &Plan) -> Option<Span> {
        if self.contents.is_some() {
            return Some(Span::from_secs_f64(plan.frames() * CONTENTS_S));
        }
        let tags = plan.tags.map_or(0, |tags| tags.frames);
        let most = SIMULATED * self.loaded as f64 * f64::from(tags + 1);
        Some(Span::from_secs_f64(plan.frames().min(most) * FRAME_S))
    }

    fn carries_files(&self, carrier: &Carrier) -> Result<(), Unable> {
        if self.path == Path::Software || self.loaded > 1 {
            return Err(Unable(
                "a file goes through the model from one port to the next: leave `path` and \
                 `loaded` out"
                    .to_owned(),
            ));
        }
        simulated::of(carrier).map(|_| ())
    }

    fn transfer(&mut self, file: &File) -> Result<Transferred, Failure> {
        let delay = DeviceBetween::Delay(self.alone(SEGMENT_BYTES)?, self.alone(ACK_BYTES)?);
        simulated::transfer(&delay, 8e12 / self.params().byte_ps() as f64, file)
    }
}

#[cfg(test)]
mod tests;
