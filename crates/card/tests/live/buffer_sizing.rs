//! The tests of the router for buffer sizing, on the live card: the recorder's frames come by the
//! host interface 3.

use crate::bench::{Card, events};
use crate::lab::Lab;
use trammel_io::clock;
use trammel_netfpga::design;

/// What the recorder's counter counts at resolution 3, in nanoseconds.
const TICK_NS: u64 = 64;

fn live() -> Option<Card> {
    let name = "buffer-sizing";
    let lab = Lab::new(|options, _| name.clone_into(&mut options.design))?;
    let map = design(name).expect("it is there").map();
    let card: Card = Card::new(Box::new(lab), map);
    Some(card.routing())
}

#[test]
fn router_buffer_sizing_evt_store() {
    if let Some(card) = live() {
        events::evt_store(card);
    }
}

#[test]
fn router_buffer_sizing_evt_timestamp() {
    let Some(card) = live() else { return };
    let began = clock::monotonic_ns();
    let (frames, times) = events::evt_timestamp(card);
    let took_ns = (clock::monotonic_ns() - began).cast_unsigned();
    assert!(frames >= 3, "{frames}");
    // Frames that came together have one time; all times lie within those of the test.
    assert!(times.windows(2).all(|pair| pair[0] <= pair[1]), "{times:?}");
    let span_ns = (times[times.len() - 1] - times[0]) * TICK_NS;
    assert!((1..took_ns).contains(&span_ns), "{span_ns} of {took_ns} ns");
}
