//! The model as a device: what it does with loads, resets, mixes and tables.

use super::*;
use trammel_bench::testbed::{Directions, Reset, Tags};
use trammel_bench::trial::Load;
use trammel_core::Span;

fn bed(text: &str) -> NetFpga {
    NetFpga::parse(text, &Arc::default()).unwrap()
}

fn traffic(sizes: &str) -> Traffic {
    Traffic::of(sizes.parse().unwrap())
}

fn load(bed: &NetFpga, traffic: &Traffic, share: f64, duration: Span) -> Load {
    Load::of_line(share, bed.line_fps(traffic), duration).unwrap()
}

#[test]
fn a_minute_is_forecast_at_what_is_simulated_of_it() {
    let (bed, traffic) = (bed("reference-1g"), traffic("64"));
    let minute = load(&bed, &traffic, 1.0, Span::from_secs(60));
    let takes = bed.takes(&traffic, &Plan::of(&[minute]));
    assert!(
        takes.is_some_and(|time| time < Span::from_ms(100)),
        "{takes:?}"
    );
    let millisecond = load(&bed, &traffic, 1.0, Span::from_ms(1));
    let takes = bed.takes(&traffic, &Plan::of(&[millisecond]));
    assert!(
        takes.is_some_and(|time| time < Span::from_ms(1)),
        "{takes:?}"
    );
}

#[test]
fn designs_are_named_with_what_is_changed_of_them() {
    let changed = bed("reference-1g:loaded=4,ideal_memory=1");
    assert_eq!((changed.loaded, changed.params().ideal_memory), (4, 1));
    assert_eq!(changed.label().key(), "modelled");
    for (text, said) in [
        ("refrence-1g", "no design"),
        ("reference-1g:loaded", "KEY=VALUE"),
        ("reference-1g:loaded=5", "1 to 4"),
        ("reference-1g:path=wood", "`hardware` or `software`"),
        ("reference-1g:tx_cycle=1", "did you mean `tx_cycles`?"),
        ("reference-1g:tx_cycles=x", "no whole number"),
    ] {
        let error = NetFpga::parse(text, &Arc::default())
            .unwrap_err()
            .to_string();
        assert!(error.contains(said), "{text}: {error}");
    }
}

#[test]
fn a_minute_at_the_lines_rate_shows_the_extra_gap_and_an_ideal_design_none() {
    let minute = Span::from_secs(60);
    for (name, least, most) in [("reference-1g", 0.98, 0.99), ("ideal-memory-1g", 1.0, 1.0)] {
        let mut bed = bed(name);
        let traffic = traffic("64");
        let plan = Plan::of(&[load(&bed, &traffic, 1.0, minute)]);
        let observed = bed.offer(&traffic, &plan).unwrap();
        let passed = 1.0 - observed.outcome.loss_ratio();
        assert!((least..=most).contains(&passed), "{name}: {passed}");
        assert!(!plan.falls_short(&observed.outcome, 0.001, 1));
    }
}

#[test]
fn latency_counts_from_the_last_bit_and_tagged_frames_are_told_by_themselves() {
    let mut bed = bed("reference-1g");
    for (size, lone_ns) in [("64", 704), ("1518", 3_648)] {
        let traffic = traffic(size);
        let second = Span::from_secs(1);
        let plan = Plan {
            tags: Some(Tags {
                from: Time::ZERO + second / 2,
                frames: 5,
            }),
            ..Plan::of(&[load(&bed, &traffic, 0.1, second)])
        };
        let observed = bed.offer(&traffic, &plan).unwrap();
        assert_eq!(observed.tagged.len(), 5);
        let latency = observed.outcome.latency.unwrap();
        for found in observed.tagged {
            // Arbiter and reader stand anywhere when a frame of a stream comes: seven cycles.
            assert!(found.as_ns().abs_diff(lone_ns) <= 56, "{size}: {found}");
            assert!(found.as_ps() <= latency.max().unwrap());
        }
    }
}

#[test]
fn a_restart_loses_what_comes_for_880_ms() {
    let mut bed = bed("reference-1g");
    let traffic = traffic("64");
    let plan = Plan {
        reset: Some(Reset {
            kind: bed.resets().remove(0),
            at: Time::from_secs(1),
        }),
        ..Plan::of(&[load(&bed, &traffic, 0.5, Span::from_secs(3))])
    };
    let observed = bed.offer(&traffic, &plan).unwrap();
    let outage = observed.outage.unwrap();
    let length = outage.to.saturating_since(outage.from).as_secs_f64();
    assert!((length - 0.88).abs() < 1e-5, "{length}");
    let lost = observed.outcome.lost() as f64;
    let by_loss = lost / observed.outcome.offered_rate();
    assert!((by_loss - 0.88).abs() < 1e-5, "{by_loss}");
    assert_eq!(outage.lost as f64, lost);
}

#[test]
fn the_papers_burst_comes_out_of_the_software_within_a_frame_and_partly_later() {
    let mut bed = bed("reference-1g:path=software");
    let traffic = traffic("109");
    let line = bed.line_fps(&traffic);
    let plan = Plan::of(&[Load::new(line, Span::from_secs_f64(786.0 / line)).unwrap()]);
    let observed = bed.offer(&traffic, &plan).unwrap();
    assert_eq!(observed.outcome.offered * 109, 85_674);
    assert!((observed.outcome.forwarded * 109).abs_diff(82_464) <= 109);
    let after = observed.came_after.unwrap();
    assert!(after > observed.outcome.forwarded / 2 && after < observed.outcome.forwarded);
}

#[test]
fn mixes_both_ways_and_several_flows_are_offered_and_what_it_does_not_know_is_refused() {
    let mut bed = bed("reference-1g");
    let mixed = Traffic {
        directions: Directions::Both,
        ..traffic("imix")
    };
    let plan = Plan::of(&[load(&bed, &mixed, 0.4, Span::from_ms(100))]);
    let observed = bed.offer(&mixed, &plan).unwrap();
    assert_eq!(observed.outcome.lost(), 0);
    assert!(!plan.falls_short(&observed.outcome, 0.001, bed.sources(&mixed)));
    let plain = traffic("512");
    let full = Load::new(Params::REFERENCE_1G.line_fps(512), Span::from_secs(1)).unwrap();
    // Two ports into one: half is lost.
    let flows = [(0, 2), (1, 2), (3, 0)].map(|(from, to)| PortFlow::new(from, to, &plain, full));
    let each = bed.offer_together(&flows).unwrap();
    let both = each[0].outcome.forwarded + each[1].outcome.forwarded;
    let share = both as f64 / (2 * each[0].outcome.offered) as f64;
    assert!((0.49..0.51).contains(&share), "{share}");
    assert!(each[2].outcome.loss_ratio() < 0.01);
    let unknown = Traffic {
        networks: 256,
        ..plain
    };
    assert!(bed.offer(&unknown, &plan).unwrap_err().is::<Unable>());
}

#[test]
fn with_contents_well_behaved_frames_come_to_the_same() {
    for (text, size, share, directions, burst) in [
        ("reference-1g", "64", 0.9, Directions::OneWay, 1),
        ("reference-1g", "64", 1.0, Directions::OneWay, 1),
        ("reference-1g", "512", 1.0, Directions::Both, 1),
        ("reference-1g", "1518", 0.5, Directions::Both, 16),
        (
            "reference-1g:queue_words=2000",
            "256",
            1.0,
            Directions::Both,
            64,
        ),
    ] {
        let separator = if text.contains(':') { ',' } else { ':' };
        let mut without = bed(text);
        let mut with = bed(&format!("{text}{separator}tables=rfc2544"));
        let traffic = Traffic {
            directions,
            burst,
            ..traffic(size)
        };
        let of = load(&without, &traffic, share, Span::from_ms(20));
        let plan = Plan {
            tags: (directions == Directions::OneWay).then_some(Tags {
                from: Time::from_ms(10),
                frames: 5,
            }),
            ..Plan::of(&[of])
        };
        let (a, b) = (
            without.offer(&traffic, &plan).unwrap(),
            with.offer(&traffic, &plan).unwrap(),
        );
        assert_eq!(
            (
                a.outcome.offered,
                a.outcome.forwarded,
                a.last_lost,
                a.came_after
            ),
            (
                b.outcome.offered,
                b.outcome.forwarded,
                b.last_lost,
                b.came_after
            ),
            "{text} {size} {share}"
        );
        assert_eq!(a.tagged, b.tagged, "{text} {size} {share}");
        let [a, b] = [&a, &b].map(|seen| {
            let latency = seen.outcome.latency.as_ref().unwrap();
            let quantiles = [0.0, 0.1, 0.5, 0.9, 0.99, 1.0];
            (
                latency.max(),
                quantiles.map(|quantile| latency.quantile_time(quantile)),
            )
        });
        assert_eq!(a, b, "{text} {size} {share}");
    }
}

/// A file of tables, in a folder that is gone with it.
fn tables(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tables");
    std::fs::write(&file, text).unwrap();
    let name = file.display().to_string();
    (folder, name)
}

#[test]
fn frames_that_the_tables_send_to_the_host_are_there_and_nowhere_else() {
    let all = traffic("128");
    // Every second network has a route: the others' frames go to the host.
    let half = Traffic {
        networks: 2,
        ..all.clone()
    };
    let (_folder, file) =
        tables("route 0 198.19.0.0/24 via 198.19.1.2 port 1\narp 0 198.19.1.2 2:0:0:0:0:1\n");
    for (path, came) in [("hardware", 0.5), ("software", 0.5)] {
        let mut bed = bed(&format!("reference-1g:tables={file},path={path}"));
        let plan = Plan::of(&[Load::new(1000.0, Span::from_secs(1)).unwrap()]);
        let seen = bed.offer(&half, &plan).unwrap();
        let share = seen.outcome.forwarded as f64 / seen.outcome.offered as f64;
        assert!((share - came).abs() < 1e-9, "{path}: {share}");
        assert_eq!(seen.outcome.latency.is_some(), path == "hardware");
    }
    let plan = Plan::of(&[Load::new(1000.0, Span::from_ms(100)).unwrap()]);
    for (text, says) in [
        ("tables=rfc2544,ttl=1", "num_bad_ttls 100"),
        (&*format!("tables={file}"), "lpm_num_misses 100"),
    ] {
        let mut to_port = bed(&format!("reference-1g:{text}"));
        let why = to_port.offer(&all, &plan).unwrap_err().to_string();
        assert!(why.contains(says), "{text}: {why}");
        let mut to_host = bed(&format!("reference-1g:{text},path=software"));
        let seen = to_host.offer(&all, &plan).unwrap();
        assert_eq!(seen.outcome.lost(), 0, "{text}");
    }
}

#[test]
fn tables_are_read_or_refused_with_their_lines() {
    let (_folder, file) = tables("route 0 198.19.0.0/16 port 9\n");
    for (text, said) in [
        (
            &*format!("reference-1g:tables={file}"),
            ":1: `9` is no port",
        ),
        ("reference-1g:tables=/nowhere/x", "/nowhere/x: No such file"),
        ("reference-1g:ttl=1", "add `tables=rfc2544`"),
        ("reference-1g:tables=rfc2544,ttl=256", "`ttl` is 0 to 255"),
    ] {
        let error = NetFpga::parse(text, &Arc::default()).unwrap_err();
        assert!(error.to_string().contains(said), "{text}: {error:#}");
    }
    let mut four = bed("reference-1g:tables=rfc2544,loaded=4");
    let plan = Plan::of(&[Load::new(1000.0, Span::from_ms(1)).unwrap()]);
    assert!(
        four.offer(&traffic("64"), &plan)
            .unwrap_err()
            .is::<Unable>()
    );
}

#[test]
fn a_restart_of_a_card_with_contents_takes_as_long() {
    let mut bed = bed("reference-1g:tables=rfc2544");
    let traffic = traffic("512");
    let plan = Plan {
        reset: Some(Reset {
            kind: bed.resets().remove(0),
            at: Time::from_ms(100),
        }),
        ..Plan::of(&[load(&bed, &traffic, 0.2, Span::from_secs(1))])
    };
    let outage = bed.offer(&traffic, &plan).unwrap().outage.unwrap();
    let length = outage.to.saturating_since(outage.from).as_secs_f64();
    assert!((length - 0.88).abs() < 1e-4, "{length}");
}
