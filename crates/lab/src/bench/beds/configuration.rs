//! A Click configuration that is a device under test here without its ports: what it is offered, in the workbench's words.

use crate::forwarding::arrivals::Pattern;
use crate::forwarding::bench::{Bench as Workbench, Refused};
use crate::forwarding::estimate::{Conditions, Error as Estimated};
use crate::forwarding::traffic::Traffic as Frames;
use trammel_bench::testbed::{Directions, Plan, Protocol, Traffic, Unable};
use trammel_bench::trial::Failure;
use trammel_cost::estimate::Ports as Links;
use trammel_router::voice;

/// A configuration and the rate of its links.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The configuration.
    pub bench: Workbench,
    /// Bits a second of each port; infinite where links do not limit.
    pub rate: f64,
}

impl Configuration {
    /// Its file's name, without the folder.
    pub fn name(&self) -> String {
        let path = std::path::Path::new(&self.bench.name);
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Frames a second that all its ways in carry.
    pub fn line_fps(&self, traffic: &Traffic) -> f64 {
        self.bench.active().len() as f64 * traffic.sizes.line_fps(self.rate)
    }

    /// Its ways in: each has a sender of its own.
    pub fn sources(&self) -> u32 {
        self.bench.active().len() as u32
    }

    /// The traffic as the workbench makes it; the error is why it cannot.
    pub fn frames(&self, traffic: &Traffic) -> Result<Frames, Unable> {
        let name = self.name();
        let unable = |what: &str| Err(Unable(format!("{name}, without ports, is offered {what}")));
        let Some(frame) = traffic.sizes.only() else {
            return unable("frames of one size only");
        };
        if traffic.protocol != Protocol::Ip4 || traffic.modifier.is_some() {
            return unable("plain IPv4 only");
        }
        if traffic.directions == Directions::Both {
            return unable("frames at all its ways in whatever is asked: leave `--both-ways` out");
        }
        if traffic.networks > 1 {
            return unable("frames to one network only");
        }
        Ok(Frames {
            frame: frame as usize,
            flows: traffic.streams,
            seed: traffic.seed,
            ..Frames::default()
        })
    }

    /// Refuses to call it forwarding that nothing comes out though nothing was lost for want of room.
    pub fn ends_all(&self, lost: u64) -> Result<(), Unable> {
        if self.bench.outlets().is_empty() || lost > 0 {
            return Ok(());
        }
        Err(Unable(format!(
            "no frame comes out of {}, which ends or keeps plain UDP over IPv4 from 198.18.0.1 to 198.19.0.1",
            self.name()
        )))
    }

    /// Under what it is estimated.
    pub fn conditions(&self, frames: &Frames) -> Conditions {
        Conditions {
            traffic: frames.clone(),
            ports: Links {
                count: self.bench.active().len() as f64,
                bits_per_s: self.rate,
            },
            ..Conditions::default()
        }
    }
}

/// When frames come.
pub fn pattern(traffic: &Traffic) -> Pattern {
    match traffic.burst {
        1 => Pattern::Constant,
        burst => Pattern::Bursts(burst),
    }
}

/// A configuration without ports has none to lose and nothing to reset.
pub fn without_reset(plan: &Plan) -> Result<(), Unable> {
    match plan.reset {
        None => Ok(()),
        Some(_) => Err(Unable(
            "a configuration without ports has no reset".to_owned(),
        )),
    }
}

/// Why a configuration cannot be tried.
pub fn failure(error: Estimated) -> Failure {
    match error {
        Estimated::Refused(Refused::Configuration(said)) => voice::render(&said),
        Estimated::Refused(Refused::Other(text)) | Estimated::Other(text) => text,
    }
    .into()
}
