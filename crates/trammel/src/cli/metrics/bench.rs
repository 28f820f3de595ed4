//! What `trammel bench` counts, by device.

use super::Counts;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use trammel_bench::layer::Layer;
use trammel_bench::testbed::{Observation, Plan, Testbed, Traffic};
use trammel_bench::trial::Failure;
use trammel_openmetrics::buckets::{Buckets, SHARES_PPM, TIMES_NS, WORK_NS};
use trammel_openmetrics::page::{Page, labels};

/// What became of the trials of a device.
#[derive(Debug)]
struct Device {
    trials: u64,
    failed: u64,
    offered: u64,
    forwarded: u64,
    took: Buckets,
    losses: Buckets,
    latencies: Buckets,
}

impl Device {
    fn new() -> Device {
        Device {
            trials: 0,
            failed: 0,
            offered: 0,
            forwarded: 0,
            took: Buckets::of_ns(WORK_NS),
            losses: Buckets::new(SHARES_PPM, 1e-6),
            latencies: Buckets::of_ns(TIMES_NS),
        }
    }
}

/// Of all devices.
#[derive(Debug, Default)]
pub(in crate::cli) struct BenchCounts(Mutex<BTreeMap<String, Device>>);

impl BenchCounts {
    fn devices(&self) -> MutexGuard<'_, BTreeMap<String, Device>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `bed` as one whose trials count here.
    pub(in crate::cli) fn around(self: &Arc<Self>, bed: Box<dyn Testbed>) -> Box<dyn Testbed> {
        self.devices().insert(bed.device(), Device::new());
        let counts = Arc::clone(self);
        Box::new(Counting { bed, counts })
    }

    fn observed(&self, device: &str, took: u64, observed: Option<&Observation>) {
        let mut devices = self.devices();
        let Some(device) = devices.get_mut(device) else {
            return;
        };
        let Some(observed) = observed else {
            device.failed += 1;
            return;
        };
        let outcome = &observed.outcome;
        device.trials += 1;
        device.offered += outcome.offered;
        device.forwarded += outcome.forwarded;
        device.took.add(took);
        device
            .losses
            .add((outcome.loss_ratio() * 1e6).round() as u64);
        match &outcome.latency {
            Some(latency) => {
                for (ps, times) in latency.contents().counts {
                    device.latencies.add_n(ps / 1000, u64::from(times));
                }
            }
            None => {
                let tagged = observed.tagged.iter();
                tagged.for_each(|latency| device.latencies.add(latency.as_ns()));
            }
        }
    }
}

/// A testbed whose trials are counted.
#[derive(Debug)]
struct Counting {
    bed: Box<dyn Testbed>,
    counts: Arc<BenchCounts>,
}

impl Layer for Counting {
    fn bed(&self) -> &dyn Testbed {
        self.bed.as_ref()
    }

    fn bed_mut(&mut self) -> &mut dyn Testbed {
        self.bed.as_mut()
    }

    fn on_offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        let began = Instant::now();
        let observed = self.bed.offer(traffic, plan);
        let took = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let device = self.bed.device();
        self.counts.observed(&device, took, observed.as_ref().ok());
        observed
    }
}

impl Counts for BenchCounts {
    fn write(&self, page: &mut Page) {
        let devices = self.devices();
        type Number = fn(&Device) -> u64;
        let numbers: [(&str, &str, Number); 4] = [
            ("trials", "Trials that were made.", |of| of.trials),
            ("failed_trials", "Trials that came to nothing.", |of| {
                of.failed
            }),
            (
                "offered_frames",
                "Frames that were sent to the device.",
                |of| of.offered,
            ),
            (
                "forwarded_frames",
                "Frames of those sent to the device that came out of it.",
                |of| of.forwarded,
            ),
        ];
        for (name, help, of) in numbers {
            let rows = devices.iter();
            let rows = rows.map(|(name, device)| (labels(&[("device", name)]), of(device)));
            page.counter(&format!("trammel_bench_{name}"), help, rows);
        }
        type Of = fn(&Device) -> &Buckets;
        let histograms: [(&str, &str, Of); 3] = [
            (
                "trial_duration_seconds",
                "How long a trial took by the clock on the wall, also where the device is \
                 simulated.",
                |of| &of.took,
            ),
            (
                "loss_ratio",
                "The share of a trial's frames that did not come out.",
                |of| &of.losses,
            ),
            (
                "latency_seconds",
                "Latencies of frames; of a simulated device in its own time.",
                |of| &of.latencies,
            ),
        ];
        for (name, help, of) in histograms {
            let rows = devices.iter();
            let rows = rows.map(|(name, device)| (labels(&[("device", name)]), of(device)));
            page.histogram(&format!("trammel_bench_{name}"), help, rows);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::metrics::{page, tests::serves};
    use trammel_bench::trial::TrialOutcome;
    use trammel_core::time::Span;

    #[test]
    fn a_trial_counts_by_its_device() {
        let counts = BenchCounts::default();
        counts.devices().insert("a wire".to_owned(), Device::new());
        let mut observed = Observation::of(TrialOutcome {
            offered: 1000,
            forwarded: 990,
            effective: Span::from_secs(1),
            bunched: 0,
            latency: None,
        });
        observed.tagged = vec![Span::from_us(30)];
        counts.observed("a wire", 2_000_000, Some(&observed));
        counts.observed("a wire", 0, None);
        serves("bench", &counts);
        let page = page(&counts);
        for line in [
            "trammel_bench_failed_trials_total{device=\"a wire\"} 1",
            "trammel_bench_loss_ratio_bucket{device=\"a wire\",le=\"0.01\"} 1",
            "trammel_bench_latency_seconds_sum{device=\"a wire\"} 3e-5",
        ] {
            assert!(page.contains(line), "{line}: {page}");
        }
    }
}
