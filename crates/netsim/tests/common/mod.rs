//! Random networks from a seed: every queue discipline, loss model, variant and stack may occur.

use trammel_core::entry::{Params, Value};
use trammel_core::rng::Rng;
use trammel_core::schedule::{DeliverySchedule, RateSchedule};
use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_netsim::flow::{FlowSpec, Reader};
use trammel_netsim::ids::LinkId;
use trammel_netsim::link::{LinkSpec, Queue};
use trammel_netsim::network::Network;
use trammel_netsim::stream::{StreamSpec, sized};
use trammel_netsim::trace::Pace;
use trammel_netsim::wifi::WifiSpec;
use trammel_netsim::workload::{Plan, Template, WorkloadSpec, poisson};
use trammel_queues::{aqm, loss};
use trammel_stats::arrivals::{Renewal, Spans};
use trammel_stats::dist;
use trammel_tcp::cc;
use trammel_tcp::stack::{AckPolicy, EcnMode, Stack};

/// A network and what must hold of it.
#[derive(Debug)]
pub(crate) struct Case {
    /// The network, ready to run.
    pub(crate) net: Network,
    /// Most bytes a second of each link; none where it has no limit.
    pub(crate) capacity: Vec<Option<(f64, u64)>>,
    /// Bytes of each flow; none without end.
    pub(crate) bytes: Vec<Option<u64>>,
    /// Number of workloads.
    pub(crate) workloads: usize,
    /// When flows without end stop.
    pub(crate) stop: Time,
    /// When everything must be over.
    pub(crate) end: Time,
    /// What it is, for a person.
    pub(crate) story: String,
}

fn log_uniform(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low * (high / low).powf(rng.unit())
}

fn pick<'a, T>(rng: &mut Rng, from: &'a [T]) -> &'a T {
    &from[rng.below(from.len() as u64) as usize]
}

/// A distribution with some parameters given.
pub(crate) fn law(name: &str, given: &[(&str, f64)]) -> Box<dyn dist::Distribution> {
    let entry = dist::find(name).expect("the distribution is built in");
    let given: Vec<_> = given
        .iter()
        .map(|(key, value)| ((*key).to_owned(), Value::Float(*value)))
        .collect();
    (entry.build)(
        &Params::resolve(&entry.about, &given).expect("the parameters are within their ranges"),
    )
    .expect("possible")
}

fn loss_model(rng: &mut Rng) -> Box<dyn loss::LossModel> {
    let p = log_uniform(rng, 1e-4, 0.03);
    let (name, given) = match rng.below(3) {
        0 => (
            "bernoulli",
            vec![("probability".to_owned(), Value::Float(p))],
        ),
        1 => (
            "gilbert-elliott",
            vec![
                ("p".to_owned(), Value::Float(p / 3.0)),
                ("r".to_owned(), Value::Float(0.5)),
            ],
        ),
        _ => (
            "periodic",
            vec![("every".to_owned(), Value::Int((1.0 / p) as i64))],
        ),
    };
    let entry = loss::find(name).expect("the loss model is built in");
    (entry.build)(
        &Params::resolve(&entry.about, &given).expect("the parameters are within their ranges"),
    )
    .expect("possible")
}

fn queue(rng: &mut Rng, rate: Rate, limit: u32, story: &mut String) -> Queue {
    if rng.chance(0.4) {
        // Room for the largest packet, or a flow of such packets would never get through.
        let bytes = if rng.chance(0.3) {
            (u64::from(limit) * 1514).max(9100)
        } else {
            u64::MAX
        };
        *story += &format!(" fifo {limit}");
        return Queue::DropTail {
            packets: limit,
            bytes,
        };
    }
    let entry = pick(rng, aqm::ALL);
    let facts = aqm::LinkFacts {
        rate_bps: rate.as_bps(),
        mtu: 1500,
        limit_packets: limit,
        limit_bytes: u64::MAX,
        overhead: 14,
    };
    let marks = rng.chance(0.5);
    let given: Vec<_> = entry
        .about
        .params
        .iter()
        .filter(|param| param.name == "ecn")
        .map(|param| (param.name.to_owned(), Value::Bool(marks)))
        .collect();
    *story += &format!(" {} {limit}", entry.about.name);
    let params =
        Params::resolve(&entry.about, &given).expect("the parameters are within their ranges");
    Queue::Discipline((entry.build)(&params, &facts).expect("defaults are possible"))
}

/// One link, its capacity in bytes a second and the bytes that may leave at once.
fn link(
    rng: &mut Rng,
    name: &str,
    rate: Rate,
    always: bool,
    story: &mut String,
) -> (LinkSpec, Option<(f64, u64)>) {
    let mut spec = LinkSpec::wire(name, Span::from_secs_f64(log_uniform(rng, 1e-5, 0.1)));
    spec.seed = rng.below(1 << 32);
    if spec.seed.is_multiple_of(2) {
        spec.departure_jitter = Span::from_us(1);
    }
    *story += &format!("\n  {name}: {} {}", rate, spec.delay);
    let mut capacity = None;
    if always || !rng.chance(0.2) {
        spec.rate = Some(rate);
        capacity = Some((rate.as_bps() as f64 / 8.0, 0));
        let limit = log_uniform(rng, 4.0, 300.0) as u32;
        spec.queue = queue(rng, rate, limit, story);
        match rng.below(10) {
            0 | 1 => {
                let burst = 3000 + rng.below(60_000);
                spec.burst_bytes = Some(burst);
                capacity = Some((rate.as_bps() as f64 / 8.0, burst));
                *story += &format!(" burst {burst}");
            }
            2 => {
                let half = Rate::from_bps(rate.as_bps() / 2);
                let steps = vec![(Time::ZERO, rate), (Time::from_ms(300), half)];
                let schedule = RateSchedule::new(steps, Some(Span::from_ms(700)));
                spec.schedule = Some(schedule.expect("in order"));
                *story += " schedule";
            }
            3 => {
                // As many opportunities a second as the rate has packets, at least one in 100 ms.
                let gap_ms = (1500.0 * 8e3 / rate.as_bps() as f64).clamp(0.2, 100.0);
                let lines: Vec<_> = (1..=50)
                    .map(|n| ((f64::from(n) * gap_ms) as u64).to_string())
                    .collect();
                let deliveries = DeliverySchedule::parse(&lines.join("\n")).expect("in order");
                capacity = None;
                spec.deliveries = Some(deliveries);
                *story += " deliveries";
            }
            _ => {}
        }
    }
    if rng.chance(0.3) {
        spec.loss = Some(loss_model(rng));
        *story += " loss";
    }
    if rng.chance(0.2) {
        let jitter = log_uniform(rng, 1e-5, 0.01);
        spec.jitter = Some(Spans::seconds(law("exponential", &[("mean", jitter)])));
        *story += " jitter";
    }
    if rng.chance(0.2) {
        let extra = Span::from_secs_f64(log_uniform(rng, 1e-4, 0.05));
        spec.reorder = Some((log_uniform(rng, 1e-3, 0.1), extra));
        *story += " reorder";
    }
    (spec, capacity)
}

fn stack(rng: &mut Rng, story: &mut String) -> Stack {
    let name = *pick(rng, Stack::PRESETS);
    let mut stack = Stack::preset(name).expect("the preset is built in");
    // Recovery without SACK repairs one loss a round trip: a window of tens of thousands would take
    // hours.
    stack.cwnd_clamp = 2000;
    *story += &format!(" {name}");
    if rng.chance(0.2) {
        stack.sack = false;
        *story += " no-sack";
    }
    if rng.chance(0.2) {
        stack.timestamps = false;
        *story += " no-ts";
    }
    if rng.chance(0.3) {
        stack.ecn = EcnMode::Classic;
        *story += " ecn";
    }
    if rng.chance(0.1) {
        stack.window_scaling = false;
        *story += " no-ws";
    }
    if rng.chance(0.15) {
        let buffer = 8_000 + rng.below(200_000);
        (stack.receive_buffer, stack.max_receive_buffer) = (buffer, 2 * buffer);
        stack.rmem_max = 4 * buffer;
        *story += &format!(" rcvbuf {buffer}");
    }
    if rng.chance(0.1) {
        stack.mss = *pick(rng, &[536, 1220, 8960]);
        *story += &format!(" mss {}", stack.mss);
    }
    if rng.chance(0.1) {
        stack.ack_policy = AckPolicy::EverySegment;
    }
    if rng.chance(0.1) {
        stack.nagle = true;
    }
    stack
}

/// The network of `seed`.
pub(crate) fn case(seed: u64) -> Case {
    let mut rng = Rng::new(seed, "conservation");
    let rng = &mut rng;
    let mut net = Network::new();
    let mut story = format!("seed {seed}");
    let mut capacity = Vec::new();
    let rate = Rate::from_bps(log_uniform(rng, 2e5, 1e8) as u64);
    let forward = 1 + rng.below(3) as usize;
    let backward = 1 + rng.below(2) as usize;
    for at in 0..forward + backward {
        let way = if at < forward { "forward" } else { "backward" };
        let scale = if at < forward {
            1.0
        } else {
            log_uniform(rng, 0.1, 10.0)
        };
        let own = Rate::from_bps((rate.as_bps() as f64 * scale * (1.0 + rng.unit())) as u64);
        // Every route leads over the last link forward, whose rate bounds the events of a run.
        let always = at == forward - 1;
        let (spec, most) = link(rng, &format!("{way}{at}"), own, always, &mut story);
        net.add_link(spec);
        capacity.push(most);
    }
    let mut routes = [
        (0..forward).map(LinkId::new).collect::<Vec<_>>(),
        (forward..forward + backward).map(LinkId::new).collect(),
    ];
    if rng.chance(0.2) {
        let mut spec = WifiSpec::ieee80211g("wifi", -60.0 - 28.0 * rng.unit());
        spec.contenders = u32::from(rng.chance(0.1));
        spec.seed = seed;
        story += &format!(
            "\n  wifi {:.1} dBm, {} others",
            spec.received_dbm[0], spec.contenders
        );
        let limit = log_uniform(rng, 4.0, 300.0) as u32;
        spec.queues[0] = queue(rng, Rate::from_bps(20_000_000), limit, &mut story);
        let (down, up) = net.add_wifi(spec);
        routes[0].push(down);
        routes[1].insert(0, up);
        capacity.extend([None, None]);
    }
    let [there, back] = routes;
    // About three thousand packets at the slowest link.
    let seconds = (3000.0 * 12_000.0 / rate.as_bps() as f64).clamp(0.5, 20.0);
    let stop = Time::from_secs_f64(seconds);
    let mut workloads = 0;
    let mut bytes = Vec::new();
    for index in 0..=rng.below(4) {
        let entry = pick(rng, cc::ALL);
        story += &format!("\n  flow {index}: {}", entry.about.name);
        let finite = rng.chance(0.5);
        let size = finite.then(|| log_uniform(rng, 1.0, 3e5) as u64);
        bytes.push(size);
        story += &format!(" {size:?}");
        let (client, server) = (stack(rng, &mut story), stack(rng, &mut story));
        let first = rng.below(forward as u64) as usize;
        net.add_flow(FlowSpec {
            name: format!("flow{index}"),
            client,
            server,
            cc: Box::new(|| (entry.build)(&Params::defaults(&entry.about))),
            start: Time::from_secs_f64(rng.unit() * seconds / 2.0),
            stop: if finite { Time::MAX } else { stop },
            bytes: size,
            forward: there[first..].to_vec(),
            backward: back.clone(),
            reader: rng
                .chance(0.1)
                .then(|| Reader::every(Span::from_ms(5), Span::from_us(100))),
            overhead_bytes: 14,
            pace: *pick(
                rng,
                &[Pace::Off, Pace::EveryAck, Pace::Interval(Span::from_ms(50))],
            ),
            seed,
        });
    }
    let streams = rng.below(3) as usize;
    for index in 0..streams {
        let per_second = rate.as_bps() as f64 / 8.0 * 0.1 / 500.0;
        let gaps = Spans::at_rate(law("exponential", &[]), per_second).expect("a rate");
        net.add_stream(StreamSpec {
            name: format!("stream{index}"),
            plan: sized(
                Renewal::new(Time::ZERO, gaps, Rng::new(seed, "plan")),
                law("uniform", &[("min", 1.0), ("max", 1000.0)]),
                Rng::new(seed, &format!("stream:stream{index}:size")),
                1472,
                42,
            ),
            stop,
            route: there.clone(),
            keeps_arrivals: false,
        });
    }
    if rng.chance(0.3) {
        story += "\n  workload";
        let sizes = law("pareto", &[("shape", 1.5), ("scale", 1000.0)]);
        let plan = poisson(seed, "web", (Time::ZERO, stop), 15.0 / seconds, &*sizes);
        let stack = stack(rng, &mut story);
        net.add_workload(WorkloadSpec {
            name: "web".into(),
            flow: Template {
                client: stack.clone(),
                server: stack,
                cc: Box::new(|| (cc::ALL[0].build)(&Params::defaults(&cc::ALL[0].about))),
                forward: there,
                backward: back,
                overhead_bytes: 14,
            },
            plan: Plan::Arrivals(plan),
            start: Time::ZERO,
            stop,
            seed,
        });
        workloads = 1;
    }
    Case {
        net,
        workloads,
        capacity,
        bytes,
        stop,
        end: stop + Span::from_secs(900),
        story,
    }
}
