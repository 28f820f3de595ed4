//! Every table against two oracles: a list searched in full, and the crate `prefix-trie`.

use prefix_trie::PrefixMap;
use proptest::prelude::*;
use trammel_router::lookup::direct::Direct;
use trammel_router::lookup::linear::Linear;
use trammel_router::lookup::poptrie::Poptrie;
use trammel_router::lookup::radix::Radix;
use trammel_router::lookup::{Address, NextHop, Prefix, Route, Routes, Table};

/// What is done to a table.
#[derive(Clone, Debug)]
enum Step<A> {
    Set(A, u8, u32),
    Insert(A, u8, u32),
    Remove(A, u8),
    /// Removes the route at this place of the list, if there are so many.
    RemoveNth(usize),
    Load(Vec<(A, u8, u32)>),
    Lookup(A),
}

fn steps<A: Address>(
    addr: impl Strategy<Value = A> + Clone + 'static,
) -> impl Strategy<Value = Vec<Step<A>>> {
    let len = prop_oneof![
        1 => Just(0),
        1 => Just(A::BITS),
        6 => 0..=A::BITS,
        3 => 7..=10_u8,
        3 => 22..=26_u8,
    ];
    let route = (addr.clone(), len, 0..5_u32);
    let step = prop_oneof![
        6 => route.clone().prop_map(|(addr, len, hop)| Step::Set(addr, len, hop)),
        2 => route.clone().prop_map(|(addr, len, hop)| Step::Insert(addr, len, hop)),
        1 => route.clone().prop_map(|(addr, len, _)| Step::Remove(addr, len)),
        4 => (0..40_usize).prop_map(Step::RemoveNth),
        1 => proptest::collection::vec(route, 0..20).prop_map(Step::Load),
        4 => addr.prop_map(Step::Lookup),
    ];
    proptest::collection::vec(step, 1..60)
}

/// Addresses that often share their first bits.
fn clustered() -> impl Strategy<Value = u32> + Clone + 'static {
    prop_oneof![
        2 => (0..4_u32).prop_map(|low| 0x0a01_02f0 | low),
        3 => (0..512_u32).prop_map(|low| 0x0a01_0200 ^ low),
        2 => (0..1_u32 << 20).prop_map(|low| 0x0a01_0200 ^ low),
        1 => any::<u32>(),
        1 => Just(0),
        1 => Just(u32::MAX),
    ]
}

fn clustered_wide() -> impl Strategy<Value = u128> + Clone + 'static {
    let base = 0x2001_0db8_0001_0002_0003_0004_0005_0006_u128;
    prop_oneof![
        3 => (0..128_u32).prop_map(move |bit| base ^ (1 << bit)),
        1 => (0..128_u32, any::<u128>()).prop_map(move |(bits, other)| base ^ (other >> bits)),
        1 => Just(0),
        1 => Just(u128::MAX),
    ]
}

/// The naive oracle.
#[derive(Default)]
struct List<A>(Vec<(A, u8, NextHop)>);

impl<A: Address> List<A> {
    fn set(&mut self, addr: A, len: u8, hop: NextHop) -> Option<NextHop> {
        let old = self.remove(addr, len);
        self.0.push((addr.keep(len), len, hop));
        old
    }

    fn remove(&mut self, addr: A, len: u8) -> Option<NextHop> {
        let at = self
            .0
            .iter()
            .position(|&(first, other, _)| other == len && first == addr.keep(len))?;
        Some(self.0.remove(at).2)
    }

    fn lookup(&self, addr: A) -> Option<NextHop> {
        let matching = self
            .0
            .iter()
            .filter(|(first, len, _)| addr.common(*first) >= *len);
        matching.max_by_key(|(_, len, _)| *len).map(|route| route.2)
    }
}

fn hop(index: u32) -> NextHop {
    NextHop::new(index).unwrap()
}

/// Carries out the steps on a table and on both oracles, and compares all along.
fn check<A: Address, T: Table<A>>(mut table: T, steps: &[Step<A>]) -> Result<(), TestCaseError>
where
    (A, u8): prefix_trie::Prefix,
{
    let mut list = List::default();
    let mut map: PrefixMap<(A, u8), NextHop> = PrefixMap::new();
    for step in steps {
        match step {
            Step::Set(addr, len, index) => {
                let old = list.set(*addr, *len, hop(*index));
                map.insert((*addr, *len), hop(*index));
                prop_assert_eq!(table.set(Prefix::new(*addr, *len), hop(*index)), old);
            }
            Step::Insert(addr, len, index) => {
                let expected = map.get(&(*addr, *len)).copied().map_or(Ok(()), Err);
                if expected.is_ok() {
                    list.set(*addr, *len, hop(*index));
                    map.insert((*addr, *len), hop(*index));
                }
                prop_assert_eq!(
                    table.insert(Prefix::new(*addr, *len), hop(*index)),
                    expected
                );
            }
            Step::Remove(addr, len) => {
                map.remove(&(*addr, *len));
                prop_assert_eq!(
                    table.remove(Prefix::new(*addr, *len)),
                    list.remove(*addr, *len)
                );
            }
            Step::RemoveNth(n) => {
                if let Some(&(addr, len, _)) = list.0.get(*n) {
                    map.remove(&(addr, len));
                    prop_assert_eq!(table.remove(Prefix::new(addr, len)), list.remove(addr, len));
                }
            }
            Step::Load(routes) => {
                let mut all = Vec::new();
                for &(addr, len, index) in routes {
                    list.set(addr, len, hop(index));
                    map.insert((addr, len), hop(index));
                    all.push((Prefix::new(addr, len), hop(index)));
                }
                table.load(&all);
            }
            Step::Lookup(addr) => prop_assert_eq!(table.lookup(*addr), list.lookup(*addr)),
        }
        prop_assert_eq!(table.len(), list.0.len());
    }
    // The first and last addresses of every prefix that was ever named, and those just outside.
    let mut addrs = Vec::new();
    for step in steps {
        let (addr, len) = match step {
            Step::Set(addr, len, _) | Step::Insert(addr, len, _) | Step::Remove(addr, len) => {
                (*addr, *len)
            }
            Step::Load(routes) => {
                addrs.extend(
                    routes
                        .iter()
                        .flat_map(|route| [route.0, route.0.fill(route.1)]),
                );
                continue;
            }
            Step::Lookup(addr) => (*addr, A::BITS),
            Step::RemoveNth(_) => continue,
        };
        let (first, last) = (addr.keep(len), addr.fill(len));
        addrs.extend(
            [
                Some(addr),
                Some(first),
                Some(last),
                first.previous(),
                last.next(),
            ]
            .into_iter()
            .flatten(),
        );
    }
    let mut batch = vec![Some(hop(99)); addrs.len()];
    table.lookup_batch(&addrs, &mut batch);
    for (addr, in_batch) in addrs.iter().zip(batch) {
        let expected = list.lookup(*addr);
        prop_assert_eq!(table.lookup(*addr), expected, "single, {:?}", addr);
        prop_assert_eq!(in_batch, expected, "batch, {:?}", addr);
        let trie = map.get_lpm(&(*addr, A::BITS)).map(|(_, hop)| *hop);
        prop_assert_eq!(trie, expected, "the oracles differ, {:?}", addr);
    }
    let mut printed: Vec<_> = table
        .iter()
        .map(|(prefix, hop)| (prefix.first(), prefix.len(), hop))
        .collect();
    if !table.prints_arrival() {
        prop_assert!(printed.is_sorted());
    }
    printed.sort_unstable();
    list.0.sort_unstable();
    prop_assert_eq!(printed, list.0);
    Ok(())
}

proptest! {
    #[test]
    fn a_radix_table_agrees_with_both_oracles(steps in steps(clustered())) {
        check(Radix::new(), &steps)?;
    }

    #[test]
    fn a_poptrie_of_any_width_agrees_with_both_oracles(
        steps in steps(clustered()),
        width in 8..=19_u8,
    ) {
        check(Poptrie::new(width), &steps)?;
    }

    #[test]
    fn a_linear_table_agrees_with_both_oracles(steps in steps(clustered())) {
        check(Linear::new(), &steps)?;
    }

    #[test]
    fn a_poptrie_of_ipv6_agrees_with_both_oracles(
        steps in steps(clustered_wide()),
        width in 8..=18_u8,
    ) {
        check(Poptrie::new(width), &steps)?;
    }
}

proptest! {
    // Each case takes a table of 64 MB.
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn a_direct_table_agrees_with_both_oracles(steps in steps(clustered())) {
        check(Direct::new(), &steps)?;
    }
}

fn route(prefix: &str, gateway: u32, port: u32) -> Route<u32> {
    let (addr, len) = prefix.split_once('/').unwrap();
    let addr: std::net::Ipv4Addr = addr.parse().unwrap();
    Route {
        prefix: Prefix::new(addr.into(), len.parse().unwrap()),
        gateway,
        port,
    }
}

#[test]
fn adding_refuses_setting_replaces_and_removal_uncovers() {
    let mut routes = Routes::new(Radix::new());
    let (host, net, all) = (
        route("10.0.0.1/32", 0, 1),
        route("10.0.0.0/24", 7, 2),
        route("0.0.0.0/0", 9, 3),
    );
    for new in [host, net, all] {
        assert_eq!(routes.add(new), Ok(()));
        assert_eq!(routes.add(Route { port: 5, ..new }), Err(new));
    }
    let found = |routes: &Routes<u32, Radix>| {
        routes
            .table()
            .lookup(0x0a00_0001)
            .map(|hop| routes.hop(hop))
    };
    assert_eq!(found(&routes), Some((0, 1)));
    assert_eq!(routes.set(Route { port: 6, ..host }), Some(host));
    assert_eq!(found(&routes), Some((0, 6)));
    assert_eq!(routes.remove(host.prefix), Some(Route { port: 6, ..host }));
    assert_eq!(found(&routes), Some((7, 2)));
    assert_eq!(routes.remove(net.prefix), Some(net));
    assert_eq!(found(&routes), Some((9, 3)));
    assert_eq!(routes.remove(all.prefix), Some(all));
    assert_eq!(found(&routes), None);
    assert_eq!(routes.remove(all.prefix), None);
}

#[test]
fn next_hops_of_removed_routes_are_numbered_anew() {
    let mut routes = Routes::new(Linear::new());
    for gateway in 0..1000 {
        routes.set(route("10.0.0.0/8", gateway, 0));
        let hop = routes.table().lookup(0x0a00_0000).unwrap();
        assert_eq!(routes.hop(hop), (gateway, 0));
        assert!(hop.index() < 2);
    }
}

#[test]
fn a_linear_table_prints_in_order_of_arrival_and_fills_holes() {
    let mut routes = Routes::new(Linear::new());
    let [a, b, c, d] =
        ["9.0.0.0/8", "1.0.0.0/8", "5.0.0.0/8", "0.0.0.0/0"].map(|text| route(text, 0, 0));
    assert_eq!(routes.load(&[a, b, c, a]), 1);
    assert_eq!(routes.iter().collect::<Vec<_>>(), [a, b, c]);
    routes.remove(b.prefix);
    routes.set(d);
    assert_eq!(routes.iter().collect::<Vec<_>>(), [a, d, c]);
}

#[test]
fn batches_of_any_length_leave_what_is_beyond_the_shorter_slice() {
    let tables: [Box<dyn Table<u32>>; 4] = [
        Box::new(Radix::new()),
        Box::new(Poptrie::new(18)),
        Box::new(Direct::new()),
        Box::new(Linear::new()),
    ];
    let addrs: Vec<u32> = (0..100).map(|i| 0x0a00_0000 + i * 3).collect();
    for mut table in tables {
        table.set(Prefix::new(0x0a00_0000, 25), hop(1));
        table.set(Prefix::new(0x0a00_0040, 26), hop(2));
        for (asked, room) in [
            (0, 0),
            (1, 1),
            (7, 3),
            (3, 7),
            (32, 32),
            (33, 40),
            (100, 70),
            (31, 100),
        ] {
            let mut out = vec![Some(hop(9)); room];
            table.lookup_batch(&addrs[..asked], &mut out);
            for (i, found) in out.into_iter().enumerate() {
                let expected = if i < asked {
                    table.lookup(addrs[i])
                } else {
                    Some(hop(9))
                };
                assert_eq!(found, expected, "{i} of {asked} into {room}");
            }
        }
    }
}

#[test]
fn a_table_that_outgrows_its_list_and_shrinks_again_stays_right() {
    let mut table = Radix::new();
    let addrs: Vec<u32> = (0..600).map(|i| i << 22 | 5).collect();
    let compare = |table: &Radix, routes: u32| {
        let mut out = vec![None; addrs.len()];
        table.lookup_batch(&addrs, &mut out);
        for (i, found) in (0..).zip(out) {
            assert_eq!(
                found,
                (i < routes).then(|| hop(i)),
                "{i} of {routes} routes"
            );
            assert_eq!(found, table.lookup(addrs[i as usize]));
        }
    };
    for i in 0..600 {
        table.set(Prefix::new(i << 22, 20), hop(i));
        compare(&table, i + 1);
    }
    for i in (0..600).rev() {
        table.remove(Prefix::new(i << 22, 20));
        compare(&table, i);
    }
}

/// Loads many routes at once into one table and one by one into another, then removes all from one.
fn bulk_equals_single<T: Table<u32>>(new: impl Fn() -> T) {
    let mut rng = trammel_core::rng::Rng::new(3, "bulk");
    let mut all = Vec::new();
    for i in 0..20_000_u64 {
        let len = 9 + rng.below(24) as u8;
        // Half of the addresses crowd into one network of 12 bits.
        let addr = rng.below(1 << 32) as u32;
        let addr = if rng.chance(0.5) {
            0x0a10_0000 | addr >> 12
        } else {
            addr
        };
        all.push(Route {
            prefix: Prefix::new(addr, len),
            gateway: 0,
            port: (i % 7) as u32,
        });
    }
    let (mut bulk, mut single) = (Routes::new(new()), Routes::new(new()));
    let refused = bulk.load(&all[..10_000]) + bulk.load(&all[10_000..]);
    assert_eq!(
        refused,
        all.iter()
            .filter(|route| single.add(**route).is_err())
            .count()
    );
    assert_eq!(
        bulk.iter().collect::<Vec<_>>(),
        single.iter().collect::<Vec<_>>()
    );
    let addrs: Vec<u32> = all
        .iter()
        .flat_map(|route| {
            [
                route.prefix.first(),
                route.prefix.last(),
                rng.below(1 << 32) as u32,
            ]
        })
        .collect();
    let port = |routes: &Routes<u32, T>, hop: Option<NextHop>| hop.map(|hop| routes.hop(hop).1);
    let mut batch = vec![None; addrs.len()];
    bulk.table().lookup_batch(&addrs, &mut batch);
    for (addr, hop) in addrs.iter().zip(batch) {
        assert_eq!(
            port(&bulk, hop),
            port(&single, single.table().lookup(*addr)),
            "{addr:#x}"
        );
    }
    let mut grown = [0; 3];
    for grown in &mut grown {
        for route in &all {
            single.remove(route.prefix);
        }
        assert!(single.table().is_empty());
        assert!(
            addrs
                .iter()
                .all(|addr| single.table().lookup(*addr).is_none())
        );
        for route in &all {
            let _ = single.add(*route);
        }
        *grown = single.table().bytes();
    }
    // Freed parts are used again.
    assert_eq!(grown[1], grown[2]);
}

#[test]
fn loading_a_radix_table_at_once_equals_adding_one_by_one() {
    bulk_equals_single(Radix::new);
}

#[test]
fn loading_a_poptrie_at_once_equals_adding_one_by_one() {
    bulk_equals_single(|| Poptrie::new(16));
}

#[test]
fn loading_a_direct_table_at_once_equals_adding_one_by_one() {
    bulk_equals_single(Direct::new);
}

#[test]
fn levels_are_the_accesses_that_wait_for_one_another() {
    let mut direct = Direct::new();
    assert_eq!(direct.levels(), 1.0, "no route");
    direct.set(Prefix::new(0x0a00_0000, 24), hop(1));
    assert_eq!(direct.levels(), 1.0);
    // Its own cell is split, and no other.
    direct.set(Prefix::new(0x0b00_0001, 32), hop(2));
    assert_eq!(direct.levels(), 1.5);
    // 18 bits of root, and nodes of six: 24, 30 and all 32 bits.
    let mut trie = Poptrie::new(18);
    for (bits, levels) in [(18, 1.0), (24, 2.0), (30, 3.0), (32, 4.0)] {
        let prefix = Prefix::new(0x0a00_0000_u32, bits);
        trie.set(prefix, hop(1));
        assert_eq!(trie.levels(), levels, "{bits} bits");
        trie.remove(prefix);
    }
    // The list takes over from the trie where routes are few.
    let mut few = Radix::new();
    few.set(Prefix::new(0x0a00_0000, 32), hop(1));
    assert_eq!((few.levels(), few.listed()), (0.0, 1));
    let names: Vec<_> = few.quantities().into_iter().map(|(name, _)| name).collect();
    let all = [
        "routes", "levels", "listed", "asked", "ways", "lines", "pages",
    ];
    assert_eq!(names, all);
}
