//! What a foreign stack did, read from its qlog.
//!
//! Windows are told in bytes; they are counted in packets of the largest length that was sent. A
//! state that is called `recovery` is one of loss recovery; others are phases of the controller.

use crate::series::{Series, phase};
use anyhow::{Context, bail};
use std::fs::File;
use std::path::Path;
use trammel_qlog::{Body, Event, Metrics};

/// A packet's length where none is told, bytes (RFC 9000 §14.1).
const USUAL_BYTES: f64 = 1200.0;
/// Most samples that are kept.
const MOST: usize = 1 << 22;

/// The series of the sender in the qlog file at `path`.
pub fn read(path: &Path) -> anyhow::Result<Series> {
    let name = path.display();
    let file = File::open(path).with_context(|| format!("`{name}` cannot be opened"))?;
    let mut log = Log::default();
    trammel_qlog::read(file, &mut |event| log.take(event))
        .map_err(|why| anyhow::anyhow!("`{name}` {why}"))?;
    if log.rows.is_empty() {
        bail!(
            "`{name}` has no event `metrics_updated` and none of congestion state: there is \
             nothing to judge; switch on the stack's recovery events"
        );
    }
    Ok(log.series())
}

/// What was read so far.
#[derive(Debug, Default)]
struct Log {
    /// What is known at each instant.
    rows: Vec<(f64, Metrics, &'static str, &'static str)>,
    now: Metrics,
    phase: &'static str,
    state: &'static str,
    largest: u64,
}

impl Log {
    fn take(&mut self, event: Event) {
        match event.body {
            Body::Metrics(metrics) => merge(&mut self.now, &metrics),
            Body::State { new, .. } => {
                let lower = new.to_lowercase();
                if lower.contains("recovery") {
                    self.state = "recovery";
                } else {
                    self.state = "open";
                    self.phase = phase(&new);
                }
            }
            Body::Sent(packet) => {
                self.largest = self.largest.max(packet.length.unwrap_or_default());
                return;
            }
            Body::Received(_) | Body::Lost(_) | Body::Other(_) => return,
        }
        if self.rows.len() < MOST {
            let now = self.now.clone();
            self.rows
                .push((event.time_ms / 1e3, now, self.phase, self.state));
        }
    }

    fn series(self) -> Series {
        let packet = match self.largest {
            0 => USUAL_BYTES,
            length => length as f64,
        };
        let mut series = Series::default();
        // The first event is the beginning.
        let begin = self.rows.first().map_or(0.0, |row| row.0);
        for (time, metrics, phase, state) in self.rows {
            let values = [
                ("cwnd_pkts", metrics.congestion_window, 1.0 / packet),
                ("ssthresh_pkts", metrics.ssthresh, 1.0 / packet),
                ("in_flight_pkts", metrics.bytes_in_flight, 1.0 / packet),
                ("srtt_us", metrics.smoothed_rtt, 1e3),
                ("rtt_min_us", metrics.min_rtt, 1e3),
                ("pacing_bps", metrics.pacing_rate, 1.0),
            ];
            let known = values
                .into_iter()
                .filter_map(|(name, value, scale)| Some((name, value? * scale)));
            let known: Vec<_> = known.collect();
            series.push(time - begin, &known, phase, state);
        }
        series.close();
        series
    }
}

/// Takes over what `new` tells.
fn merge(now: &mut Metrics, new: &Metrics) {
    let Metrics {
        min_rtt,
        smoothed_rtt,
        latest_rtt,
        rtt_variance,
        congestion_window,
        bytes_in_flight,
        ssthresh,
        packets_in_flight,
        pacing_rate,
    } = *new;
    now.min_rtt = min_rtt.or(now.min_rtt);
    now.smoothed_rtt = smoothed_rtt.or(now.smoothed_rtt);
    now.latest_rtt = latest_rtt.or(now.latest_rtt);
    now.rtt_variance = rtt_variance.or(now.rtt_variance);
    now.congestion_window = congestion_window.or(now.congestion_window);
    now.bytes_in_flight = bytes_in_flight.or(now.bytes_in_flight);
    now.ssthresh = ssthresh.or(now.ssthresh);
    now.packets_in_flight = packets_in_flight.or(now.packets_in_flight);
    now.pacing_rate = pacing_rate.or(now.pacing_rate);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gives_windows_in_packets_and_states() {
        let text = b"\x1e{\"qlog_version\":\"0.3\",\"trace\":{}}\n\
            \x1e{\"time\":100,\"name\":\"transport:packet_sent\",\"data\":{\"raw\":{\
            \"length\":1000}}}\n\
            \x1e{\"time\":100,\"name\":\"recovery:metrics_updated\",\"data\":{\
            \"congestion_window\":20000}}\n\
            \x1e{\"time\":150,\"name\":\"recovery:congestion_state_updated\",\"data\":{\
            \"new\":\"recovery\"}}\n\
            \x1e{\"time\":150,\"name\":\"recovery:metrics_updated\",\"data\":{\"ssthresh\":\
            14000}}\n";
        let folder = std::env::temp_dir();
        let path = folder.join(format!("trammel-log-{}.sqlog", std::process::id()));
        std::fs::write(&path, text).unwrap();
        let series = read(&path);
        std::fs::remove_file(&path).unwrap();
        let series = series.unwrap();
        assert_eq!(series.columns["cwnd_pkts"], [20.0, 20.0, 20.0]);
        assert_eq!(series.columns["ssthresh_pkts"][2], 14.0);
        assert_eq!(series.states, ["", "recovery", "recovery"]);
        assert!((series.times[1] - 0.05).abs() < 1e-9);
    }
}
