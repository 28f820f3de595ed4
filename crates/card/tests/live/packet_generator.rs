//! The design `packet-generator`: frames that are loaded leave in order, what comes is stamped.

use crate::rig::{Rig, Running, Wire};
use trammel_card::Error;
use trammel_card::generator::{Generator, Load};
use trammel_core::{Span, Time};

/// A frame whose bytes are all `number`.
fn frame(number: u8, bytes: usize) -> Vec<u8> {
    vec![number & !1; bytes]
}

/// A card with the design, or nothing where the machine lacks something.
fn generator() -> Option<(Rig, Running)> {
    let rig = Rig::<2>::silent()?;
    let running = rig.run(|options| options.design = "packet-generator".to_owned())?;
    Some((rig, running))
}

#[test]
fn what_is_loaded_leaves_in_order_and_as_often_as_asked() {
    let Some((rig, _running)) = generator() else {
        return;
    };
    let mut wire = Wire::open(&rig.ends[0], "e");
    let loads: Vec<Load> = [2, 4, 6]
        .map(|number| Load {
            frame: frame(number, 50 + 10 * usize::from(number)),
            gap: Span::from_us(100 * u64::from(number)),
        })
        .into();
    rig.home.run(|| {
        let mut generator = Generator::new(rig.client(), "nf2c").expect("the design is right");
        generator.load(0, &loads).expect("nobody else sends");
        // What was kept before is forgotten.
        generator.load(0, &loads).expect("nobody else sends");
        generator.start(&[0], 5).expect("the card runs");
        Rig::until(&15, || generator.sent(0).expect("the card runs"));
    });
    let mut came = Vec::new();
    Rig::until(&15, || {
        wire.gather(&mut came);
        came.len()
    });
    let frames: Vec<Vec<u8>> = loads.into_iter().map(|load| load.frame).collect();
    assert_eq!(came, vec![frames; 5].concat());
}

#[test]
fn what_comes_is_stamped_by_the_card_and_otherwise_unchanged() {
    let Some((rig, _running)) = generator() else {
        return;
    };
    let mut wire = Wire::open(&rig.ends[1], "e");
    let mut seen: Vec<(Time, Vec<u8>)> = Vec::new();
    rig.home.run(|| {
        let mut generator = Generator::new(rig.client(), "nf2c").expect("the design is right");
        let mut capture = generator.capture(1).expect("the interface is there");
        for number in [2, 4, 6] {
            wire.send(&frame(number, 1514 - usize::from(number)));
        }
        while seen.len() < 3 {
            let received = capture.receive(|at, frame| seen.push((at, frame.to_vec())));
            received.expect("the interface is there");
        }
        capture.end().expect("the card runs");
        // From now on frames have no stamp.
        let control = rig
            .client()
            .map()
            .find("PKT_GEN_1_CTRL")
            .expect("it is there");
        let value = rig.client().read_many([control.address]);
        assert_eq!(value.expect("the card runs"), [0]);
    });
    let frames: Vec<&[u8]> = seen.iter().map(|(_, frame)| frame.as_slice()).collect();
    assert_eq!(
        frames,
        [&frame(2, 1512)[..], &frame(4, 1510), &frame(6, 1508)]
    );
    assert!(seen.is_sorted_by_key(|(at, _)| *at), "{seen:?}");
    assert!(seen[0].0 > Time::ZERO);
}

#[test]
fn a_router_generates_nothing() {
    let Some(rig) = Rig::<2>::silent() else {
        return;
    };
    let Some(_running) = rig.run(|_| ()) else {
        return;
    };
    let refused = Generator::new(rig.client(), "nf2c").expect_err("the card is a router");
    assert!(matches!(refused, Error::Usage(_)));
    assert!(
        refused.to_string().contains("`reference-router`"),
        "{refused}"
    );
}
