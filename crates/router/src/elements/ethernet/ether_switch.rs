//! A switch that learns at which port an address is.
//!
//! # What it does
//! A frame leaves by the port at which its destination was seen last, or by all but its own where
//! it was not seen for `TIMEOUT` seconds of packets' time or is a group. A frame whose destination
//! is where it came from ends.
//!
//! # Example
//! ```click
//! s :: EtherSwitch;
//! FromDevice(eth0, PROMISC true) -> [0] s; s[0] -> Queue -> ToDevice(eth0);
//! FromDevice(eth1, PROMISC true) -> [1] s; s[1] -> Queue -> ToDevice(eth1)
//! ```
//!
//! # References
//! IEEE 802.1D.

use super::shared::learning_switch::{self, Switch};
use crate::args::Args;
use crate::diagnostic::Diagnostics;
use crate::elements::Entry;
use crate::engine::setup::Setup;
use crate::engine::study::Study;
use crate::engine::{Ctx, Element, Handler};
use trammel_packet::batch::{Batch, Packets};
use trammel_packet::pool::Pool;

/// The class.
pub static ENTRY: Entry = Entry::new("EtherSwitch", "a switch that learns", || {
    Box::<EtherSwitch>::default()
})
.ports("2-/=", "h/h")
.flow("#/[^#]")
.references(&["IEEE 802.1D"])
.params(&[learning_switch::TIMEOUT])
.ops(
    "parse(14); ct_insertion(1, 16, 3 * entries, 0) by 8; \
     ht_lookup(1, 16, 3 * destinations, 0) by 8; work(155)",
);

#[derive(Debug, Default)]
struct EtherSwitch {
    switch: Switch,
}

impl Element for EtherSwitch {
    fn configure(&mut self, setup: &mut Setup, args: &Args) -> Result<(), Diagnostics> {
        self.switch.configure(args, setup.inputs.len(), false)
    }

    fn push(&mut self, ctx: &mut Ctx, port: usize, batch: Batch) {
        self.switch.forward(ctx, port, batch);
    }

    fn handlers(&self) -> Vec<Handler> {
        Switch::handlers()
    }

    fn read(&mut self, _: &mut Ctx, name: &str, _: &str) -> Result<String, String> {
        Ok(self.switch.read(name))
    }

    fn write(&mut self, _: &mut Ctx, _: &str, value: &str) -> Result<(), String> {
        self.switch.write(value)
    }

    fn study(&self, pool: &Pool, batch: &Packets, study: &mut Study) {
        Switch::study(pool, batch, study);
    }

    fn quantities(&self) -> Vec<(&'static str, f64)> {
        self.switch.quantities()
    }
}

#[cfg(test)]
mod tests {
    use crate::load::testing::{Run, loaded};
    use trammel_packet::timestamp::Timestamp;

    fn run(class: &str, outputs: usize) -> Run {
        let inputs: String = (0..3).map(|port| format!("Idle -> [{port}]x; ")).collect();
        let outputs: String = (0..outputs)
            .map(|port| format!("x[{port}] -> Idle; "))
            .collect();
        loaded(&format!("x :: {class}; {inputs}{outputs}"))
    }

    /// Sends a frame at a second, and gives the ports it leaves by.
    fn send(run: &mut Run, input: usize, from: u8, to: u8, second: i64) -> Vec<usize> {
        let mut frame = [0; 14];
        (frame[5], frame[11]) = (to, from);
        frame[0] = u8::from(to == 0xFF);
        let id = run.ctx.find("x", None).expect("declared");
        let h = run.ctx.pool().alloc_with(&frame).expect("room");
        run.ctx.pool()[&h].set_timestamp(Timestamp::from_secs(second));
        let mut ports = Vec::new();
        for (port, h) in run.ctx.pass_to(id, input, vec![h]) {
            assert_eq!(run.ctx.pool()[&h].data(), frame);
            run.ctx.pool().free(h);
            ports.push(port);
        }
        ports.sort_unstable();
        assert_eq!(run.ctx.pool().in_use(), 0);
        ports
    }

    #[test]
    fn frames_go_where_their_destination_was_seen() {
        let mut x = run("EtherSwitch(TIMEOUT 10)", 3);
        assert_eq!(send(&mut x, 0, 1, 2, 100), [1, 2]);
        assert_eq!(send(&mut x, 2, 2, 1, 101), [0]);
        assert_eq!(send(&mut x, 0, 1, 2, 102), [2]);
        assert_eq!(send(&mut x, 0, 3, 1, 103), [0; 0]);
        assert_eq!(send(&mut x, 1, 4, 0xFF, 104), [0, 2]);
        assert_eq!(x.read("x.table").lines().count(), 4);
        assert!(x.read("x.table").starts_with("00-00-00-00-00-01 0\n"));
        assert_eq!(send(&mut x, 1, 4, 2, 111), [0, 2]);
        x.write("x.timeout", "0").expect("right");
        assert_eq!(send(&mut x, 1, 4, 2, 102), [0, 2]);
    }

    #[test]
    fn moves_and_many_addresses_are_remembered() {
        let mut x = run("EtherSwitch", 3);
        for from in 1..200 {
            send(&mut x, 0, from, 0xFF, 1);
        }
        send(&mut x, 1, 77, 0xFF, 1);
        assert_eq!(send(&mut x, 2, 250, 77, 1), [1]);
        assert_eq!(send(&mut x, 2, 250, 78, 1), [0]);
    }

    #[test]
    fn the_listener_sees_everything() {
        let mut x = run("ListenEtherSwitch", 4);
        assert_eq!(send(&mut x, 0, 1, 2, 100), [1, 2, 3]);
        assert_eq!(send(&mut x, 2, 2, 1, 101), [0, 3]);
        assert_eq!(send(&mut x, 2, 5, 2, 101), [3]);
    }

    #[test]
    fn short_frames_end() {
        let mut x = run("EtherSwitch", 3);
        let id = x.ctx.find("x", None).expect("declared");
        let h = x.ctx.pool().alloc_with(&[0; 13]).expect("room");
        assert!(x.ctx.pass_to(id, 1, vec![h]).is_empty());
        assert_eq!(x.ctx.pool().in_use(), 0);
    }
}
