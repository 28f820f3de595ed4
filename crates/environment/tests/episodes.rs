//! Episodes: what they follow from, where they end, and what agents may do.

use trammel_core::time::{Span, Time};
use trammel_core::units::Rate;
use trammel_environment::act::Act;
use trammel_environment::environment::{Environment, Error, Every, Plan};
use trammel_environment::feature::Feature;
use trammel_environment::many::{Many, Stepped};
use trammel_scenario::flow::Flow;
use trammel_scenario::model::Scenario;

fn scenario() -> Scenario {
    Scenario::dumbbell()
        .rate(Rate::from_bps(10_000_000))
        .rtt(Span::from_ms(40))
        .flow(Flow::new("reno"))
        .duration(Span::from_secs(3))
}

fn plan(scenario: Scenario) -> Plan {
    Plan {
        points: vec![scenario],
        agents: vec![0],
        observe: Feature::ALL.to_vec(),
        act: Act::CwndFactor,
        every: Every::Time(Span::from_ms(50)),
        reward: vec![(Feature::Throughput, 1.0), (Feature::Loss, -1.0)],
    }
}

/// Everything that an agent sees in the episode of `seed` with one action.
fn played(environment: &mut Environment, seed: Option<u64>, action: f32) -> Vec<f32> {
    environment.reset(seed).unwrap();
    let mut seen = Vec::new();
    while !environment.state().is_over() {
        seen.extend(environment.observation(0));
        seen.push(environment.reward(0) as f32);
        environment.step(&[action]).unwrap();
    }
    seen
}

#[test]
fn an_episode_follows_from_plan_seed_and_actions() {
    let mut environment = Environment::new(plan(scenario()).into()).unwrap();
    let first = played(&mut environment, Some(3), 0.1);
    let next = played(&mut environment, None, 0.1);
    assert_ne!(first, next);
    assert_ne!(first, played(&mut environment, Some(3), 0.2));
    assert_eq!(first, played(&mut environment, Some(3), 0.1));
    assert_eq!(next, played(&mut environment, None, 0.1));
}

#[test]
fn time_passes_in_steps_and_ends_with_the_scenario() {
    let mut environment = Environment::new(plan(scenario()).into()).unwrap();
    environment.reset(Some(1)).unwrap();
    let mut before = environment.now();
    while !environment.state().is_over() {
        environment.step(&[0.0]).unwrap();
        let now = environment.now();
        let is_whole = now - before == Span::from_ms(50);
        assert!(is_whole || now == Time::from_secs(3), "{before} to {now}");
        before = now;
    }
    assert!(environment.state().is_truncated && !environment.state().is_terminated);
    // What is over stays as it is.
    environment.step(&[1.0]).unwrap();
    assert_eq!(environment.now(), before);
}

#[test]
fn at_each_ack_an_agent_decides_once() {
    let plan = Plan {
        every: Every::Ack,
        act: Act::CwndPkts,
        ..plan(scenario())
    };
    let mut environment = Environment::new(plan.into()).unwrap();
    environment.reset(Some(1)).unwrap();
    let mut steps = 0_u32;
    while !environment.state().is_over() {
        environment.step(&[10.0]).unwrap();
        steps += 1;
    }
    // Ten segments a round trip of 41 ms, acknowledged one by one or in pairs, in 2 to 3 s.
    assert!((240..740).contains(&steps), "{steps}");
}

#[test]
fn an_agent_that_loses_all_comes_back_from_its_timeout() {
    let outage = "[path]\nrate = '10 Mbit/s'\nrtt = '40 ms'\nschedule = [\n\
                  { at = '1 s', down = true }, { at = '1.3 s', down = false }]\n\
                  [[flow]]\nvariant = 'reno'\nstart = '0 s'\n";
    let outage = format!("duration = '6 s'\n{outage}");
    let file = trammel_scenario::File::parse("t", &outage, std::path::Path::new(".")).unwrap();
    let plan = Plan {
        act: Act::CwndPkts,
        ..plan(file.points[0].scenario.clone())
    };
    let mut environment = Environment::new(plan.into()).unwrap();
    environment.reset(Some(1)).unwrap();
    while !environment.state().is_over() {
        environment.step(&[30.0]).unwrap();
    }
    let at = |feature| Feature::ALL.iter().position(|one| *one == feature).unwrap();
    let features: Vec<f64> = environment.features(0).collect();
    assert_eq!(features[at(Feature::CwndPkts)], 30.0);
    assert!(features[at(Feature::Throughput)] > 0.5, "{features:?}");
}

#[test]
fn a_variant_that_is_watched_does_what_it_would() {
    let plan = Plan {
        act: Act::Nothing,
        ..plan(scenario())
    };
    let mut environment = Environment::new(plan.into()).unwrap();
    let seen = played(&mut environment, Some(1), 1.0);
    assert_eq!(seen, played(&mut environment, Some(1), -1.0));
    // Reno fills the queue, and loses.
    let at = |feature| Feature::ALL.iter().position(|one| *one == feature).unwrap();
    let each = Feature::ALL.len() + 1;
    let of = |feature| seen.iter().skip(at(feature)).step_by(each).copied();
    assert!(of(Feature::Queueing).fold(0.0, f32::max) > 0.8);
    assert!(of(Feature::Loss).any(|loss| loss > 0.0));
}

#[test]
fn throughput_is_of_the_links_on_the_way() {
    let network = "duration = '4 s'\n\
        [[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[host]]\nname = 'c'\n[[host]]\nname = 'd'\n\
        [[link]]\nfrom = 'a'\nto = 'b'\nrate = '10 Mbit/s'\ndelay = '5 ms'\n\
        [[link]]\nfrom = 'c'\nto = 'd'\nrate = '1 Mbit/s'\ndelay = '5 ms'\n\
        [[link]]\nfrom = 'b'\nto = 'c'\nrate = '20 Mbit/s'\ndelay = '5 ms'\n\
        [[flow]]\nvariant = 'cubic'\nfrom = 'a'\nto = 'b'\nstart = '0 s'\n\
        [[flow]]\nvariant = 'cubic'\nfrom = 'd'\nto = 'c'\nstart = '0 s'\n";
    let read = trammel_scenario::File::parse("t", network, std::path::Path::new("."));
    let plan = Plan {
        agents: vec![0, 1],
        act: Act::Nothing,
        every: Every::Time(Span::from_ms(500)),
        ..plan(read.unwrap().points[0].scenario.clone())
    };
    let mut environment = Environment::new(plan.into()).unwrap();
    environment.reset(Some(1)).unwrap();
    while !environment.state().is_over() {
        environment.step(&[0.0; 2]).unwrap();
    }
    let at = |feature| Feature::ALL.iter().position(|one| *one == feature).unwrap();
    for (agent, rate) in [(0, 10.0), (1, 1.0)] {
        let features: Vec<f64> = environment.features(agent).collect();
        let throughput = features[at(Feature::Throughput)];
        assert!((0.3..1.0).contains(&throughput), "{agent}: {throughput}");
        let delivered = features[at(Feature::DeliveryRateMbps)];
        assert!((delivered / rate / throughput - 1.0).abs() < 1e-9);
    }
}

#[test]
fn many_are_the_same_on_any_number_of_threads() {
    let run = |threads| {
        let mut many = Many::new(plan(scenario()), 4, threads).unwrap();
        many.reset(&[Some(1), Some(2), Some(3), None]).unwrap();
        let (mut all, mut stepped) = (Vec::new(), Stepped::default());
        for _ in 0..90 {
            let begins = many.step(&[0.05; 4]).unwrap();
            many.tell(&begins, &mut stepped);
            all.push((stepped.observations.clone(), stepped.rewards.clone()));
        }
        all
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn a_plan_that_contradicts_itself_is_refused() {
    let refused = |plan: Plan| {
        let error = Environment::new(plan.into()).unwrap_err();
        assert!(matches!(error, Error::Plan(_)));
        error.to_string()
    };
    let with = |agents: &[usize]| Plan {
        agents: agents.to_vec(),
        ..plan(scenario().flow(Flow::new("cubic")))
    };
    assert_eq!(refused(with(&[])), "there is no agent");
    assert_eq!(
        refused(with(&[0, 5])),
        "there is no flow 5; the scenario has 2"
    );
    assert_eq!(refused(with(&[1, 1])), "a flow has two agents");
    let at_each_ack = Plan {
        every: Every::Ack,
        ..with(&[0, 1])
    };
    assert!(refused(at_each_ack).starts_with("at each ACK one agent decides"));
    let mut environment = Environment::new(plan(scenario()).into()).unwrap();
    assert_eq!(
        environment.step(&[0.0]).unwrap_err().to_string(),
        "there is no episode; call `reset` first"
    );
    environment.reset(None).unwrap();
    assert!(environment.step(&[0.0, 0.0]).is_err());
}
