//! PW-OSPF: what it knows, and its settings.

use super::command::{Args, Context};
use super::reply::Reply;
use super::show::name;
use crate::pwospf::{Pwospf, Refusal};
use core::net::Ipv4Addr;
use trammel_core::{Span, Time};

fn running<'a>(context: &'a Context) -> Result<&'a Pwospf, String> {
    let pwospf = context.routing.pwospf();
    pwospf.ok_or_else(|| "PW-OSPF is switched off: configure it and start again".to_owned())
}

/// Changes the protocol, or says why not.
fn change<T, E: ToString>(
    context: &mut Context,
    change: impl FnOnce(&mut Pwospf, Time) -> Result<T, E>,
) -> Result<T, String> {
    running(context)?;
    let now = context.machine.now();
    let pwospf = context.routing.pwospf_mut().expect("it runs");
    change(pwospf, now).map_err(|error| error.to_string())
}

pub(super) fn show(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let all = info(context, args)?.and(iface(context, args)?);
    Ok(all.and(router(context, args)?))
}

pub(super) fn iface(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let (pwospf, now) = (running(context)?, context.machine.now());
    let rows = pwospf.neighbours().map(|(port, neighbour)| {
        let left = neighbour
            .expires
            .saturating_since(now)
            .as_ms()
            .div_ceil(1000);
        vec![
            name(context.machine, port),
            neighbour.router_id.to_string().into(),
            neighbour.address.to_string().into(),
            left.into(),
        ]
    });
    let columns = &["interface", "router_id", "address", "left_s"];
    Ok(Reply::done().table("pwospf_neighbours", columns, rows.collect()))
}

pub(super) fn router(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let pwospf = running(context)?;
    let database = pwospf.database(context.machine.now());
    let rows = database.flat_map(|entry| {
        entry.adverts.iter().map(move |advert| {
            let neighbour = Some(advert.router_id).filter(|id| !id.is_unspecified());
            vec![
                entry.router_id.to_string().into(),
                entry.sequence.into(),
                entry.age.as_ms().div_euclid(1000).into(),
                advert.network.to_string().into(),
                advert.mask.to_string().into(),
                neighbour.map(|id| id.to_string()).into(),
            ]
        })
    });
    let columns = &[
        "router_id",
        "sequence",
        "age_s",
        "network",
        "mask",
        "neighbour",
    ];
    Ok(Reply::done().long_table("pwospf_database", columns, rows))
}

pub(super) fn info(context: &mut Context, _: &Args) -> Result<Reply, String> {
    let pwospf = running(context)?;
    let (config, counters) = (pwospf.config(), pwospf.counters());
    let counted = [
        ("hellos_sent", counters.hellos_sent),
        ("hellos_accepted", counters.hellos_accepted),
        ("lsus_originated", counters.lsus_originated),
        ("lsus_sent", counters.lsus_sent),
        ("lsus_accepted", counters.lsus_accepted),
        ("lsus_expired", counters.lsus_expired),
        ("sequence_jumps", counters.sequence_jumps),
        ("neighbours_lost", counters.neighbours_lost),
        ("entries_aged", counters.entries_aged),
        ("spf_runs", counters.spf_runs),
        ("queue_drops", counters.queue_drops),
        ("adverts_cut", counters.adverts_cut),
    ];
    let refused = Refusal::ALL.iter().map(|reason| {
        let name = format!("refused: {}", reason.name());
        vec![name.into(), counters.refused(*reason).into()]
    });
    let counted = counted.map(|(name, value)| vec![name.into(), value.into()]);
    let rows = counted.into_iter().chain(refused).collect();
    Ok(Reply::done()
        .fact("router_id", config.router_id.to_string())
        .fact("area", Ipv4Addr::from_bits(config.area).to_string())
        .fact(
            "hello_interval_s",
            config.hello_interval.as_ms() as f64 / 1e3,
        )
        .fact("lsu_interval_s", config.lsu_interval.as_ms() as f64 / 1e3)
        .table("pwospf_counters", &["counter", "value"], rows))
}

pub(super) fn set_area(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let area = args.number("AREA");
    change(context, |pwospf, now| {
        pwospf.set_area(now, area);
        Ok::<_, String>(())
    })?;
    let area = Ipv4Addr::from_bits(area);
    Ok(Reply::done().line(&format!("the area is {area}")))
}

pub(super) fn set_hello(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let seconds = args.number("SECONDS");
    let interval = Span::from_secs(seconds.into());
    change(context, |pwospf, now| {
        pwospf.set_hello_interval(now, interval)
    })?;
    Ok(Reply::done().line(&format!("a HELLO leaves each interface every {seconds} s")))
}

pub(super) fn set_lsu(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let seconds = args.number("SECONDS");
    let interval = Span::from_secs(seconds.into());
    change(context, |pwospf, _| pwospf.set_lsu_interval(interval))?;
    Ok(Reply::done().line(&format!("a link-state update is made every {seconds} s")))
}

pub(super) fn set_broadcast(context: &mut Context, args: &Args) -> Result<Reply, String> {
    let on = args.switch("ON");
    change(context, |pwospf, now| {
        pwospf.set_lsu_broadcast(now, on);
        Ok::<_, String>(())
    })?;
    let text = if on { "are" } else { "are not" };
    Ok(Reply::done().line(&format!("link-state updates {text} made")))
}

pub(super) fn send_hello(context: &mut Context, _: &Args) -> Result<Reply, String> {
    change(context, |pwospf, now| {
        pwospf.send_hello(now);
        Ok::<_, String>(())
    })?;
    Ok(Reply::done().line("a HELLO left each interface that is up"))
}

pub(super) fn send_lsu(context: &mut Context, _: &Args) -> Result<Reply, String> {
    change(context, |pwospf, now| {
        pwospf.send_lsu(now);
        Ok::<_, String>(())
    })?;
    Ok(Reply::done().line("a link-state update leaves as soon as the least interval has passed"))
}
