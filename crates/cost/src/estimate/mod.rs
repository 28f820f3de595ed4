//! What a function costs on a machine: cycles and accesses a packet, the rate, and what limits it.
//!
//! ```text
//! core      = Σ visits · Σ terms · constants                       a formula in frame size and the like
//! memory    = Σ accesses · Σ levels (share answered there) · (latency there) / (accesses under way at once)
//! interval  = [ core + memory all overlapped , core + memory one after the other ] ± what the constants are good for
//! rate      = min(cores · clock / cycles, links, bus, memory)
//! ```
//!
//! A machine of the paper's accounting (`counted_only`) charges memory nothing: cycles and accesses
//! give a rate each, and the lower one is the function's (Baldi and Sapio 2018, §3).

pub mod beside;
mod limits;
mod load;
mod memory;
mod ports;
mod row;

use crate::eo::{Memory, Touch};
use crate::expr::Expr;
use crate::function::{Function, Operation};
use crate::machine::{Factor, Machine};
use crate::residency::Population;
use beside::Beside;

pub use limits::Limit;
pub use load::{Error, Load};
pub use ports::Ports;
pub use row::{Range, Row};

/// The operation that tells how many calls there are a packet.
const CALL: &str = "call";

/// A table that a function looks up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TableUse {
    /// Accesses a packet.
    pub accesses: f64,
    /// Bytes of the whole table.
    pub bytes: f64,
    /// Bytes that the keys that come touch.
    pub hot_bytes: f64,
    /// Accesses under way at once.
    pub in_flight: f64,
}

/// What a function costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// The parts, in the function's order.
    pub rows: Vec<Row>,
    /// Cycles a packet that do not depend on where data are, as a formula.
    pub formula: Expr,
    /// Accesses a packet, as a formula.
    pub accesses_formula: Expr,
    /// Cycles a packet.
    pub cycles: Range,
    /// Accesses a packet.
    pub accesses: f64,
    /// Those that no cache answers.
    pub memory_accesses: f64,
    /// The tables that are accessed.
    pub tables: Vec<TableUse>,
    /// The lines that are used, as the caches see them.
    pub populations: Vec<Population>,
    /// The rates at which something is used up, the lowest first, in packets a second.
    pub limits: Vec<Limit>,
}

/// Cycles and accesses of an operation at one visit, as formulas.
struct Cost {
    cycles: Expr,
    touches: Vec<Touch>,
}

/// The name of the frame's bytes in formulas.
pub const FRAME: &str = "frame";

/// Estimates what `function` costs on `machine` under `load`.
pub fn estimate(function: &Function, machine: &Machine, load: &Load) -> Result<Estimate, Error> {
    estimate_beside(function, machine, load, &Beside::default())
}

/// The same while others use the caches and the memory too.
fn estimate_beside(
    function: &Function,
    machine: &Machine,
    load: &Load,
    beside: &Beside,
) -> Result<Estimate, Error> {
    check(load)?;
    let mut values = load.values.clone();
    values.insert(FRAME.to_owned(), load.frame);
    let mut least_frame = values.clone();
    least_frame.insert(FRAME.to_owned(), Factor::LEAST_FRAME);
    let value = |expr: &Expr, operation: &Operation| {
        expr.value(&values).map_err(|name| Error::Open {
            name,
            operation: operation.to_string(),
        })
    };
    let (mut rows, mut touched) = (Vec::new(), Vec::new());
    let (mut formula, mut accesses_formula) = (Expr::from(0.0), Expr::from(0.0));
    for (at, step) in function.steps.iter().enumerate() {
        // What was learnt of a class is of its code, which was counted.
        let learnt = match step.counted {
            Some(_) => None,
            None => machine.factors.get(&step.class),
        };
        let mut row = Row {
            name: step.name.clone(),
            class: step.class.clone(),
            visits: step.visits,
            core: 0.0,
            memory: Range::default(),
            accesses: 0.0,
            operations: Vec::new(),
        };
        for operation in &step.operations {
            let cost = cost(operation, machine, load)?;
            let (times, visits) = (operation.times.clone(), step.visits);
            let mut cycles = cost.cycles * times.clone();
            if let Some(learnt) = learnt {
                cycles = match cycles.value(&least_frame) {
                    Ok(least) if cycles.names().contains(&FRAME) => learnt.of_longer(cycles, least),
                    _ => cycles * learnt.ratio,
                };
            }
            let asked = cost.touches.iter().filter(|t| t.of != Memory::OtherCore);
            let all: Expr = asked.map(|t| t.accesses.clone()).sum();
            let accesses = all * times.clone();
            let times = value(&times, operation)?;
            let (one, some) = (value(&cycles, operation)?, value(&accesses, operation)?);
            row.accesses += some * visits;
            row.operations.push((operation.to_string(), one, some));
            if step.counted.is_none() || is_handing_over(operation) {
                row.core += one * visits;
                formula = formula + cycles * visits;
            }
            accesses_formula = accesses_formula + accesses * visits;
            for touch in &cost.touches {
                let each = value(&touch.accesses, operation)?;
                let size = memory::size(touch, &|expr| value(expr, operation))?;
                touched.push(memory::Touched {
                    row: at,
                    rate: each * times * visits,
                    charged: memory::charged(each, touch) * times * visits,
                    size,
                    is_passed_on: touch.of == Memory::OtherCore,
                    in_flight: operation.in_flight,
                });
            }
        }
        let calls = step.operations.iter().find(|one| one.eo.about.name == CALL);
        let calls = calls.and_then(|one| one.args.first()?.number());
        if let (Some(learnt), Some(calls)) = (learnt, calls) {
            let beside = learnt.beside(calls) * step.visits;
            row.core += beside;
            formula = formula + beside;
        }
        rows.push(row);
    }
    let populations = memory::populations(&touched, load);
    let memory_accesses = memory::charge(&touched, &populations, machine, beside, &mut rows);
    let mut counted = 0.0;
    for (row, step) in rows.iter_mut().zip(&function.steps) {
        if let Some(cycles) = step.counted {
            let cycles = cycles * step.visits;
            row.memory = Range::default();
            row.core += cycles;
            formula = formula + cycles;
            counted += cycles;
        }
    }
    let sum = |of: &dyn Fn(&Row) -> f64| rows.iter().map(of).sum::<f64>();
    let core = sum(&|row| row.core);
    // What was counted does not depend on the machine's constants.
    let waited = Range {
        low: sum(&|row| row.memory.low),
        centre: sum(&|row| row.memory.centre),
        high: sum(&|row| row.memory.high),
    };
    let cycles = Range::of(core, counted, waited, machine);
    let accesses = sum(&|row| row.accesses);
    let limits = limits::limits(cycles.centre, memory_accesses, machine, load);
    let tables = touched.iter().filter_map(|touched| {
        let memory::Size { bytes, entry, .. } = touched.size?;
        // A key touches its entry's line at least.
        let hot = load.flows * entry.max(crate::eo::LINE);
        Some(TableUse {
            accesses: touched.rate,
            bytes,
            hot_bytes: bytes.min(hot),
            in_flight: touched.in_flight,
        })
    });
    Ok(Estimate {
        tables: tables.filter(|table| table.accesses > 0.0).collect(),
        populations,
        rows,
        formula,
        accesses_formula,
        cycles,
        accesses,
        memory_accesses,
        limits,
    })
}

impl Estimate {
    /// Packets a second, and what limits them.
    pub fn rate(&self) -> &Limit {
        &self.limits[0]
    }

    /// Packets a second that the processor alone would do.
    pub fn cpu_pps(&self) -> f64 {
        let cpu = self.limits.iter().find(|limit| limit.what == limits::CPU);
        cpu.map_or(0.0, |limit| limit.pps)
    }
}

/// Bits a second of frames with preamble and gap, at a rate of packets.
pub fn line_bits(pps: f64, frame: f64) -> f64 {
    pps * (frame + limits::GAP) * 8.0
}

/// Whether it is what the router does around an element, which is not the element's code.
fn is_handing_over(operation: &Operation) -> bool {
    operation.eo.about.name == "call"
}

fn cost(operation: &Operation, machine: &Machine, load: &Load) -> Result<Cost, Error> {
    let eo = operation.eo;
    let constants = machine.constants_of(eo)?;
    let of = |args: &[Expr]| {
        let terms = (eo.terms)(args).into_iter().zip(&constants);
        let cycles: Expr = terms.map(|(term, constant)| term * *constant).sum();
        if machine.whole_cycles {
            cycles.ceil()
        } else {
            cycles
        }
    };
    let fetches = machine.accesses_of(eo);
    let mut cycles = of(&operation.args);
    let mut touches: Vec<Touch> = (eo.touches)(&operation.args)
        .into_iter()
        .map(|touch| Touch {
            accesses: touch.accesses * fetches,
            ..touch
        })
        .collect();
    // A packet of the other socket is read from memory, all of it (Baldi and Sapio 2018, §4.2).
    if load.remote > 0.0 && eo.about.name == "io_mem" {
        let whole = operation.args[0].clone() + operation.args[1].clone();
        let remote = of(&[whole.clone(), 0.0.into()]);
        cycles = cycles * (1.0 - load.remote) + remote * load.remote;
        touches.push(Touch {
            accesses: whole.pieces(crate::eo::LINE) * load.remote,
            of: crate::eo::Memory::Packet,
        });
    }
    Ok(Cost { cycles, touches })
}

fn check(load: &Load) -> Result<(), Error> {
    let refuse = |text: String| Err(Error::Load(text));
    if !(load.frame >= 64.0 && load.frame <= 65_535.0) {
        return refuse(format!(
            "a frame of {} bytes; a frame has 64 to 65535, its FCS included",
            load.frame
        ));
    }
    if load.flows.is_nan() || load.flows < 1.0 {
        return refuse(format!("{} flows; there is at least one", load.flows));
    }
    if !(0.0..=1.0).contains(&load.remote) {
        return refuse(format!(
            "a share of {} of remote packets; it is 0 to 1",
            load.remote
        ));
    }
    if load.cores.is_nan() || load.cores < 1.0 {
        return refuse(format!("{} cores; there is at least one", load.cores));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function;
    use crate::machines;

    fn function(list: &[&str]) -> Function {
        let list: Vec<String> = list.iter().map(|o| format!("{o:?}")).collect();
        let text = format!(
            "[[function]]\nname = \"f\"\noperations = [{}]",
            list.join(", ")
        );
        function::read(&text, "").expect("it is right").remove(0)
    }

    fn on(name: &str, list: &[&str], load: &Load) -> Estimate {
        let machine = machines::find(name).expect("the machine is built in");
        estimate(&function(list), &machine, load).expect("every operation has a cost")
    }

    const BASIC: &[&str] = &[
        "io_mem(30, frame - 30)",
        "parse(6)",
        "ht_lookup(2, 12, 2M, 0)",
        "deparse(6)",
        "mem_io(30, frame - 30)",
    ];

    #[test]
    fn a_sum_of_operations_is_the_papers() {
        let found = on("xeon-e5-2690v2", BASIC, &Load::default());
        assert_eq!((found.cycles.centre, found.accesses), (213.0, 1.0));
        assert_eq!(found.formula.to_string(), "213");
        assert_eq!(found.rate().what, "cpu");
        assert!((found.rate().pps / 17.307e6 - 1.0).abs() < 1e-4);
    }

    #[test]
    fn costs_that_grow_with_the_frame_are_formulas() {
        let found = on(
            "xeon-e5-2690v2",
            &["checksum(frame - 10)"],
            &Load::default(),
        );
        assert_eq!(found.formula.to_string(), "7·⌈(frame − 10)/2⌉ + 8");
        assert_eq!(found.accesses_formula.to_string(), "⌈(frame − 10)/64⌉");
        assert_eq!((found.cycles.centre, found.accesses), (197.0, 1.0));
    }

    #[test]
    fn packets_of_the_other_socket_are_read_whole() {
        let half = Load {
            remote: 0.5,
            frame: 128.0,
            ..Load::default()
        };
        let found = on("xeon-e5-2690v2", &["io_mem(30, frame - 30)"], &half);
        // Half of 30 + 5, half of 30 + 5·2 and two accesses.
        assert_eq!((found.cycles.centre, found.accesses), (37.5, 1.0));
    }

    #[test]
    fn what_stands_for_nothing_is_named() {
        let machine = machines::find("xeon-e5-2690v2").expect("the machine is built in");
        let said = estimate(&function(&["parse(tag)"]), &machine, &Load::default());
        assert_eq!(
            said.unwrap_err().to_string(),
            "`tag` in parse(tag) has no value; give it as --what-if \"tag=…\""
        );
    }

    #[test]
    fn a_class_s_calls_count_more_where_batches_are_small_and_not_in_whole_ones() {
        let mut machine = machines::find("xeon-e5-2690v2").expect("the machine is built in");
        let free = [("packet".to_owned(), 0.0), ("call".to_owned(), 64.0)];
        machine.constants.insert("call".to_owned(), free.into());
        machine.whole_cycles = false;
        let factor = crate::machine::Factor {
            ratio: 0.5,
            grown: 1.0,
            spread: 0.1,
            call: 100.0,
        };
        let at = |packets: f64, is_known: bool| {
            let mut machine = machine.clone();
            if is_known {
                machine.factors.insert("C".to_owned(), factor);
            }
            let mut one = function(&["parse(6)"]);
            one.steps[0].class = "C".to_owned();
            let call = Operation::new("call", &[Expr::from(1.0 / packets)]);
            one.steps[0].operations = vec![call];
            let found =
                estimate(&one, &machine, &Load::default()).expect("every operation has a cost");
            found.cycles.centre
        };
        assert_eq!((at(32.0, false), at(32.0, true)), (2.0, 1.0));
        assert!((at(1.0, true) - (32.0 + 100.0 * 31.0 / 32.0)).abs() < 1e-9);
    }

    #[test]
    fn a_class_s_ratio_is_of_the_least_frame_and_what_longer_frames_add_has_its_own() {
        let mut machine = machines::find("xeon-e5-2690v2").expect("the machine is built in");
        machine.whole_cycles = false;
        let factor = crate::machine::Factor {
            ratio: 3.0,
            grown: 0.5,
            spread: 0.1,
            call: 0.0,
        };
        let of = |factor: Option<crate::machine::Factor>, frame: f64| {
            let mut machine = machine.clone();
            machine
                .factors
                .extend(factor.map(|one| ("C".to_owned(), one)));
            let mut one = function(&["checksum(frame - 34)", "parse(6)"]);
            one.steps[0].class = "C".to_owned();
            let load = Load {
                frame,
                ..Load::default()
            };
            let found = estimate(&one, &machine, &load).expect("every operation has a cost");
            assert_eq!(
                found.formula.value(&[(FRAME.to_owned(), frame)].into()),
                Ok(found.cycles.centre)
            );
            found.cycles.centre
        };
        let (small, large) = (of(None, 64.0), of(None, 1518.0));
        assert_eq!(of(Some(factor), 64.0), 3.0 * small);
        let long = of(Some(factor), 1518.0);
        assert!(
            (long - (3.0 * small + 0.5 * (large - small))).abs() < 1e-9,
            "{long}"
        );
    }

    #[test]
    fn counted_cycles_stand_for_operations_and_what_they_wait_for() {
        let machine = machines::find("xeon-e5-2690v2").expect("the machine is built in");
        let mut machine = machine;
        machine.memory.is_counted_only = false;
        machine.spread = 0.1;
        let call = [("call".to_owned(), 20.0), ("packet".to_owned(), 0.0)];
        machine
            .constants
            .insert("call".to_owned(), call.into_iter().collect());
        let mut part = function(&["call(0.5)", "parse(6)", "ht_lookup(2, 12, 2M, 0)"]);
        part.steps[0].visits = 0.25;
        part.steps[0].counted = Some(100.0);
        let found =
            estimate(&part, &machine, &Load::default()).expect("every operation has a cost");
        // A quarter of 100 counted cycles, and of half a call of 20, of which a tenth is unsure.
        let Range { low, centre, high } = found.cycles;
        assert_eq!((low, centre, high), (27.25, 27.5, 27.75));
        assert_eq!(found.accesses, 0.25);
    }

    #[test]
    fn the_interval_has_the_overlapped_end_below_and_the_dependent_end_above() {
        let mut machine = machines::find("xeon-e5-2690v2").expect("the machine is built in");
        machine.memory.is_counted_only = false;
        machine.memory.latency_ns = 100.0;
        machine.memory.parallel = 10.0;
        let found = estimate(&function(BASIC), &machine, &Load::default())
            .expect("every operation has a cost");
        let Range { low, centre, high } = found.cycles;
        assert!(
            213.0 < low && low < centre && centre <= high,
            "{low} {centre} {high}"
        );
        // 24 MiB just fit into a last level of 25 MiB, whose latency is 31 cycles.
        assert!(high < 213.0 + 31.0, "{high}");
        assert_eq!(found.memory_accesses, 0.0);
    }
}
