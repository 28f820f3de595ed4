//! Flows whose application writes at a rate, and applications: what each engine makes of them.
#![cfg(target_os = "linux")]

use std::path::Path;
use trammel_scenario::model::{Engine, Scenario};
use trammel_scenario::{File, ReadError};
use trammel_transport::{predict, refusals, simulate};

const PATH: &str = "duration = '20 s'\n[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\n";

fn scenario(traffic: &str) -> Scenario {
    let file = File::parse("t", &format!("{PATH}{traffic}"), Path::new("."));
    file.unwrap().points.remove(0).scenario
}

/// Goodput of the flows, Mbit/s, and how long the first took.
fn simulated(traffic: &str) -> (Vec<f64>, Option<f64>) {
    let run = simulate::simulate(&scenario(traffic), 1, false).unwrap();
    let rows: Vec<_> = run.flows.rows().collect();
    let goodput = |name: &str| rows.iter().filter_map(|row| row.float(name)).collect();
    (goodput("goodput_mbps"), rows[0].float("completion_s"))
}

#[test]
fn a_flow_with_a_rate_sends_that_and_no_more_than_the_path_carries() {
    let flow =
        |rate: &str| format!("[[flow]]\nvariant = 'cubic'\nstart = '0 s'\nrate = '{rate}'\n");
    let (goodput, _) = simulated(&flow("2 Mbit/s"));
    assert!((1.97..2.01).contains(&goodput[0]), "{goodput:?}");
    let (goodput, _) = simulated(&flow("20 kbit/s"));
    assert!((0.019..0.0212).contains(&goodput[0]), "{goodput:?}");
    let (goodput, _) = simulated(&flow("50 Mbit/s"));
    assert!((9.0..9.6).contains(&goodput[0]), "{goodput:?}");
    // Of two, one that leaves room: the other takes it.
    let both = format!("{}[[flow]]\nvariant = 'cubic'\n", flow("2 Mbit/s"));
    let (goodput, _) = simulated(&both);
    assert!((1.9..2.01).contains(&goodput[0]), "{goodput:?}");
    assert!(goodput[1] > 6.5, "{goodput:?}");
}

#[test]
fn bytes_at_a_rate_take_their_time_and_end() {
    // 1 MB at 2 Mbit/s: 4 s, and a half of the round trip, and the handshake.
    let (_, took) =
        simulated("[[flow]]\nvariant = 'reno'\nstart = '0 s'\nrate = '2 Mbit/s'\nbytes = '1 MB'\n");
    let took = took.unwrap();
    assert!((3.98..4.12).contains(&took), "{took}");
    let (goodput, _) =
        simulated("[[flow]]\nvariant = 'reno'\nstart = '0 s'\nrate = '2 Mbit/s'\nstop = '5 s'\n");
    assert!(
        (1.9..2.05).contains(&goodput[0]),
        "over its own time: {goodput:?}"
    );
}

#[test]
fn no_model_speaks_of_a_source_that_may_be_silent() {
    let named =
        "[[flow]]\nvariant = 'reno'\nrate = '1 Mbit/s'\n[predict]\nmodels = ['square-root']\n";
    let all = trammel_tcp::models::all();
    let named = named.replace("square-root", all[0].about.name);
    let (predictions, why) = predict::predict(&scenario(&named));
    assert!(predictions.is_empty());
    assert!(why[0].contains("writes at a rate"), "{why:?}");
}

#[test]
fn an_application_is_refused_by_the_engines_that_cannot_have_it() {
    let app = scenario("[[app]]\nkind = 'video'\n[[flow]]\nvariant = 'reno'\n");
    let refused = refusals::refusals(&app, &[Engine::Measure]);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert_eq!(refused[0].place, "app.0");
    assert!(refused[0].what.contains("`video` cannot be measured"));
    assert!(refused[0].why.contains("what an application sends follows"));
    assert!(predict::predict(&app).0.is_empty());
}

#[test]
fn a_slip_in_an_application_is_told_at_its_key() {
    let refused = |app: &str| {
        let text = format!("{PATH}[[app]]\n{app}\n");
        match File::parse("t", &text, Path::new(".")) {
            Err(ReadError::Faults(problems)) => problems.render(false),
            other => panic!("{app}: {other:?}"),
        }
    };
    let cases = [
        ("kind = 'vidoe'", "did you mean `video`?"),
        ("kind = 'video'\nrule = 'bolla'", "`rule` must be"),
        ("kind = 'video'\nbufer = '20 s'", "did you mean `buffer`?"),
        ("kind = 'video'\nbuffer = '1 s'", "two segments"),
        ("kind = 'voice'\nvariant = 'bbr'", "datagrams carry it"),
        ("kind = 'rpc'\nusers = 0", "`app.users`"),
        ("kind = 'rpc'\nfrom = 'a'", "no meaning on a path"),
        ("kind = 'rpc'\nstart = '30 s'", "after the end of the run"),
        ("name = 'x'", "`app` needs `kind`"),
    ];
    for (app, said) in cases {
        let text = refused(app);
        assert!(text.contains(said), "{app}\n{text}");
    }
}
