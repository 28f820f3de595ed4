//! A Click configuration that is a device under test here without its ports: what it is offered, in
//! the workbench's words.

use super::nodes;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trammel_bench::testbed::{Directions, Modifier, Plan, Protocol, Traffic, Unable};
use trammel_bench::trial::{Failure, Load};
use trammel_core::time::Span;
use trammel_cost::estimate::Ports as Links;
use trammel_cost::residency::Locality;
use trammel_router::diagnostic;
use trammel_traffic::addresses::Side;
use trammel_workbench::arrivals::Pattern;
use trammel_workbench::bench::{Bench as Workbench, Flows, Refused};
use trammel_workbench::estimate::{Conditions, Error as Estimated};
use trammel_workbench::frames;
use trammel_workbench::frames::{Field, Nodes};
use trammel_workbench::samples;
use trammel_workbench::traffic::{PER_BROADCAST, Traffic as Frames};

/// Ways in of frames that go both ways: the first and the second of the configuration.
const BOTH: usize = 2;

/// A configuration, the rate of its links, and who may end its trials.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// The configuration.
    pub bench: Workbench,
    /// Bits a second of each port; infinite where links do not limit.
    pub rate: f64,
    /// Set when the user interrupts: a trial under way ends, and is none.
    pub interrupted: Arc<AtomicBool>,
}

/// What a configuration is offered.
#[derive(Clone, Debug)]
pub struct Offered {
    /// The configuration with what comes in where.
    pub bench: Workbench,
    /// The frames.
    pub frames: Frames,
}

impl Configuration {
    /// Its file's name, without the folder.
    pub fn name(&self) -> String {
        let path = std::path::Path::new(&self.bench.name);
        let name = path.file_name().unwrap_or(path.as_os_str());
        name.to_string_lossy().into_owned()
    }

    /// Test frames a second that all its ways in carry.
    pub fn line_fps(&self, traffic: &Traffic) -> f64 {
        let one = traffic.sizes.line_fps(self.rate) * test_share(traffic);
        f64::from(self.sources(traffic)) * one
    }

    /// How much later than it is due a frame may come because those before it in a mix are on the
    /// link: a turn of its sizes at most, of loads that the line carries.
    pub fn late(&self, traffic: &Traffic) -> Span {
        match traffic.sizes.only() {
            Some(_) => Span::ZERO,
            None => {
                let turn = traffic.sizes.bytes().len() as f64;
                Span::from_secs_f64(turn / traffic.sizes.line_fps(self.rate))
            }
        }
    }

    /// Its ways in that are offered frames: each has a sender of its own.
    pub fn sources(&self, traffic: &Traffic) -> u32 {
        match traffic.directions {
            Directions::OneWay => self.bench.active().len() as u32,
            Directions::Both => BOTH as u32,
        }
    }

    /// The traffic as the workbench makes it; the error is why it cannot.
    pub fn offered(&self, traffic: &Traffic) -> Result<Offered, Unable> {
        let unable = |what: String| Err(Unable(format!("{}, without ports, {what}", self.name())));
        match traffic.modifier {
            None | Some(Modifier::Broadcast) => {}
            Some(Modifier::Management) => {
                return unable(
                    "has no address that management queries could be sent to".to_owned(),
                );
            }
            Some(Modifier::RoutingUpdates) => {
                return unable("accepts no routing updates: its routes are static".to_owned());
            }
        }
        let (sample, version) = match traffic.protocol {
            Protocol::Ip4 => (samples::plain(), 4),
            Protocol::Ip6 => (samples::plain6(), 6),
        };
        let least = frames::least(&sample);
        if (traffic.sizes.least() as usize) < least {
            return unable(format!(
                "is offered frames of UDP over IPv{version}, which have {least} bytes at least, \
                 FCS included; give `--frame-sizes` without {}",
                traffic.sizes.least()
            ));
        }
        let mut bench = self.bench.clone();
        let devices = bench.devices();
        if devices.is_empty() && (traffic.protocol == Protocol::Ip6 || traffic.networks > 1) {
            return unable(
                "takes no frames from devices: its sources generate their own".to_owned(),
            );
        }
        let is_both = traffic.directions == Directions::Both;
        if is_both {
            let Some(two) = devices.get(..BOTH) else {
                return unable(format!(
                    "has no {BOTH} inputs from devices, so leave `--both-ways` out"
                ));
            };
            bench.narrow(two);
        }
        for (number, at) in bench.devices().into_iter().enumerate() {
            let is_back = is_both && number > 0;
            let side = if is_back { Side::Output } else { Side::Input };
            let (from, to) = nodes::nodes(side, traffic);
            let between = Field::Nodes(Nodes { from, to });
            let mut sample = sample.clone();
            frames::add(&mut sample, between, 0);
            frames::mend(&mut sample);
            let flows = Flows {
                count: nodes::flows(traffic),
                field: Some(between),
                locality: Locality::Uniform,
            };
            bench.feed(at, flows, Some(&[sample]));
        }
        let sizes = traffic.sizes.bytes().iter();
        let sizes: Vec<usize> = sizes.map(|bytes| *bytes as usize).collect();
        let only = traffic.sizes.only();
        let frames = Frames {
            frame: only.map_or(traffic.sizes.mean().round() as usize, |only| only as usize),
            mix: if only.is_some() { Vec::new() } else { sizes },
            broadcasts: traffic.modifier == Some(Modifier::Broadcast),
            flows: nodes::flows(traffic),
            seed: traffic.seed,
            ..Frames::default()
        };
        Ok(Offered { bench, frames })
    }

    /// Refuses to call it forwarding that nothing comes out though nothing was lost for want of
    /// room.
    pub(crate) fn ends_all(&self, traffic: &Traffic, lost: u64) -> Result<(), Unable> {
        if self.bench.outlets().is_empty() || lost > 0 {
            return Ok(());
        }
        let (from, to) = nodes::nodes(Side::Input, traffic);
        let version = if from.first.is_ipv6() { 6 } else { 4 };
        Err(Unable(format!(
            "{} forwards no frame: it drops or keeps plain UDP over IPv{version} from {} to {}",
            self.name(),
            from.first,
            to.first,
        )))
    }
}

impl Offered {
    /// Under what it is estimated, with links of `rate` bits a second.
    pub fn conditions(&self, rate: f64) -> Conditions {
        Conditions {
            traffic: self.frames.clone(),
            ports: Links {
                count: self.bench.active().len() as f64,
                bits_per_s: rate,
            },
            ..Conditions::default()
        }
    }
}

/// The share of test frames among those that are offered; a load counts test frames only.
pub(crate) fn test_share(traffic: &Traffic) -> f64 {
    match traffic.modifier {
        Some(Modifier::Broadcast) => 1.0 - 1.0 / f64::from(PER_BROADCAST),
        _ => 1.0,
    }
}

/// `loads` of test frames with what is offered beside them.
pub fn augmented(traffic: &Traffic, loads: &[Load]) -> Vec<Load> {
    let all = |load: &Load| {
        Load::new(
            load.frames_per_second() / test_share(traffic),
            load.duration(),
        )
    };
    loads.iter().filter_map(all).collect()
}

/// When frames come.
pub fn pattern(traffic: &Traffic) -> Pattern {
    match traffic.burst {
        1 => Pattern::Constant,
        burst => Pattern::Bursts(burst),
    }
}

/// A configuration without ports has none to lose and nothing to reset.
pub(crate) fn without_reset(plan: &Plan) -> Result<(), Unable> {
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
        Estimated::Refused(Refused::Configuration(said)) => diagnostic::render(&said),
        Estimated::Refused(Refused::Other(text)) | Estimated::Other(text) => text,
    }
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const TWO: &str =
        "FromDevice(a) -> Queue -> ToDevice(b); FromDevice(b) -> Queue -> ToDevice(a);";

    fn configuration(text: &str) -> Configuration {
        Configuration {
            bench: Workbench::new(text, "x.click", &[], &[samples::plain()]).unwrap(),
            rate: 1e9,
            interrupted: Arc::default(),
        }
    }

    fn traffic(sizes: &str) -> Traffic {
        Traffic::of(sizes.parse().unwrap())
    }

    /// The frames that come in at each of its places.
    fn frames_of(offered: &Offered) -> Vec<Vec<Vec<u8>>> {
        let active = offered.bench.active().into_iter();
        active
            .map(|at| offered.bench.frames(at, &offered.frames, 1 << 13).unwrap())
            .collect()
    }

    #[test]
    fn addresses_are_those_of_real_ports() {
        let of = configuration(TWO);
        let plain = frames_of(&of.offered(&traffic("64")).unwrap());
        assert_eq!((plain.len(), plain[0].len()), (2, 1));
        for frames in &plain {
            assert_eq!(frames[0][26..34], [198, 18, 1, 2, 198, 19, 1, 2]);
        }
        let both = Traffic {
            directions: Directions::Both,
            ..traffic("64")
        };
        let both = frames_of(&of.offered(&both).unwrap());
        assert_eq!(both[0][0][26..34], [198, 18, 1, 2, 198, 19, 1, 2]);
        assert_eq!(both[1][0][26..34], [198, 19, 1, 2, 198, 18, 1, 2]);
        for (protocol, sizes, at, network) in [
            (Protocol::Ip4, "64", 26..34, 6),
            (Protocol::Ip6, "imix:bg", 22..54, 23),
        ] {
            let traffic = Traffic {
                networks: 256,
                protocol,
                ..traffic(sizes)
            };
            let frames = frames_of(&of.offered(&traffic).unwrap());
            let networks: BTreeSet<u8> = frames[0]
                .iter()
                .map(|frame| frame[at.clone()][network])
                .collect();
            assert!(networks.len() >= 255, "{}", networks.len());
            assert!(frames[0].iter().any(|frame| *frame != frames[0][0]));
        }
    }

    #[test]
    fn loads_and_lines_are_of_test_frames() {
        let of = configuration(TWO);
        let mixed = traffic("imix:ag");
        let line = 1e9 / (8.0 * (f64::midpoint(64.0, 1518.0) + 20.0));
        assert!((of.line_fps(&mixed) / (2.0 * line) - 1.0).abs() < 1e-12);
        let broadcast = Traffic {
            modifier: Some(Modifier::Broadcast),
            ..mixed
        };
        assert!((of.line_fps(&broadcast) / (1.98 * line) - 1.0).abs() < 1e-12);
        let loads = [Load::new(99.0, Span::from_secs(1)).unwrap()];
        let all = augmented(&broadcast, &loads)[0].frames_per_second();
        assert!((all - 100.0).abs() < 1e-9, "{all}");
    }

    #[test]
    fn what_cannot_be_offered_is_told() {
        let one = configuration("FromDevice(a) -> Queue -> ToDevice(b);");
        let own = configuration("RatedSource(LENGTH 60) -> Queue -> ToDevice(b);");
        let of = |change: &dyn Fn(&mut Traffic)| {
            let mut traffic = traffic("64");
            change(&mut traffic);
            traffic
        };
        let management = of(&|one| one.modifier = Some(Modifier::Management));
        let updates = of(&|one| one.modifier = Some(Modifier::RoutingUpdates));
        let both = of(&|one| one.directions = Directions::Both);
        let small = of(&|one| one.protocol = Protocol::Ip6);
        let networks = of(&|one| one.networks = 256);
        for (of, traffic, why) in [
            (&one, &management, "has no address that"),
            (&one, &updates, "its routes are static"),
            (&one, &both, "leave `--both-ways` out"),
            (&one, &small, "66 bytes at least"),
            (&own, &networks, "its sources generate their own"),
        ] {
            let Unable(said) = of.offered(traffic).unwrap_err();
            assert!(said.contains(why), "{said}");
        }
        assert!(own.offered(&of(&|_| {})).is_ok());
    }
}
