//! The pool against a plain model: a packet is its bytes, the bytes that were stripped, and its
//! marks.
//!
//! Under Miri this is what looks at every unsafe line of the pool.

#![allow(unsafe_code)]

use proptest::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};
use trammel_packet::batch::Packets;
use trammel_packet::packet::Packet;
use trammel_packet::pool::{HEADROOM, Handle, Pool, SLOT_BYTES};

/// What is done, to which of the packets in use.
#[derive(Clone, Debug)]
enum Deed {
    Alloc(Vec<u8>),
    Duplicate(usize),
    Free(usize),
    Push(usize, usize),
    Pull(usize, usize),
    Put(usize, usize),
    Take(usize, usize),
    SetHeadroom(usize, usize),
    SetData(usize, Vec<u8>),
    Mark(usize, isize),
    Lend(usize),
}

/// A packet as it should be.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    data: Vec<u8>,
    mark: Option<isize>,
}

fn deed() -> impl Strategy<Value = Deed> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let which = || 0_usize..8;
    let len = || prop_oneof![0_usize..20, 0_usize..200, 0_usize..5000];
    prop_oneof![
        3 => bytes().prop_map(Deed::Alloc),
        1 => which().prop_map(Deed::Duplicate),
        1 => which().prop_map(Deed::Free),
        2 => (which(), len()).prop_map(|(which, len)| Deed::Push(which, len)),
        2 => (which(), len()).prop_map(|(which, len)| Deed::Pull(which, len)),
        2 => (which(), len()).prop_map(|(which, len)| Deed::Put(which, len)),
        1 => (which(), len()).prop_map(|(which, len)| Deed::Take(which, len)),
        1 => (which(), len()).prop_map(|(which, len)| Deed::SetHeadroom(which, len)),
        1 => (which(), bytes()).prop_map(|(which, bytes)| Deed::SetData(which, bytes)),
        1 => (which(), -50_isize..50).prop_map(|(which, at)| Deed::Mark(which, at)),
        1 => which().prop_map(Deed::Lend),
    ]
}

/// Does it in the pool and in the model.
fn follow(pool: &mut Pool, all: &mut Vec<(Handle, Model)>, deed: Deed) {
    if let Deed::Alloc(data) = deed {
        if let Some(handle) = pool.alloc_with(&data) {
            all.push((handle, Model { data, mark: None }));
        }
        return;
    }
    let which = match deed {
        Deed::Duplicate(n)
        | Deed::Free(n)
        | Deed::Lend(n)
        | Deed::Push(n, _)
        | Deed::Pull(n, _)
        | Deed::Put(n, _)
        | Deed::Take(n, _)
        | Deed::SetHeadroom(n, _)
        | Deed::SetData(n, _)
        | Deed::Mark(n, _) => n,
        Deed::Alloc(_) => return,
    };
    if all.is_empty() {
        return;
    }
    let which = which % all.len();
    let (handle, model) = &mut all[which];
    let packet = &mut pool[handle];
    match deed {
        Deed::Push(_, n) => {
            let before = packet.before(n).to_vec();
            let added = packet.push(n);
            // What was stripped, or stood there last, is there again.
            assert_eq!(added[n - before.len()..], before);
            added.fill(0xA5);
            model.data.splice(0..0, vec![0xA5; n]);
            model.mark = model.mark.map(|at| at + n as isize);
        }
        Deed::Pull(_, n) => {
            let n = n.min(model.data.len());
            packet.pull(n + 1000 * usize::from(n == model.data.len()));
            model.data.drain(..n);
            model.mark = model.mark.map(|at| at - n as isize);
        }
        Deed::Put(_, n) => {
            packet.put(n);
            model.data.resize(model.data.len() + n, 0);
        }
        Deed::Take(_, n) => {
            packet.take(n);
            model.data.truncate(model.data.len().saturating_sub(n));
        }
        Deed::SetHeadroom(_, n) => {
            packet.set_headroom(n);
            assert_eq!(packet.headroom(), n);
        }
        Deed::SetData(_, bytes) => {
            packet.clear_network_header();
            packet.set_data(&bytes);
            *model = Model {
                data: bytes,
                mark: None,
            };
        }
        Deed::Mark(_, at) => {
            packet.set_network_header(at);
            model.mark = packet.network_header_at();
            assert!(model.mark.is_none_or(|mark| mark == at));
        }
        Deed::Duplicate(_) => {
            let model = model.clone();
            if let Some(copy) = pool.duplicate(&all[which].0) {
                all.push((copy, model));
            }
        }
        Deed::Free(_) => pool.free(all.swap_remove(which).0),
        Deed::Lend(_) => {
            let (handle, model) = all.swap_remove(which);
            let (offset, len) = (pool[&handle].offset(), pool[&handle].len());
            match pool.lend(handle) {
                Ok(slot) => {
                    // SAFETY: it was lent to nobody.
                    let handle = unsafe { pool.reclaim(slot, offset, len) };
                    all.push((
                        handle,
                        Model {
                            mark: None,
                            ..model
                        },
                    ));
                }
                Err(handle) => all.push((handle, model)),
            }
        }
        Deed::Alloc(_) => {}
    }
}

proptest! {
    #[test]
    fn a_packet_is_its_bytes_and_marks(deeds in prop::collection::vec(deed(), 1..60)) {
        let mut pool = Pool::new(2, 6);
        let mut all: Vec<(Handle, Model)> = Vec::new();
        for deed in deeds {
            follow(&mut pool, &mut all, deed);
            prop_assert_eq!(pool.in_use(), all.len());
            for (handle, model) in &mut all {
                let packet = &mut pool[&*handle];
                prop_assert_eq!(packet.data(), &model.data[..]);
                prop_assert_eq!(
                    packet.buffer().len(), packet.headroom() + packet.len() + packet.tailroom()
                );
                // A mark before the head-room there is goes lost; one that stays is right.
                let mark = packet.network_header_at();
                prop_assert!(mark.is_none() || mark == model.mark, "{:?} {:?}", mark, model.mark);
                model.mark = mark;
                let from = mark.filter(|at| *at >= 0).map_or(usize::MAX, |at| at as usize);
                prop_assert_eq!(
                    packet.network_header(), model.data.get(from..).unwrap_or_default()
                );
            }
        }
        for (handle, _) in all {
            pool.free(handle);
        }
        prop_assert_eq!(pool.in_use(), 0);
    }
}

/// Two pools of one slot, and a handle of the first.
fn pools() -> (Pool, Pool, Handle) {
    let (mut mine, other) = (Pool::new(1, 1), Pool::new(1, 1));
    let handle = mine.alloc_with(b"mine").expect("the pool has a free slot");
    (mine, other, handle)
}

#[test]
fn a_handle_of_another_pool_finds_that_pools_own_packet() {
    let (mine, mut other, handle) = pools();
    let its = other
        .alloc_with(b"other")
        .expect("the pool has a free slot");
    drop(mine);
    assert_eq!(other[&handle].data(), b"other");
    other[&handle].push(3000).fill(1);
    other.free(its);
    // It is free, and its bytes are those of its slot again.
    assert!(other[&handle].is_empty());
    assert_eq!(other[&handle].buffer().len(), SLOT_BYTES);
}

#[test]
#[should_panic(expected = "slot 0 is not in use")]
fn a_slot_that_is_free_is_not_freed_again() {
    let (_mine, mut other, handle) = pools();
    other.free(handle);
}

#[test]
#[should_panic(expected = "slot 0 is Free")]
fn a_slot_that_is_free_is_not_lent() {
    let (_mine, mut other, handle) = pools();
    let _ = other.lend(handle);
}

#[test]
fn nothing_reaches_the_bytes_of_a_lent_slot() {
    let (_mine, mut other, foreign) = pools();
    let its = other
        .alloc_with(b"other")
        .expect("the pool has a free slot");
    let slot = other.lend(its).expect("it is in the first block");
    let packet = &mut other[&foreign];
    assert_eq!(
        (packet.len(), packet.headroom(), packet.tailroom()),
        (0, 0, 0)
    );
    assert!(packet.buffer().is_empty() && packet.before(64).is_empty());
    packet.pull(64);
    packet.take(64);
    packet.set_headroom(0);
    packet.set_network_header(0);
    assert!(packet.data_mut().is_empty() && packet.network_header_mut().is_empty());
    let writes: [fn(&mut Packet); 4] = [
        |packet| packet.set_data(b""),
        |packet| _ = packet.push(1),
        |packet| _ = packet.put(1),
        |packet| packet.set_headroom(1),
    ];
    for write in writes {
        let done = catch_unwind(AssertUnwindSafe(|| write(&mut other[&foreign])));
        assert!(done.is_err(), "it is the kernel's");
    }
    assert!(catch_unwind(AssertUnwindSafe(|| other.free(foreign))).is_err());
    // SAFETY: it was lent to nobody.
    let its = unsafe { other.reclaim(slot, HEADROOM, 5) };
    assert_eq!(other[&its].data(), b"other");
    other.free(its);
}

#[test]
fn lengths_that_no_packet_has_are_refused_and_change_nothing() {
    let (mut pool, _, handle) = pools();
    let asks: [fn(&mut Packet); 6] = [
        |packet| _ = packet.push(usize::MAX),
        |packet| _ = packet.push(usize::MAX - HEADROOM + 1),
        |packet| _ = packet.push(u32::MAX as usize),
        |packet| _ = packet.put(usize::MAX),
        |packet| _ = packet.put(u32::MAX as usize),
        |packet| packet.set_headroom(usize::MAX),
    ];
    for ask in asks {
        assert!(catch_unwind(AssertUnwindSafe(|| ask(&mut pool[&handle]))).is_err());
        assert_eq!(pool[&handle].data(), b"mine");
        assert_eq!(pool[&handle].headroom(), HEADROOM);
    }
    pool[&handle].set_network_header(isize::MAX);
    assert!(!pool[&handle].has_network_header());
    pool.free(handle);
}

#[test]
fn a_panic_in_the_middle_of_a_batch_leaves_no_packet_in_two_places() {
    let (mut pool, _, handle) = pools();
    let mut batch = Packets::new();
    batch.push(handle);
    let filtered = catch_unwind(AssertUnwindSafe(|| {
        batch.filter(|packet| {
            pool.free(packet);
            panic!("an element's fault");
        });
    }));
    assert!(filtered.is_err());
    assert_eq!((batch.len(), pool.in_use()), (0, 0));
}
