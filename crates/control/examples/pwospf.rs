//! Routers with PW-OSPF in virtual time: `cargo run --release -p trammel-control --example pwospf`.
//!
//! Without arguments: a ring of three, the campus, and 100 routers with 300 links for ten minutes,
//! in which links and routers fail. With `ROUTERS LINKS SECONDS [SEED]`: a random network. The
//! processor time is that of the run alone.

use std::error::Error;
use std::io::Write;
use trammel_control::network::{Change, Network, Settings, Topology};
use trammel_core::{Span, Time};

/// Processor time of this thread so far, where the kernel tells.
fn cpu() -> Option<Span> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(Span::from_ns(stat.split_whitespace().next()?.parse().ok()?))
}

fn run(
    out: &mut impl Write,
    name: &str,
    topology: Topology,
    changes: &[(Time, Change)],
    end: Time,
) -> Result<(), Box<dyn Error>> {
    let settings = Settings::default();
    let (routers, subnets) = (topology.routers.len(), topology.subnets.len());
    let bound = settings.convergence_bound(&topology);
    let before = cpu();
    let mut network = Network::new(topology, settings, changes);
    network.run_until(end);
    let report = network.into_report();
    let spent = before.zip(cpu()).map(|(before, after)| after - before);
    writeln!(
        out,
        "## {name}: {routers} routers, {subnets} subnets, bound {bound}"
    )?;
    write!(out, "{report}")?;
    let spent = spent.map_or("unknown".to_string(), |spent| {
        format!("{:.2} s", spent.as_secs_f64())
    });
    writeln!(out, "processor time: {spent}\n")?;
    Ok(())
}

/// A link fails and comes back, then a router; each elsewhere within a HELLO interval.
fn failures(link: usize, router: usize) -> [(Time, Change); 4] {
    [
        (Time::from_ms(121_300), Change::SubnetDown(link)),
        (Time::from_ms(242_600), Change::SubnetUp(link)),
        (Time::from_ms(363_900), Change::RouterDown(router)),
        (Time::from_ms(480_100), Change::RouterUp(router)),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let arguments = std::env::args().skip(1).map(|argument| argument.parse());
    let arguments = arguments.collect::<Result<Vec<u64>, _>>()?;
    if let [routers, links, seconds, rest @ ..] = arguments.as_slice() {
        let seed = rest.first().copied().unwrap_or(1);
        let topology = Topology::random(*routers as usize, *links as usize, seed);
        let failing = failures(*routers as usize, 0);
        return run(
            &mut out,
            "random",
            topology,
            &failing,
            Time::from_secs(*seconds),
        );
    }
    let end = Time::from_secs(600);
    run(
        &mut out,
        "ring of three",
        Topology::ring(3),
        &failures(3, 1),
        end,
    )?;
    run(&mut out, "campus", Topology::campus(), &failures(9, 2), end)?;
    let hundred = Topology::random(100, 300, 1);
    run(&mut out, "100 at random", hundred, &failures(100, 7), end)?;
    Ok(())
}
