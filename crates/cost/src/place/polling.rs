//! A core that polls its receive ring, packet by packet: what it loses and how busy it is.
//!
//! Arrivals meet a ring of K descriptors; a packet keeps its descriptor until it has been served.
//! Service takes the same time for every packet. With one queue and deterministic service the whole
//! state is the work that is left, so a packet costs a few operations: `left ← max(0, left − gap)`;
//! a packet finds `ceil(left/service)` others before it and is lost if they fill the ring.

use super::load::Cost;
use super::model::{Arrivals, Placed, Problem};
use trammel_core::rng::Rng;

/// What one core met.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// Packets that came.
    pub offered: u64,
    /// Packets that found the ring full.
    pub lost: u64,
    /// The part of the time in which the core served packets.
    pub utilisation: f64,
}

impl Seen {
    /// The part of the packets that was lost.
    pub fn loss(&self) -> f64 {
        if self.offered == 0 {
            return 0.0;
        }
        self.lost as f64 / self.offered as f64
    }
}

/// One core's traffic and service.
#[derive(Clone, Copy, Debug)]
pub struct Core {
    /// Packets a second that come.
    pub pps: f64,
    /// Seconds that the core takes for one.
    pub service_s: f64,
    /// How they come.
    pub arrivals: Arrivals,
    /// Descriptors of the ring.
    pub ring: u32,
}

/// Polls for at least `packets` packets, whole bursts; `rng` gives the gaps.
pub fn poll(core: &Core, packets: u64, rng: &mut Rng) -> Seen {
    // In units of one service: the ring is full when more than `ring − 1` services are left.
    let load = core.pps * core.service_s;
    if load.is_nan() || load <= 0.0 {
        return Seen::default();
    }
    let burst = match core.arrivals {
        Arrivals::Smooth => 1,
        Arrivals::Bursts(burst) => burst.max(1),
    };
    let mean_gap = f64::from(burst) / load;
    let mut seen = Seen::default();
    let (mut left, mut clock, mut served) = (0.0_f64, 0.0, 0_u64);
    while seen.offered < packets {
        let gap = match core.arrivals {
            Arrivals::Smooth => mean_gap,
            // 1 − unit lies in (0, 1], so the logarithm is finite.
            Arrivals::Bursts(_) => -(1.0 - rng.unit()).ln() * mean_gap,
        };
        clock += gap;
        left = (left - gap).max(0.0);
        let room = u64::from(core.ring).saturating_sub(left.ceil() as u64);
        let taken = room.min(u64::from(burst));
        left += taken as f64;
        served += taken;
        seen.offered += u64::from(burst);
        seen.lost += u64::from(burst) - taken;
    }
    // Work that is left when the last packet has come was not done within the time.
    seen.utilisation = ((served as f64 - left) / clock).clamp(0.0, 1.0);
    seen
}

/// Bursts that each of `cores` cores meets: enough to tell a loss of 10⁻³ from none, fewer on very
/// many cores.
pub fn bursts_each(cores: u64) -> u64 {
    (40_000_000 / cores.max(1)).clamp(2_000, 50_000)
}

/// Polls every core of a replica with its part of the packets, at the high end of their cost.
///
/// Packets spread over the cores by flow, so a burst stays whole. Each core has a random stream of
/// its own.
pub fn poll_replica(
    problem: &Problem,
    placed: &Placed,
    cost: &Cost,
    clock_hz: f64,
    bursts: u64,
    seed: u64,
) -> Vec<Seen> {
    let chain = &problem.chains[placed.chain];
    let core = Core {
        pps: placed.pps / placed.cores.len().max(1) as f64,
        service_s: cost.cycles.high / clock_hz,
        arrivals: chain.arrivals,
        ring: chain.ring,
    };
    let packets = bursts * u64::from(chain.burst().max(1));
    let poll_one = |n| {
        let entity = format!("core:{}:{}:{n}", chain.name, placed.replica);
        poll(&core, packets, &mut Rng::new(seed, &entity))
    };
    (0..placed.cores.len()).map(poll_one).collect()
}

#[cfg(test)]
mod tests {
    use super::super::headroom::{BY_RATIO, LOSS_TARGET};
    use super::*;

    fn loss_of(load: f64, burst: u32, ring: u32, packets: u64, seed: u64) -> f64 {
        let core = Core {
            pps: load * 1e6,
            service_s: 1e-6,
            arrivals: Arrivals::Bursts(burst),
            ring,
        };
        poll(&core, packets, &mut Rng::new(seed, "polling")).loss()
    }

    fn loss(load: f64, burst: u32, ring: u32) -> f64 {
        loss_of(load, burst, ring, 3_000_000, 1)
    }

    /// Another simulation of the same core, printed for 1.5 million packets: each of its cells is
    /// met within four standard deviations of runs of that length, and within the rounding of two
    /// digits.
    #[test]
    fn repeats_the_cells_of_an_earlier_simulation() {
        let cells = [
            (0.7, 256, 512, 0.11),
            (0.8, 256, 512, 0.15),
            (0.9, 256, 512, 0.18),
            (0.95, 256, 512, 0.20),
            (1.0, 256, 512, 0.21),
            (1.1, 256, 512, 0.25),
            (0.8, 32, 512, 2.2e-4),
            (0.9, 32, 512, 3.4e-3),
            (0.95, 32, 512, 0.011),
            (1.0, 32, 512, 0.028),
            (1.1, 32, 512, 0.090),
            (1.0, 1, 512, 1.1e-3),
            (1.1, 1, 512, 0.091),
            (0.7, 256, 2048, 1.3e-3),
            (0.8, 256, 2048, 7.5e-3),
            (0.9, 256, 2048, 0.024),
            (0.95, 256, 2048, 0.040),
            (1.0, 256, 2048, 0.059),
            (1.1, 256, 2048, 0.11),
        ];
        for (load, burst, ring, printed) in cells {
            let runs: Vec<f64> = (1..=12)
                .map(|seed| loss_of(load, burst, ring, 1_500_000, seed))
                .collect();
            let mean = runs.iter().sum::<f64>() / 12.0;
            let variance = runs.iter().map(|run| (run - mean).powi(2)).sum::<f64>() / 11.0;
            let digit = 10_f64.powf(f64::log10(printed).floor() - 1.0);
            let allowed = 4.0 * variance.sqrt() + 0.5 * digit;
            assert!(
                (mean - printed).abs() <= allowed,
                "{load} {burst} {ring}: {mean} for {printed}"
            );
        }
        assert_eq!(loss(0.95, 1, 512), 0.0);
        assert_eq!(loss(0.7, 32, 512), 0.0);
    }

    /// With one descriptor no packet waits, and Erlang's formula for one server, ρ/(1 + ρ), is
    /// exact.
    #[test]
    fn a_ring_of_one_loses_as_erlang_says() {
        for load in [0.3, 0.8, 2.0] {
            let found = loss(load, 1, 1);
            let exact = load / (1.0 + load);
            assert!(
                (found / exact - 1.0).abs() < 0.01,
                "{load}: {found} for {exact}"
            );
        }
    }

    #[test]
    fn smooth_traffic_loses_nothing_below_one_and_the_excess_above() {
        let seen = |load: f64| {
            let core = Core {
                pps: load,
                service_s: 1.0,
                arrivals: Arrivals::Smooth,
                ring: 64,
            };
            poll(&core, 1_000_000, &mut Rng::new(1, "smooth"))
        };
        assert_eq!(seen(0.99).lost, 0);
        assert!((seen(0.99).utilisation - 0.99).abs() < 1e-3);
        assert!((seen(1.25).loss() - 0.2).abs() < 1e-3);
    }

    #[test]
    fn the_table_of_headroom_is_what_polling_finds() {
        for (ratio, utilisation) in BY_RATIO {
            for burst in [8, 32, 128] {
                let ring = (ratio * f64::from(burst)) as u32;
                let at = loss(*utilisation, burst, ring);
                assert!(at <= LOSS_TARGET / 2.0, "{ratio} {burst}: {at}");
                let beyond = loss(utilisation + 0.1, burst, ring);
                let is_most = *utilisation >= super::super::headroom::MOST;
                assert!(
                    is_most || beyond > LOSS_TARGET / 2.0,
                    "{ratio} {burst}: {beyond}"
                );
            }
        }
    }
}
