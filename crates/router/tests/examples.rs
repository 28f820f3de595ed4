//! The example configurations run in virtual time, and every packet is accounted for.

use std::collections::BTreeMap;
use trammel_packet::timestamp::Timestamp;
use trammel_router::MemoryHost;
use trammel_router::Reason;
use trammel_router::engine::Ctx;
use trammel_router::engine::Options;
use trammel_router::lang;
use trammel_router::{BuiltIn, load};

/// What went in, what came out by counter, and what ended by reason.
#[derive(Debug, Default)]
struct Account {
    into: u64,
    out: BTreeMap<String, u64>,
    drops: BTreeMap<&'static str, u64>,
}

fn count(ctx: &mut Ctx, name: &str) -> u64 {
    let of = ctx
        .find_handler(&format!("{name}.count"), None)
        .expect("a counter");
    let text = ctx.read_handler(&of, "").expect("it can be read");
    text.parse().expect("a number")
}

/// Runs an example until its end.
fn run(name: &str) -> Account {
    let path = format!(
        "{}/../../examples/router/{name}.click",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(&path).expect("the example is there");
    let options = lang::Options {
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    };
    let host = Box::new(MemoryHost::new());
    let (mut ctx, _) = load(&text, name, &options, host, Options::simulated())
        .unwrap_or_else(|refused| panic!("{}", refused.said.click()));
    let until = ctx.now() + Timestamp::from_secs(10);
    ctx.run_until(Some(until));
    assert_eq!(ctx.pool().in_use(), 0, "{name}: nothing waits at the end");
    let mut account = Account::default();
    for element in 0..ctx.elements() {
        let called = ctx.name(element).to_owned();
        if called.starts_with("in_") {
            account.into += count(&mut ctx, &called);
        } else if called.starts_with("out") {
            let passed = count(&mut ctx, &called);
            account.out.insert(called, passed);
        } else if !called.starts_with("sink") {
            for (reason, drops) in Reason::ALL.iter().zip(ctx.counters(element).drops) {
                *account.drops.entry(reason.text()).or_default() += drops;
            }
        }
    }
    account.drops.retain(|_, drops| *drops > 0);
    let out: u64 = account.out.values().sum();
    let drops: u64 = account.drops.values().sum();
    assert!(account.into > 0);
    assert_eq!(account.into, out + drops, "{name}: {account:?}");
    account
}

#[test]
fn an_mpls_switch_forwards_what_it_knows() {
    let account = run("mpls-switch");
    assert_eq!(
        (account.into, account.out["out0"], account.out["out1"]),
        (4000, 1000, 1000)
    );
    assert_eq!(account.drops["no route"], 1000);
}

#[test]
fn a_gre_tunnel_drops_what_was_damaged() {
    let account = run("gre-tunnel");
    assert_eq!(
        (account.out["out_up"], account.out["out_down"]),
        (1000, 1000)
    );
    assert_eq!(account.drops, BTreeMap::from([("bad checksum", 1000)]));
}

#[test]
fn a_switch_with_a_fixed_table_knows_its_stations() {
    let account = run("l2-switch-static");
    assert_eq!((account.out["out0"], account.out["out1"]), (1000, 1000));
    assert_eq!(account.drops.values().sum::<u64>(), 1000);
}

#[test]
fn a_switch_that_learns_keeps_frames_in_their_lan() {
    let account = run("l2-switch-learning");
    assert_eq!((account.out["out0"], account.out["out1"]), (1000, 1000));
    assert_eq!(account.drops, BTreeMap::from([("refused by a rule", 1000)]));
}

#[test]
fn a_broadband_gateway_accounts_for_both_directions() {
    let account = run("bng");
    assert_eq!(account.into, 7000);
    assert_eq!(
        (account.out["out_core0"], account.out["out_core1"]),
        (1000, 1000)
    );
    // The first packet may come from the core before the subscriber was seen.
    assert!(account.out["out_access"] >= 999, "{account:?}");
    assert_eq!(account.drops["no route"], 1000);
    assert!(account.drops["no mapping"] >= 2000, "{account:?}");
}
