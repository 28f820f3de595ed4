//! Several threads in memory.

use super::crossing::Crossing;
use super::portal::Portal;
use crate::engine::driver::Progress;
use crate::engine::{Element, Options};
use crate::load::testing::Run;
use crate::load::{self, BuiltIn};
use crate::memory::MemoryHost;
use crate::{lang, reason::Reason};
use std::sync::Arc;

/// Loads `config` for `threads` threads on the machine's clock.
fn load(config: &str, threads: usize) -> Result<Run, String> {
    let options = lang::Options {
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    };
    let run = Options {
        threads,
        ..Options::default()
    };
    let host = MemoryHost::new();
    match load::load(config, "config", &options, Box::new(host.clone()), run) {
        Ok((ctx, _)) => Ok(Run { ctx, host }),
        Err(refused) => Err(refused.said.click()),
    }
}

fn loaded(config: &str, threads: usize) -> Run {
    load(config, threads).unwrap_or_else(|said| panic!("{said}"))
}

#[test]
fn packets_cross_in_a_queue_and_none_is_lost() {
    let mut run = loaded(
        "StaticThreadSched(s 0, u 1);
         s :: InfiniteSource(LIMIT 100000, BURST 32) -> a :: Counter -> q :: Queue(1000)
           -> u :: Unqueue(BURST 32) -> b :: Counter(COUNT_CALL 100000 stop) -> Discard;",
        2,
    );
    assert_eq!(run.ctx.run_until(None), Progress::Stopped);
    assert_eq!(
        (run.read("a.count"), run.read("b.count")),
        ("100000".into(), "100000".into())
    );
    assert_eq!(
        (run.read("s.home_thread"), run.read("u.home_thread")),
        ("0".into(), "1".into())
    );
    assert_eq!(
        (run.read("q.drops"), run.read("q.length")),
        ("0".into(), "0".into())
    );
    run.ctx.cleanup();
}

#[test]
fn what_a_full_queue_refuses_is_counted_where_it_is_refused() {
    // Unqueue asks for no room, so the queue refuses what is too much.
    let mut run = loaded(
        "StaticThreadSched(s 0, t 1);
         s :: InfiniteSource(LIMIT 50000, BURST 32) -> first :: Queue(60000)
           -> Unqueue(BURST 32) -> a :: Counter -> q :: Queue(10)
           -> t :: TimedUnqueue(0.001) -> b :: Counter -> Discard;
         Script(wait 0.5, stop)",
        2,
    );
    assert_eq!(run.ctx.run_until(None), Progress::Stopped);
    let number = |run: &mut Run, name: &str| run.read(name).parse::<u64>().expect("a number");
    let sent = number(&mut run, "a.count");
    let arrived = number(&mut run, "b.count") + number(&mut run, "q.length");
    let refused = number(&mut run, "q.drops");
    assert_eq!(sent, arrived + refused);
    assert!(refused > 0);
    let q = run.ctx.find("q", None).expect("it is there");
    let counted = run.ctx.counters(q).drops[Reason::Overflow as usize];
    assert_eq!(counted, refused);
    run.ctx.cleanup();
}

#[test]
fn the_way_to_a_queue_holds_what_the_queue_would() {
    let mut run = loaded("Idle -> Discard", 1);
    let ctx = &mut run.ctx;
    // The other thread stands still while 10,016 packets come.
    for (room, arrives) in [(Some(30_000), 10_016), (Some(10), 4096), (None, 4096)] {
        let crossing = Arc::new(Crossing::new(0, 0, room));
        let mut portal = Portal::new(crossing.clone());
        for _ in 0..313 {
            let mut batch = ctx.batch();
            for _ in 0..32 {
                batch.push(ctx.pool().alloc().expect("there is room"));
            }
            portal.push(ctx, 0, batch);
        }
        let mut arrived = Vec::new();
        crossing.take(usize::MAX, &mut arrived);
        assert_eq!(arrived.len(), arrives, "{room:?}");
        assert_eq!(crossing.missed(), 10_016 - arrives as u64, "{room:?}");
        assert_eq!(crossing.missed(), 0);
    }
}

#[test]
fn elements_of_two_threads_may_not_meet_without_a_queue() {
    let said = load(
        "StaticThreadSched(s 0, t 1);
         s :: InfiniteSource -> m :: Counter -> Discard; t :: InfiniteSource -> m;",
        2,
    );
    assert_eq!(
        said.err().expect("it is refused"),
        "config:2: 's :: InfiniteSource' on thread 0 and 't :: InfiniteSource' on thread 1 meet in \
         'm :: Counter' without a queue between them\nRouter could not be initialized!\n"
    );
}

#[test]
fn handlers_of_other_threads_are_read_and_written_while_they_run() {
    let mut run = loaded(
        "StaticThreadSched(s 1);
         s :: InfiniteSource -> c :: Counter -> Discard;
         Script(label again, wait 1ms, goto again $(eq $(c.count) 0), write s.active false, \
         write c.reset,
                print \"$(c.count) $(s.home_thread)\", stop)",
        2,
    );
    assert_eq!(run.ctx.run_until(None), Progress::Stopped);
    assert_eq!(run.host.memory().printed, "0 1\n");
    run.ctx.cleanup();
}

#[test]
fn stop_events_reach_the_manager_on_another_thread() {
    let mut run = loaded(
        "StaticThreadSched(s 1);
         s :: InfiniteSource(LIMIT 5, STOP true) -> Discard;
         DriverManager(wait, print \"stopped\", wait 0.01, stop)",
        2,
    );
    assert_eq!(run.ctx.run_until(None), Progress::Stopped);
    assert_eq!(run.host.memory().printed, "stopped\n");
    run.ctx.cleanup();
}

#[test]
fn a_run_may_be_looked_at_and_goes_on() {
    let mut run = loaded(
        "StaticThreadSched(u 1);
         InfiniteSource(LIMIT 20000, BURST 8) -> q :: Queue -> u :: Unqueue
           -> c :: Counter(COUNT_CALL 20000 stop) -> Discard;",
        2,
    );
    let mut looks = 0;
    loop {
        let until = run.ctx.now() + trammel_packet::timestamp::Timestamp(200_000);
        match run.ctx.run_until(Some(until)) {
            Progress::Running => looks += 1,
            progress => {
                assert_eq!(progress, Progress::Stopped);
                break;
            }
        }
    }
    assert!(looks > 0);
    assert_eq!(run.read("c.count"), "20000");
    run.ctx.cleanup();
}

#[test]
fn balanced_parts_go_to_different_threads() {
    let mut run = loaded(
        "BalancedThreadSched;
         a :: InfiniteSource(LIMIT 1) -> Discard; b :: InfiniteSource(LIMIT 1) -> Discard;
         Script(wait 0.01, stop)",
        2,
    );
    let homes = [run.read("a.home_thread"), run.read("b.home_thread")];
    assert_ne!(homes[0], homes[1]);
    run.ctx.run_until(None);
    run.ctx.cleanup();
}

#[test]
fn virtual_time_runs_one_thread_that_knows_the_homes() {
    let options = lang::Options {
        classes: Some(&BuiltIn),
        ..lang::Options::default()
    };
    let simulated = Options {
        threads: 2,
        ..Options::simulated()
    };
    let host = MemoryHost::new();
    let config =
        "StaticThreadSched(s 1); s :: RatedSource(LIMIT 3, STOP true) -> c :: Counter -> Discard";
    let loaded = load::load(
        config,
        "config",
        &options,
        Box::new(host.clone()),
        simulated,
    );
    let (ctx, _) = loaded.expect("it is right");
    assert!(!ctx.is_shared());
    let mut run = Run { ctx, host };
    assert_eq!(run.ctx.run_until(None), Progress::Stopped);
    assert_eq!(
        (run.read("s.home_thread"), run.read("c.count")),
        ("1".into(), "3".into())
    );
}

#[test]
fn a_queue_goes_with_who_pulls_from_it() {
    let mut run = loaded(
        "StaticThreadSched(c 1);
         c :: { s :: InfiniteSource(LIMIT 10) -> q :: Queue -> d :: Discard; \
         StaticThreadSched(d 0) };
         Script(label again, wait 1ms, goto again $(lt $(c/d.count) 10), stop)",
        2,
    );
    assert_eq!(run.ctx.run_until(None), Progress::Stopped);
    let homes = [run.read("c/s.home_thread"), run.read("c/d.home_thread")];
    assert_eq!(homes, ["1", "0"]);
    run.ctx.cleanup();
}

#[test]
fn threads_without_elements_are_not_started() {
    let run = loaded("Idle -> Discard", 100_000);
    assert!(!run.ctx.is_shared());
    assert_eq!(loaded("Idle -> Discard", 7).read("threads"), "7");
}
