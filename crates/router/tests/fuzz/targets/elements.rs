//! Every class, whatever packets come: none is too short, no length is believed, and every packet
//! is given back.
//!
//! The first bytes choose a class, the graph around it and optional arguments; the rest is packets:
//! well formed ones of a template with bytes overwritten, or arbitrary bytes; their marks and
//! annotations.

use super::classes;
use super::input::Input;
use super::packets::TEMPLATES;
use trammel_packet::anno::{EXTRA_PACKETS, SIZE};
use trammel_packet::batch::Batch;
use trammel_packet::packet::Packet;
use trammel_packet::timestamp::Timestamp;
use trammel_router::engine::handlers::Owner;

/// Packets of one input.
const MOST_PACKETS: usize = 64;
/// Rounds of tasks each time that time passes, and at the end: a source without end fills every one
/// of them.
const ROUNDS: u64 = 2;
const LAST_ROUNDS: u64 = 10;

/// The bytes of a packet.
fn data(input: &mut Input<'_>) -> Vec<u8> {
    let how = input.u8();
    let mut data = match TEMPLATES.get(usize::from(how & 31)) {
        Some(template) => template.bytes(),
        None => {
            let len = input.u8();
            input.piece(len.into()).to_vec()
        }
    };
    for _ in 0..how >> 5 {
        let (at, value) = (input.u8(), input.u8());
        if let Some(byte) = data.get_mut(usize::from(at)) {
            *byte = value;
        }
    }
    data
}

/// Where it stands, what is marked and annotated.
fn dress(packet: &mut Packet, input: &mut Input<'_>) {
    let how = input.u8();
    if how & 1 != 0 {
        packet.take(input.u8().into());
    }
    if how & 2 != 0 {
        packet.set_mac_header(0);
        packet.pull(14);
    }
    if how & 4 != 0 {
        packet.set_network_header(0);
        let header = packet.data().first().map_or(0, |byte| (byte & 15) * 4);
        packet.set_transport_header(header.into());
    }
    if how & 8 != 0 {
        packet.set_network_header(isize::from(input.u8()) - 40);
        packet.set_transport_header(isize::from(input.u8()) - 40);
        packet.set_mac_header(isize::from(input.u8()) - 40);
    }
    if how & 16 != 0 {
        packet.pull(input.u8().into());
    }
    if how & 32 != 0 {
        packet
            .annotations_mut()
            .copy_from_slice(&input.bytes::<SIZE>());
        // Who expands packets that stand for several makes as many as are said: no more than a
        // moment's.
        let several = packet.anno_u32(EXTRA_PACKETS) % 256;
        packet.set_anno_u32(EXTRA_PACKETS, several);
    }
    if how & 64 != 0 {
        packet.set_timestamp(Timestamp(i64::from_be_bytes(input.bytes())));
    }
    if how & 128 != 0 {
        packet.put(usize::from(input.u8()) * 16);
    }
}

pub(crate) fn run(bytes: &[u8]) {
    let mut input = Input(bytes);
    let shape = classes::chosen(&mut input);
    let more = shape.options(&mut input);
    let other = classes::Shape {
        pulls: !shape.pulls,
        ..shape.clone()
    };
    let loaded = shape.loaded(&more).or_else(|| shape.loaded(""));
    let Some(mut ctx) = loaded.or_else(|| other.loaded("")) else {
        return;
    };
    for _ in 0..MOST_PACKETS {
        if input.is_empty() {
            break;
        }
        let head = input.u8();
        let mut batch = Batch::default();
        for _ in 0..=head & 3 {
            let data = data(&mut input);
            let pool = ctx.pool();
            let Some(packet) = pool.alloc_with(&data) else {
                break;
            };
            dress(&mut pool[&packet], &mut input);
            batch.push(packet);
        }
        let port = usize::from(head >> 2 & 3) % shape.inputs.max(1);
        match ctx.find(&format!("feed{port}"), None) {
            Some(feed) => ctx.offer(feed, 0, batch),
            None => batch.drain().for_each(|packet| ctx.pool().free(packet)),
        }
        if head & 128 != 0 {
            // Time passes: what waits, waits in vain.
            let seconds = [0.001, 1.0, 400.0][usize::from(head >> 5 & 3) % 3];
            let until = ctx.now() + Timestamp::from_secs_f64(seconds);
            ctx.run_rounds(Some(until), ROUNDS);
        }
    }
    let until = ctx.now() + Timestamp::from_secs(10);
    ctx.run_rounds(Some(until), LAST_ROUNDS);
    let x = ctx.find("x", None).expect("it was declared");
    for handler in ctx.handlers_of(Owner::Element(x)) {
        let of = ctx
            .find_handler(&format!("x.{}", handler.name), None)
            .expect("it is listed");
        if handler.read {
            // Some need a parameter.
            let _ = ctx.read_handler(&of, "");
        } else if handler.button {
            let _ = ctx.write_handler(&of, "");
        }
    }
    ctx.cleanup();
    assert_eq!(ctx.pool().in_use(), 0, "{}", shape.text(&more));
}
