//! A queue of a scenario as the kernel's: its options in the units that `tc` would give.

use trammel_core::entry::Params;
use trammel_core::time::Span;
use trammel_io::qdisc::{Codel, Kind, Red};
use trammel_scenario::path::{Limit, Line};
use trammel_scenario::registry::Family;

/// What the kernel counts of a frame beside its IP packet.
pub(super) const ETHERNET_HEADER: u32 = 14;
/// Bytes that a packet and what the kernel keeps of it take in memory, at most.
const MEMORY_BYTES: u32 = 4096;
/// The kernel's table for a queue that was idle: its places.
const IDLE_PLACES: u32 = 256;

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
    if bytes.is_some() && !matches!(about.name, "droptail" | "red" | "threshold") {
        let why = format!("the kernel's `{}` has a limit in packets", about.name);
        return Err(("limit", why));
    }
    Ok(match about.name {
        "droptail" => match bytes {
            Some(limit) => Kind::Bfifo { limit },
            None => Kind::Pfifo {
                limit: limit_packets,
            },
        },
        "codel" => Kind::Codel(codel(&params, limit_packets)),
        "fq_codel" => fq_codel(line, &params, limit_packets)?,
        "pie" => pie(&params, limit_packets)?,
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

fn pie(params: &Params, limit: u32) -> Result<Kind, Refusal> {
    // `tc-pie(8)`: weights are in sixteenths; the rest is fixed in `include/net/pie.h`.
    let sixteenths = |key: &'static str| {
        let value = params.float(key) * 16.0;
        let is_whole = (value - value.round()).abs() < 1e-9 && (0.0..=32.0).contains(&value);
        is_whole
            .then_some(value as u32)
            .ok_or_else(|| (key, "the kernel has sixteenths, up to 2".to_owned()))
    };
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
        alpha: sixteenths("alpha")?,
        beta: sixteenths("beta")?,
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
    Ok(Red {
        limit: limit_bytes(line, packets, bytes),
        min: (params.float("min_threshold") * one) as u32,
        max: (params.float("max_threshold") * one) as u32,
        weight_log,
        idle: idle(weight_log, mean * 8e6 / line.rate.as_bps() as f64),
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
        idle: (0, vec![31; IDLE_PLACES as usize]),
        probability: 1.0,
        ecn: params.bool("ecn"),
        hard_drop: false,
        adaptive: false,
    })
}

fn limit_bytes(line: &Line, packets: u32, bytes: Option<u32>) -> u32 {
    bytes.unwrap_or_else(|| packets.saturating_mul(line.mtu + ETHERNET_HEADER))
}

/// By how many bits the average is shifted after an idle time, in cells of a power of two of
/// microseconds: it decays by 1 − w for every packet of `packet_us` that could have gone (Floyd and
/// Jacobson 1993, §4, `include/net/red.h`).
fn idle(weight_log: u8, packet_us: f64) -> (u8, Vec<u8>) {
    const MOST_BITS: f64 = 31.0;
    let bits_a_us =
        -(-(0.5_f64.powi(i32::from(weight_log)))).ln_1p() / std::f64::consts::LN_2 / packet_us;
    let longest_us = MOST_BITS / bits_a_us;
    let mut cell_log = 0;
    while cell_log < 31 && longest_us / f64::from(1_u32 << cell_log) >= f64::from(2 * IDLE_PLACES) {
        cell_log += 1;
    }
    let shift = |place: u32| {
        (f64::from(place) * f64::from(1_u32 << cell_log) * bits_a_us).min(MOST_BITS) as u8
    };
    let mut shifts: Vec<u8> = (0..IDLE_PLACES).map(shift).collect();
    shifts[IDLE_PLACES as usize - 1] = MOST_BITS as u8;
    (cell_log, shifts)
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
    fn what_the_kernel_lacks_is_named() {
        let key = |queue: Queue| of(&line(queue), 100).expect_err("it lacks it").0;
        assert_eq!(key(Queue::new("red")), "gentle");
        assert_eq!(key(Queue::new("pie")), "dialect");
        let linux = Queue::new("pie").param("dialect", Value::Text("linux".to_owned()));
        assert_eq!(key(Queue::new("pi")), "");
        assert_eq!(key(linux.param("alpha", Value::Float(0.13))), "alpha");
        assert_eq!(key(Queue::new("codel").limit(Limit::Bytes(10))), "limit");
        let red = Queue::new("red").param("gentle", Value::Bool(false));
        assert_eq!(key(red.param("weight", Value::Float(0.003))), "weight");
    }

    #[test]
    fn an_idle_time_of_a_packet_takes_a_weight_off() {
        // 2⁻⁴: after eleven packets the average is halved, since (1 − 1/16)¹¹ = 0.49.
        let (cell_log, shifts) = idle(4, 1000.0);
        let shift = |us: u32| shifts[(us >> cell_log) as usize];
        assert_eq!((shift(10_000), shift(11_500), shift(22_500)), (0, 1, 2));
    }
}
