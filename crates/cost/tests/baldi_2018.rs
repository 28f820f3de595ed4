//! The totals of Baldi and Sapio 2018, §3, in both profiles, and what follows from them.
//!
//! The numbers are those of an independent computation (expected totals of the reference data) and
//! of the paper.

use trammel_cost::estimate::{self, Estimate, Load, line_bits};
use trammel_cost::function::{self, Function};
use trammel_cost::machines;

const FUNCTIONS: &str = include_str!("../../../papers/baldi-2018/functions.toml");

fn functions(profile: &str) -> Vec<Function> {
    function::read(FUNCTIONS, profile).expect("it is right")
}

fn estimated(profile: &str, load: &Load) -> Vec<Estimate> {
    let machine =
        machines::find(&format!("xeon-e5-2690v2:{profile}")).expect("the machine is built in");
    functions(profile)
        .iter()
        .map(|one| estimate::estimate(one, &machine, load).expect("every operation has a cost"))
        .collect()
}

fn totals(profile: &str, load: &Load) -> Vec<(f64, f64)> {
    let each = |e: &Estimate| (e.cycles.centre, e.accesses);
    estimated(profile, load).iter().map(each).collect()
}

#[test]
fn the_totals_are_exact() {
    let load = Load::default();
    let paper = [
        (213.0, 1.0),
        (352.0, 2.0),
        (224.0, 1.0),
        (717.0, 6.0),
        (274.0, 1.0),
    ];
    assert_eq!(totals("paper-totals", &load), paper);
    let printed = [
        (211.0, 1.0),
        (381.0, 3.0),
        (222.0, 1.0),
        (748.0, 7.0),
        (276.0, 1.0),
    ];
    assert_eq!(totals("printed", &load), printed);
}

#[test]
fn a_load_of_four_cycles_gives_the_rates_of_section_4() {
    let found = totals("section-4", &Load::default());
    assert_eq!((found[0].0, found[2].0), (211.0, 220.0));
}

#[test]
fn the_gateway_of_78_bytes_costs_more_towards_the_core() {
    let load = Load {
        frame: 78.0,
        ..Load::default()
    };
    let found = totals("paper-totals", &load);
    assert_eq!((found[3], found[4]), ((766.0, 7.0), (274.0, 1.0)));
    // Six cores share both directions: the mean of the cycles, not of the rates.
    let mean = f64::midpoint(found[3].0, found[4].0);
    assert!((6.0 * 3686.4 / mean - 42.54).abs() < 0.01);
}

#[test]
fn rates_are_those_of_the_paper_where_its_arithmetic_gives_them() {
    let found = estimated("paper-totals", &Load::default());
    let mpps: Vec<f64> = found.iter().map(|e| e.cpu_pps() / 1e6).collect();
    for (ours, theirs) in mpps.iter().zip([17.307, 10.473, 16.457, 5.141, 13.454]) {
        assert!((ours - theirs).abs() < 0.0006, "{ours} against {theirs}");
    }
    // Its Gbit/s divide by 1024.
    let gbits: Vec<f64> = mpps.iter().map(|m| line_bits(*m, 64.0) / 1024.0).collect();
    for (ours, theirs) in gbits.iter().zip([11.358, 6.873, 10.800, 3.374, 8.829]) {
        assert!((ours - theirs).abs() < 0.001, "{ours} against {theirs}");
    }
    let memory: Vec<f64> = found
        .iter()
        .flat_map(|e| e.limits.iter().filter(|l| l.what == "memory"))
        .map(|l| (l.pps / 1e4).floor() / 100.0)
        .collect();
    assert_eq!(memory[..3], [111.08, 55.54, 111.08]);
}

#[test]
fn costs_towards_the_core_grow_by_seven_cycles_for_two_bytes() {
    let found = &estimated("paper-totals", &Load::default())[3];
    assert_eq!(found.formula.to_string(), "7·⌈(frame − 10)/2⌉ + 528");
    assert_eq!(found.accesses_formula.to_string(), "⌈(frame − 10)/64⌉ + 5");
    for frame in [64.0, 65.0, 256.0, 1518.0] {
        let load = Load {
            frame,
            ..Load::default()
        };
        let (cycles, accesses) = totals("paper-totals", &load)[3];
        let half = ((frame - 10.0) / 2.0_f64).ceil();
        assert_eq!(cycles, 717.0 + 7.0 * (half - 27.0));
        assert_eq!(accesses, 5.0 + ((frame - 10.0) / 64.0_f64).ceil());
    }
}

#[test]
fn links_limit_what_the_processor_does_not() {
    let machine = machines::find("xeon-e5-2690v2").expect("the machine is built in");
    let basic = &functions("paper-totals")[0];
    let ports = estimate::Ports {
        count: 2.0,
        bits_per_s: 10e9,
    };
    let mut load = Load {
        ports,
        ..Load::default()
    };
    let what = |load: &Load| {
        let found = estimate::estimate(basic, &machine, load).expect("every operation has a cost");
        let link = found.limits.iter().find(|limit| limit.what == "link");
        (
            found.rate().what,
            link.map(|limit| (limit.pps / 1e4).round() / 100.0),
        )
    };
    assert_eq!(what(&load), ("cpu", Some(29.76)));
    load.frame = 128.0;
    assert_eq!(what(&load), ("link", Some(16.89)));
}
