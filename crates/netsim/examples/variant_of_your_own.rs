//! A congestion control of an outside crate, beside Reno on one link: no fork of Trammel is needed.
//!
//! ```text
//! cargo run --release --package trammel-netsim --example variant_of_your_own
//! ```
//! What stands between the two lines `---8<---` is a whole plug-in file but for its paths: as
//! `crates/tcp/src/cc/gaimd.rs`, with `super::` for `trammel_tcp::cc::`, it would be a built-in
//! variant.

use trammel_core::entry::Params;
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::flow::FlowSpec;
use trammel_netsim::ids::FlowId;
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::Network;
use trammel_netsim::trace::Pace;
use trammel_tcp::cc;
use trammel_tcp::stack::Stack;

#[allow(unreachable_pub)] // As in a plug-in file.
mod gaimd {
    // ---8<---
    //! GAIMD: any decrease, with the increase that makes it friendly to Reno.
    //!
    //! # What it does
    //! A loss leaves `keep` of the window; each round trip adds 3 (1 - keep) / (1 + keep) segments,
    //! so that the mean window under losses at even distances, too rare for timeouts, is Reno's.
    //!
    //! # Parameters
    //! `keep`.
    //!
    //! # Example
    //! ```toml
    //! duration = "20 s"
    //! [path]
    //! rate = "10 Mbit/s"
    //! rtt = "40 ms"
    //! [[flow]]
    //! variant = "gaimd"
    //! params = { keep = 0.7 }
    //! [[flow]]
    //! variant = "reno"
    //! ```
    //!
    //! # References
    //! Yang and Lam, "General AIMD Congestion Control", ICNP 2000.

    use trammel_core::entry::{About, Kind, Param};
    use trammel_tcp::cc::{CongestionControl, Entry, Tp};

    /// GAIMD in the table of variants.
    pub static ENTRY: Entry = Entry {
        about: About {
            name: "gaimd",
            aliases: &[],
            summary: "any decrease, with the increase that makes it friendly to Reno",
            references: &["Yang and Lam 2000, General AIMD Congestion Control"],
            params: &[Param {
                name: "keep",
                kind: Kind::Float(0.5, 0.99),
                default: "0.875",
                unit: "",
                help: "the part of the window that a loss leaves",
            }],
        },
        build: |params| {
            let keep = params.float("keep");
            Box::new(Gaimd {
                keep_thousandths: (keep * 1e3).round() as u32,
                rise_thousandths: (3e3 * (1.0 - keep) / (1.0 + keep)).round() as u32,
                credit: 0,
            })
        },
    };

    #[derive(Debug)]
    struct Gaimd {
        /// The part of the window that a loss leaves.
        keep_thousandths: u32,
        /// Segments that a round trip adds.
        rise_thousandths: u32,
        /// What has been gathered towards the next segment; a segment costs 1000 times the window.
        credit: u32,
    }

    impl CongestionControl for Gaimd {
        fn ssthresh(&mut self, tp: &mut Tp) -> u32 {
            (u64::from(tp.snd_cwnd) * u64::from(self.keep_thousandths) / 1000).max(2) as u32
        }

        fn cong_avoid(&mut self, tp: &mut Tp, _ack: u32, acked: u32) {
            let Some(left) = tp.left_after_slow_start(acked) else {
                return;
            };
            self.credit += left * self.rise_thousandths;
            if self.credit >= 1000 * tp.snd_cwnd {
                self.credit -= 1000 * tp.snd_cwnd;
                tp.snd_cwnd += 1;
            }
        }
    }
    // ---8<---
}

/// Segments that each of the two flows delivers in `seconds` over a link that loses one packet in
/// 500.
fn share(seconds: u64) -> [u64; 2] {
    cc::register(&gaimd::ENTRY).expect("no built-in variant has its name");
    let mut network = Network::new();
    let mut bottleneck = LinkSpec::wire("bottleneck", Span::from_ms(20));
    bottleneck.rate = Some(Rate::from_bps(100_000_000));
    bottleneck.queue = Queue::DropTail {
        packets: 400,
        bytes: u64::MAX,
    };
    let bernoulli = trammel_queues::loss::find("bernoulli").expect("the loss model is built in");
    let given = [(
        "probability".to_owned(),
        trammel_core::entry::Value::Float(0.002),
    )];
    let params = Params::resolve(&bernoulli.about, &given).expect("a probability is below one");
    bottleneck.loss = Some((bernoulli.build)(&params).expect("every probability makes a model"));
    let forward = vec![network.add_link(bottleneck)];
    let backward = vec![network.add_link(LinkSpec::wire("return", Span::from_ms(20)))];
    for (seed, name) in [(1, "reno"), (2, "gaimd")] {
        let variant = cc::find(name).expect("it is built in or registered above");
        let params = Params::defaults(&variant.about);
        let stack = Stack::preset("linux-6").expect("the preset is built in");
        network.add_flow(FlowSpec {
            name: name.to_owned(),
            client: stack.clone(),
            server: stack,
            cc: Box::new(move || (variant.build)(&params)),
            start: Time::ZERO,
            stop: Time::MAX,
            bytes: None,
            forward: forward.clone(),
            backward: backward.clone(),
            reader: None,
            overhead_bytes: 14,
            pace: Pace::Off,
            seed,
        });
    }
    network.run_until(Time::from_secs(seconds));
    [0, 1].map(|flow| network.flow(FlowId::new(flow)).bytes_delivered / 1448)
}

#[allow(clippy::print_stdout)] // What an example prints is its result.
fn main() {
    let [reno, gaimd] = share(300);
    println!(
        "reno {reno} segments, gaimd {gaimd}: a ratio of {:.2}",
        gaimd as f64 / reno as f64
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_about_as_much_as_reno() {
        let [reno, gaimd] = share(300);
        let ratio = gaimd as f64 / reno as f64;
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
    }
}
