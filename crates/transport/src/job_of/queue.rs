//! A queue of a scenario as the kernel's: its options in the units that `tc` would give.

use trammel_core::entry::Params;
use trammel_core::time::Span;
use trammel_io::qdisc::{Cake, Codel, DualPi2, Kind, Police, Red};
use trammel_queues::aqm;
use trammel_queues::idle::{IdleTable, PLACES};
use trammel_scenario::path::{Limit, Line};
use trammel_scenario::registry::Family;

/// What the kernel counts of a frame beside its IP packet.
pub(super) const ETHERNET_HEADER: u32 = 14;
/// Bytes that a packet and what the kernel keeps of it take in memory, at most.
const MEMORY_BYTES: u32 = 4096;

/// Why a queue is none of the kernel's: which of its keys, and the reason.
type Refusal = (&'static str, String);

/// The discipline of `line`, of `limit_packets` packets.
pub(super) fn of(line: &Line, limit_packets: u32) -> Result<Kind, Refusal> {
    let discipline = &line.queue.discipline;
    let about = discipline
        .about(Family::Discipline)
        .map_err(|why| ("", why))?;
    let params = discipline
        .params(Family::Discipline)
        .map_err(|why| ("", why))?;
    let bytes = match line.queue.limit {
        Limit::Bytes(bytes) => Some(u32::try_from(bytes).unwrap_or(u32::MAX)),
        Limit::Packets(_) | Limit::Bdp(_) => None,
    };
    if bytes.is_some() && !matches!(about.name, "droptail" | "policer" | "red" | "threshold") {
        let why = format!("the kernel's `{}` has a limit in packets", about.name);
        return Err(("limit", why));
    }
    Ok(match about.name {
        // What polices stands before the queue.
        "droptail" | "policer" => match bytes {
            Some(limit) => Kind::Bfifo { limit },
            None => Kind::Pfifo {
                limit: limit_packets,
            },
        },
        "codel" => Kind::Codel(codel(&params, limit_packets)),
        "fq" => fq(&params, limit_packets)?,
        "fq_codel" => fq_codel(line, &params, limit_packets)?,
        "pie" => pie(&params, limit_packets)?,
        "fq_pie" => fq_pie(line, &params, limit_packets)?,
        "cake" => Kind::Cake(cake(line, &params, limit_packets)?),
        "dualpi2" => Kind::DualPi2(dualpi2(&params, limit_packets)?),
        "red" => Kind::Red(red(line, &params, limit_packets, bytes)?),
        "threshold" => Kind::Red(step(line, &params, limit_packets, bytes)?),
        name => return Err(("", format!("the kernel has no discipline `{name}`"))),
    })
}

fn us(span: Span) -> u32 {
    u32::try_from(span.as_ps() / 1_000_000).unwrap_or(u32::MAX)
}

fn codel(params: &Params, limit: u32) -> Codel {
    let threshold = params.time("ce_threshold");
    Codel {
        limit,
        target_us: us(params.time("target")),
        interval_us: us(params.time("interval")),
        ecn: params.bool("ecn"),
        ce_threshold_us: (threshold > Span::ZERO).then(|| us(threshold)),
    }
}

fn fq(params: &Params, limit: u32) -> Result<Kind, Refusal> {
    if params.int("flows") != 1024 {
        let why = "the kernel hashes what it forwards into 1024 queues";
        return Err(("flows", why.to_owned()));
    }
    let bytes = |key| u32::try_from(params.bytes(key)).unwrap_or(u32::MAX);
    Ok(Kind::Fq {
        limit,
        flow_limit: params.int("flow_limit") as u32,
        quantum: bytes("quantum"),
        initial_quantum: bytes("initial_quantum"),
    })
}

fn fq_codel(line: &Line, params: &Params, limit: u32) -> Result<Kind, Refusal> {
    if params.int("drop_batch") != 64 {
        return Err(("drop_batch", "a guest has the kernel's own, 64".to_owned()));
    }
    let quantum = match params.bytes("quantum") {
        0 => line.mtu + ETHERNET_HEADER,
        bytes => u32::try_from(bytes).unwrap_or(u32::MAX),
    };
    Ok(Kind::FqCodel {
        codel: codel(params, limit),
        flows: u32::try_from(params.int("flows")).unwrap_or(u32::MAX),
        quantum,
        // The limit in packets is to be the one that binds.
        memory_limit: limit.saturating_mul(MEMORY_BYTES),
    })
}

/// The policer before the queue of `line`, where that is one.
pub(super) fn police(line: &Line) -> Option<Police> {
    let discipline = &line.queue.discipline;
    let about = discipline.about(Family::Discipline).ok()?;
    let params = discipline.params(Family::Discipline).ok()?;
    (about.name == "policer").then(|| Police {
        rate: match params.rate("rate").as_bps() {
            0 => line.rate.as_bps() / 8,
            bps => bps / 8,
        },
        burst: u32::try_from(params.bytes("burst")).unwrap_or(u32::MAX),
        overhead: line.overhead,
    })
}

/// `tc-pie(8)`: weights are in sixteenths.
fn sixteenths(params: &Params, key: &'static str) -> Result<u32, Refusal> {
    let value = params.float(key) * 16.0;
    let is_whole = (value - value.round()).abs() < 1e-9 && (0.0..=32.0).contains(&value);
    is_whole
        .then_some(value as u32)
        .ok_or_else(|| (key, "the kernel has sixteenths, up to 2".to_owned()))
}

fn fq_pie(line: &Line, params: &Params, limit: u32) -> Result<Kind, Refusal> {
    let quantum = match params.bytes("quantum") {
        0 => line.mtu + ETHERNET_HEADER,
        bytes => u32::try_from(bytes).unwrap_or(u32::MAX),
    };
    Ok(Kind::FqPie {
        limit,
        flows: u32::try_from(params.int("flows")).unwrap_or(u32::MAX),
        target_us: us(params.time("target")),
        update_us: us(params.time("tupdate")),
        alpha: sixteenths(params, "alpha")?,
        beta: sixteenths(params, "beta")?,
        quantum,
        ecn_percent: params.bool("ecn").then(|| params.int("ecn_prob") as u32),
        by_bytes: params.bool("bytemode"),
    })
}

/// CAKE's own limit in packets, which no option changes.
const CAKE_PACKETS: u32 = 10_240;

fn cake(line: &Line, params: &Params, limit: u32) -> Result<Cake, Refusal> {
    if limit != CAKE_PACKETS {
        let why = "the kernel's `cake` holds 10240 packets; limit its memory by `memlimit`";
        return Err(("limit", why.to_owned()));
    }
    let place = |key: &str, words: &[&str]| {
        let word = params.text(key);
        words.iter().position(|one| *one == word).unwrap_or(0) as u32
    };
    let framing = aqm::cake::framing(params);
    // As the path counts, where that is not as the kernel does by itself.
    let framing =
        framing.or((line.overhead != ETHERNET_HEADER).then_some((i64::from(line.overhead), 0, 0)));
    let rtt = params.time("rtt");
    Ok(Cake {
        rate: params.rate("bandwidth").as_bps() / 8,
        diffserv: place(
            "diffserv",
            &[
                "diffserv3",
                "diffserv4",
                "diffserv8",
                "besteffort",
                "precedence",
            ],
        ),
        flow_mode: place(
            "isolation",
            &[
                "flowblind",
                "srchost",
                "dsthost",
                "hosts",
                "flows",
                "dual-srchost",
                "dual-dsthost",
                "triple-isolate",
            ],
        ),
        rtt_us: us(rtt),
        target_us: us(rtt / 20).max(1),
        framing: framing.map(|(overhead, least, cells)| (overhead as i32, least, cells)),
        ack_filter: place(
            "ack_filter",
            &["no-ack-filter", "ack-filter", "ack-filter-aggressive"],
        ),
        ingress: params.bool("ingress"),
        memory: u32::try_from(params.bytes("memlimit")).unwrap_or(u32::MAX),
    })
}

fn dualpi2(params: &Params, limit: u32) -> Result<DualPi2, Refusal> {
    if params.text("dialect") != "linux" {
        let why = "the kernel's is not the RFC's; give `dialect = \"linux\"`";
        return Err(("dialect", why.to_owned()));
    }
    let parts = |key: &str| (params.float(key) * 256.0).round() as u32;
    Ok(DualPi2 {
        limit,
        target_us: us(params.time("target")),
        update_us: us(params.time("tupdate")),
        alpha: parts("alpha"),
        beta: parts("beta"),
        step_us: us(params.time("step_thresh")),
        step_packets: params.int("step_packets") as u32,
        least_step: params.int("min_qlen_step") as u32,
        coupling: params.int("coupling_factor") as u8,
        drop_overload: params.bool("drop_overload"),
        drop_early: !params.bool("drop_dequeue"),
        protection: params.int("classic_protection") as u8,
        any_ect: params.bool("any_ect"),
    })
}

fn pie(params: &Params, limit: u32) -> Result<Kind, Refusal> {
    // The rest is fixed in `include/net/pie.h`.
    if params.time("max_burst") != Span::from_ms(150) {
        return Err(("max_burst", "the kernel has 150 ms".to_owned()));
    }
    if (params.float("mark_below") - 0.1).abs() > 1e-9 {
        return Err(("mark_below", "the kernel has 0.1".to_owned()));
    }
    if params.text("dialect") != "linux" {
        let why = "the kernel's is not the RFC's; give `dialect = \"linux\"`";
        return Err(("dialect", why.to_owned()));
    }
    if params.text("estimator") != "timestamp" {
        return Err(("estimator", "a guest's takes time stamps".to_owned()));
    }
    Ok(Kind::Pie {
        limit,
        target_us: us(params.time("target")),
        update_us: us(params.time("t_update")),
        alpha: sixteenths(params, "alpha")?,
        beta: sixteenths(params, "beta")?,
        ecn: params.bool("ecn"),
    })
}

/// Averages and thresholds in bytes, in parts of the weight, are below this (`red_check_params`).
const AVERAGES: f64 = (1_u64 << 31) as f64;

fn red(line: &Line, params: &Params, packets: u32, bytes: Option<u32>) -> Result<Red, Refusal> {
    if params.bool("gentle") {
        let why = "the kernel's RED is not gentle; give `gentle = false`".to_owned();
        return Err(("gentle", why));
    }
    if params.text("idle") != "linux" {
        let why =
            "the kernel's average decays by its own table; give `idle = \"linux\"`".to_owned();
        return Err(("idle", why));
    }
    let one = f64::from(line.mtu + ETHERNET_HEADER);
    let weight_log = -params.float("weight").log2();
    // Floyd's usual 0.002 is 2⁻⁹ to a fortieth.
    if (weight_log - weight_log.round()).abs() > 0.05 || !(0.0..=31.0).contains(&weight_log.round())
    {
        let why = "the kernel has powers of two, such as 0.001953125".to_owned();
        return Err(("weight", why));
    }
    let weight_log = weight_log.round() as u8;
    let highest = params.float("max_threshold") * one;
    if highest * f64::from(weight_log).exp2() >= AVERAGES {
        let why = format!(
            "the kernel counts averages in 32 bits: at this weight, at most {} packets",
            (AVERAGES / f64::from(weight_log).exp2() / one).floor()
        );
        return Err(("max_threshold", why));
    }
    let mean = match params.bytes("mean_packet") {
        0 => one,
        bytes => bytes as f64,
    };
    let packet_us = mean * 8e6 / line.rate.as_bps() as f64;
    let idle = IdleTable::new(0.5_f64.powi(i32::from(weight_log)), packet_us);
    Ok(Red {
        limit: limit_bytes(line, packets, bytes),
        min: (params.float("min_threshold") * one) as u32,
        max: (params.float("max_threshold") * one) as u32,
        weight_log,
        idle: (idle.cell_log, idle.shifts),
        probability: params.float("max_probability"),
        ecn: params.bool("ecn"),
        hard_drop: params.bool("hard_drop"),
        adaptive: false,
    })
}

/// A step is a RED whose thresholds are one and whose average is the present (RFC 8257 §3.1).
fn step(line: &Line, params: &Params, packets: u32, bytes: Option<u32>) -> Result<Red, Refusal> {
    if params.text("not_capable") == "queue" {
        let why = "the kernel drops packets above the threshold that it cannot mark; give \
                   `not_capable = \"drop\"`";
        return Err(("not_capable", why.to_owned()));
    }
    let one = u64::from(line.mtu + ETHERNET_HEADER);
    let at = (params.int("threshold").max(0).cast_unsigned() + 1).saturating_mul(one);
    let at = u32::try_from(at).unwrap_or(u32::MAX);
    Ok(Red {
        limit: limit_bytes(line, packets, bytes),
        min: at,
        max: at,
        weight_log: 0,
        idle: (0, vec![31; PLACES as usize]),
        probability: 1.0,
        ecn: params.bool("ecn"),
        hard_drop: false,
        adaptive: false,
    })
}

fn limit_bytes(line: &Line, packets: u32, bytes: Option<u32>) -> u32 {
    bytes.unwrap_or_else(|| packets.saturating_mul(line.mtu + ETHERNET_HEADER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::entry::Value;
    use trammel_core::units::Rate;
    use trammel_scenario::path::Queue;

    fn line(queue: Queue) -> Line {
        let mut line = Line::new(Rate::from_bps(10_000_000));
        line.queue = queue;
        line
    }

    #[test]
    fn the_kernel_s_own_defaults_come_out_of_ours() {
        let Ok(Kind::Pie {
            alpha,
            beta,
            target_us,
            ..
        }) = of(
            &line(Queue::new("pie").param("dialect", Value::Text("linux".to_owned()))),
            1000,
        )
        else {
            panic!("PIE")
        };
        // `tc-pie(8)`: alpha 2, beta 20, target 15 ms.
        assert_eq!((alpha, beta, target_us), (2, 20, 15_000));
        let Ok(Kind::FqCodel { codel, quantum, .. }) = of(&line(Queue::new("fq_codel")), 10_240)
        else {
            panic!("FQ-CoDel")
        };
        assert_eq!(
            (codel.target_us, codel.interval_us, quantum, codel.ecn),
            (5000, 100_000, 1514, true)
        );
    }

    #[test]
    fn cake_and_dualpi2_have_the_kernel_s_numbers() {
        let Ok(Kind::Cake(cake)) = of(&line(Queue::new("cake")), 10_240) else {
            panic!("CAKE")
        };
        // `CAKE_DIFFSERV_DIFFSERV3`, `CAKE_FLOW_TRIPLE`, raw.
        assert_eq!((cake.diffserv, cake.flow_mode, cake.framing), (0, 7, None));
        assert_eq!((cake.rtt_us, cake.target_us, cake.rate), (100_000, 5000, 0));
        let dsl = Queue::new("cake").param("link", Value::Text("pppoe-llcsnap".to_owned()));
        let Ok(Kind::Cake(cake)) = of(&line(dsl), 10_240) else {
            panic!("CAKE")
        };
        // Forty bytes in cells of ATM.
        assert_eq!(cake.framing, Some((40, 0, 1)));
        let Ok(Kind::DualPi2(dual)) = of(&line(Queue::new("dualpi2")), 10_000) else {
            panic!("DualPI2")
        };
        // As `dualpi2_reset_default` has them.
        assert_eq!((dual.alpha, dual.beta, dual.coupling), (41, 819, 2));
        let policer = Queue::new("policer").param("rate", Value::Rate(Rate::from_bps(8_000_000)));
        assert_eq!(police(&line(policer)).map(|one| one.rate), Some(1_000_000));
        assert_eq!(police(&line(Queue::new("droptail"))), None);
    }

    #[test]
    fn what_the_kernel_lacks_is_named() {
        let key = |queue: Queue| of(&line(queue), 100).expect_err("it lacks it").0;
        assert_eq!(key(Queue::new("red")), "gentle");
        assert_eq!(key(Queue::new("pie")), "dialect");
        let linux = Queue::new("pie").param("dialect", Value::Text("linux".to_owned()));
        assert_eq!(key(Queue::new("pi")), "");
        assert_eq!(key(Queue::new("cake")), "limit");
        let rfc = Value::Text("rfc-9332".to_owned());
        assert_eq!(key(Queue::new("dualpi2").param("dialect", rfc)), "dialect");
        assert_eq!(key(linux.param("alpha", Value::Float(0.13))), "alpha");
        assert_eq!(key(Queue::new("codel").limit(Limit::Bytes(10))), "limit");
        let red = Queue::new("red").param("gentle", Value::Bool(false));
        assert_eq!(key(red.param("weight", Value::Float(0.003))), "weight");
    }

    #[test]
    fn an_idle_time_of_a_packet_takes_a_weight_off() {
        // 2⁻⁴: after eleven packets the average is halved, since (1 − 1/16)¹¹ = 0.49.
        let idle = IdleTable::new(0.5_f64.powi(4), 1000.0);
        let shift = |us: u32| idle.shifts[(us >> idle.cell_log) as usize];
        assert_eq!((shift(10_000), shift(11_500), shift(22_500)), (0, 1, 2));
    }
}
