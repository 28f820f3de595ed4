//! What random scenarios and users have found: a file that the check passes must run, and one that
//! cannot run must be refused where its fault is.

use std::path::Path;
use trammel::report::figure::Figure;
use trammel::report::{Block, Provenance};
use trammel::scenario::File;
use trammel::scenario::model::Engine;
use trammel::transport::answer::{answer as first_sentence, report};
use trammel::transport::points::{RunOptions, TransportOutcome, Unwatched, run_points};
use trammel_core::label::Label;
use trammel_stats::table::{Cell, Table};

const PATH: &str = "[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n";
const FLOW: &str = "[[flow]]\nvariant = 'reno'\n";

fn run(text: &str) -> TransportOutcome {
    let dir = tempfile::tempdir().unwrap();
    let file =
        File::parse("found.toml", text, dir.path()).unwrap_or_else(|error| panic!("{error}"));
    let options = RunOptions {
        engines: vec![Engine::Predict, Engine::Simulate],
        captures: Some(dir.path().join("pcap")),
        ..RunOptions::default()
    };
    let outcome = run_points(&file, &options, &Unwatched).unwrap();
    assert_eq!(outcome.failures, []);
    outcome
}

/// The answer in the report of `text`.
fn answer(text: &str) -> (String, String) {
    let file = File::parse("found.toml", text, Path::new(".")).unwrap();
    let report = report(&file, &run(text), Provenance::default());
    (report.answer.number, report.answer.sentence)
}

/// The faults of `text`, as they are shown.
fn refused(text: &str) -> String {
    match File::parse("found.toml", text, Path::new(".")) {
        Ok(_) => panic!("not refused:\n{text}"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_seed_and_the_repeats_may_be_swept() {
    let outcome = run(&format!(
        "duration = '1 s'\n{PATH}{FLOW}[sweep]\nseed = [3, 4]\nrepeat = [1, 2]\n"
    ));
    let rows: Vec<_> = outcome
        .flows
        .rows()
        .map(|row| {
            [
                row.float("swept_seed"),
                row.float("swept_repeat"),
                row.float("seed"),
            ]
        })
        .map(|row| row.map(|number| number.unwrap_or_default() as u64))
        .collect();
    let all = [
        [3, 1, 3],
        [3, 2, 3],
        [3, 2, 4],
        [4, 1, 4],
        [4, 2, 4],
        [4, 2, 5],
    ];
    assert_eq!(rows, all);
}

#[test]
fn a_link_may_have_a_name_that_no_file_may() {
    run(&format!(
        "duration = '1 s'\npcap = true\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n\
         [[link]]\nname = 'a/b'\nfrom = 'a'\nto = 'b'\nrate = '1 Mbit/s'\n{FLOW}from = 'a'\n\
         to = 'b'\n"
    ));
}

#[test]
fn the_longest_times_have_sums() {
    let long = "'1000000 s'";
    let outcome = run(&format!(
        "duration = '1 s'\n[[host]]\nname = 'a'\n[[host]]\nname = 'b'\n[[link]]\nfrom = 'a'\n\
         to = 'b'\n\
         rate = '1 Mbit/s'\ndelay = {long}\njitter = {long}\n\
         reorder = {{ probability = 0.5, delay = {long} }}\n\
         {FLOW}from = 'a'\nto = 'b'\nmin_rto = {long}\nreader = {long}\n"
    ));
    assert_eq!(outcome.flows.len(), 1);
    let faults = refused(&format!("duration = '1000001 s'\n{PATH}{FLOW}"));
    assert!(faults.contains("`duration` cannot be"), "{faults}");
}

#[test]
fn a_slow_line_may_have_a_huge_queue_and_a_huge_bucket() {
    for depth in ["", "burst = '1 TB'\n"] {
        run(&format!(
            "duration = '20 s'\n[path]\nrate = '1 bit/s'\nrtt = '1 s'\nmtu = 65535\n{depth}\
             queue = {{ limit = '1 TB' }}\n[[stream]]\nsize = '60 kB'\ngap = '10 ms'\n\
             {FLOW}initial_window = 1000\n"
        ));
    }
}

#[test]
fn an_initial_window_above_its_clamp_runs_with_every_variant() {
    for about in trammel::scenario::registry::Family::Variant
        .catalogue()
        .members()
    {
        run(&format!(
            "duration = '1 s'\n{PATH}[[flow]]\nvariant = '{}'\ninitial_window = 60\n\
             cwnd_clamp = 7\n",
            about.name
        ));
    }
}

#[test]
fn a_route_of_too_many_links_is_refused_before_the_run() {
    let lot = |hops: usize| {
        format!(
            "duration = '1 s'\n{PATH}[topology]\npreset = 'parking-lot'\nhops = {hops}\n\
             {FLOW}from = 'long-source'\nto = 'long-sink'\n"
        )
    };
    run(&lot(6));
    let faults = refused(&lot(7));
    assert!(faults.contains("crosses 9 links"), "{faults}");
    assert!(faults.contains("at most 8"), "{faults}");
}

#[test]
fn laws_that_make_no_load_or_stop_time_are_refused_where_they_stand() {
    let workload = "[[workload]]\nkind = 'poisson'\nload = 0.1\n";
    let faults = refused(&format!(
        "{PATH}{workload}size = {{ distribution = 'pareto', shape = 0.9, scale = 1000 }}\n"
    ));
    assert!(
        faults.contains("sizes without a mean do not define a load"),
        "{faults}"
    );
    assert!(faults.contains("give `arrivals`"), "{faults}");
    for gap in ["'0 s'", "{ distribution = 'constant', value = -1.0 }"] {
        let faults = refused(&format!("{PATH}[[stream]]\ngap = {gap}\n"));
        assert!(faults.contains("never above 0"), "{faults}");
    }
    let faults = refused(&format!(
        "{PATH}[[workload]]\nkind = 'on-off'\non = '0 s'\noff = '0 s'\n"
    ));
    assert!(faults.contains("both without length"), "{faults}");
}

#[test]
fn a_topology_does_not_pass_over_what_its_path_says() {
    let faults = refused(&format!(
        "[path]\nrtt = '20 ms'\nwifi = {{}}\n[topology]\npreset = 'dumbbell'\n\
         {FLOW}from = 'source-1'\nto = 'sink-1'\n"
    ));
    assert!(
        faults.contains("`wifi` has no meaning in a `[topology]`"),
        "{faults}"
    );
    let faults = refused(&format!(
        "{PATH}access = {{ rate = '1 Gbit/s', delay = '6 ms' }}\n[topology]\n\
         preset = 'parking-lot'\n\
         {FLOW}from = 'source-1'\nto = 'sink-1'\n"
    ));
    assert!(faults.contains("alone take 24 ms"), "{faults}");
}

#[test]
fn a_receiver_may_acknowledge_every_fifth_segment() {
    let acks = |every: u32| {
        let outcome = run(&format!(
            "duration = '5 s'\n{PATH}[[flow]]\nvariant = 'reno'\nstack = 'rfc'\nstart = '0 s'\n\
             cwnd_clamp = 12\ndelayed_ack = {every}\n"
        ));
        let sum = |link: &str| {
            let mut rows = outcome.links.rows().filter(|row| row.text("link") == link);
            rows.next().and_then(|row| row.float("sent_pkts")).unwrap()
        };
        (
            sum("bottleneck"),
            sum("bottleneck") / sum("bottleneck:back"),
        )
    };
    for (every, least, most) in [(1, 0.95, 1.05), (2, 1.9, 2.1), (5, 4.5, 5.1)] {
        let (_, ratio) = acks(every);
        assert!((least..=most).contains(&ratio), "{every}: {ratio}");
    }
    // No window is lost here, so every ACK is one of these. RFC 5681 §4.2: fewer ACKs open the
    // window of a sender that counts them more slowly.
    assert!(acks(5).0 < acks(2).0);
}

#[test]
fn what_users_of_applications_get_is_the_answer_beside_flows() {
    let both = "[[flow]]\nvariant = 'cubic'\n[[app]]\nname = 'talk'\nkind = 'voice'\n";
    let (_, sentence) = answer(&format!("duration = '10 s'\n{PATH}{both}"));
    assert!(
        sentence.starts_with("Opinion score of `talk` is "),
        "{sentence}"
    );
    // What the file asks for comes first.
    let (_, sentence) = answer(&format!(
        "answer = 'goodput'\nduration = '10 s'\n{PATH}{both}"
    ));
    assert!(sentence.starts_with("`cubic` gets "), "{sentence}");
}

#[test]
fn workloads_alone_have_an_answer_with_its_number() {
    let web = "[[workload]]\nname = 'web'\nkind = 'poisson'\nload = 0.3\nsize = '20 kB'\n";
    let (number, sentence) = answer(&format!("duration = '10 s'\n{PATH}{web}"));
    assert!(number.ends_with(" times"), "{number}");
    assert!(
        sentence.contains("99 % of the flows of `web` take at most"),
        "{sentence}"
    );
    assert!(sentence.contains(&number), "{sentence}");

    let sweep = "[sweep]\n'path.rtt' = ['10 ms', '80 ms']\n";
    let (number, sentence) = answer(&format!("duration = '10 s'\n{PATH}{web}{sweep}"));
    assert!(number.contains("times → "), "{number}");
    assert!(
        sentence.contains("at a round trip of 10 ms")
            && sentence.contains("at a round trip of 80 ms"),
        "{sentence}"
    );

    // Beside one long flow, a sweep of the workload asks about the workload, any other about the
    // flow.
    let flow = "[[flow]]\nvariant = 'cubic'\n";
    let loads = "[sweep]\n'workload.web.load' = ['10 %', '30 %']\n";
    let (_, sentence) = answer(&format!("duration = '10 s'\n{PATH}{flow}{web}{loads}"));
    assert!(sentence.contains("flows of `web`"), "{sentence}");
    let (_, sentence) = answer(&format!("duration = '10 s'\n{PATH}{flow}{web}{sweep}"));
    assert!(!sentence.contains("`web`"), "{sentence}");

    // Cross traffic completes nothing that is measured; it gets something through, and so do
    // bursts.
    let cross = "[[workload]]\nname = 'cross'\nkind = 'background'\nload = 0.5\n";
    let (number, sentence) = answer(&format!("duration = '10 s'\n{PATH}{cross}"));
    assert!(
        number.ends_with("bit/s") && sentence.starts_with("`cross` gets"),
        "{sentence}"
    );
    let bursts = "[[workload]]\nname = 'paced'\nkind = 'on-off'\nrate = '4 Mbit/s'\non = '1000 s'\n\
                  off = '1 s'\n";
    let text = format!("duration = '10 s'\nwarmup = '3 s'\n{PATH}{bursts}");
    let (_, sentence) = answer(&text);
    assert!(sentence.starts_with("`paced` gets"), "{sentence}");
    let outcome = run(&text);
    let row = outcome.workloads.rows().next().expect("it has a row");
    let goodput = row.float("late_goodput_mbps").unwrap();
    assert!((goodput - 4.0).abs() < 0.1, "{goodput}");
}

/// The figure called `id` of the report of `outcome`.
fn figure(file: &File, outcome: &TransportOutcome, id: &str) -> Figure {
    let report = report(file, outcome, Provenance::default());
    let blocks = report
        .sections
        .into_iter()
        .flat_map(|section| section.blocks);
    let mut figures = blocks.filter_map(|block| match block {
        Block::Figure(figure) => Some(figure),
        _ => None,
    });
    figures
        .find(|figure| figure.id == id)
        .expect("the report has it")
}

/// What was measured comes first, in the sentence and in the charts of a sweep; the simulator is
/// beside, with its error.
#[test]
fn what_the_kernel_did_comes_before_what_was_simulated() {
    let text = format!(
        "duration = '5 s'\n{PATH}[[flow]]\nvariant = 'cubic'\nstart = '0 s'\n[[flow]]\n\
         variant = 'reno'\nstart = '0 s'\n\
         [sweep]\n'path.rtt' = ['10 ms', '40 ms']\n"
    );
    let file = File::parse("found.toml", &text, Path::new(".")).unwrap();
    let mut outcome = run(&text);
    let simulated = first_sentence(&file, &outcome);
    assert_eq!(simulated.label, Some(Label::Simulated));
    // As if a kernel had given each number a tenth less.
    let summary = &outcome.summary;
    let (engine, mean) = (
        summary.column("engine").unwrap(),
        summary.column("mean").unwrap(),
    );
    let mut both = Table::new("summary", summary.columns().to_vec());
    for row in summary.rows() {
        both.push(row.cells().to_vec()).unwrap();
        let mut cells = row.cells().to_vec();
        if row.text("engine") == "simulate" {
            cells[engine] = Cell::from("linux_vt");
            cells[mean] = Cell::from(row.float("mean").map(|mean| mean * 0.9));
            both.push(cells).unwrap();
        }
    }
    outcome.summary = both;
    let measured = first_sentence(&file, &outcome);
    assert_eq!(measured.label, Some(Label::LinuxVt));
    assert!(
        measured.sentence.contains("Simulated: ") && measured.sentence.ends_with("+11 % off."),
        "{}",
        measured.sentence
    );
    let shares = figure(&file, &outcome, "share");
    for label in [Label::LinuxVt, Label::Simulated] {
        let of_label = shares.series.iter().filter(|one| one.label == Some(label));
        assert_eq!(of_label.count(), 2, "{label:?}");
    }
}

/// A plot of goodput against delay leaves no variant out.
#[test]
fn every_swept_name_has_its_mark() {
    let variants = [
        "reno",
        "vegas",
        "veno",
        "westwood",
        "bic",
        "cubic",
        "highspeed",
        "hybla",
        "scalable",
        "illinois",
        "yeah",
        "htcp",
        "lp",
        "bbr",
        "cdg",
        "nv",
    ];
    let names: Vec<String> = variants.iter().map(|name| format!("'{name}'")).collect();
    let text = format!(
        "duration = '2 s'\n{PATH}[[flow]]\nvariant = 'reno'\nstart = '0 s'\n[sweep]\n\
         'flow.0.variant' = [{}]\n",
        names.join(", ")
    );
    let file = File::parse("found.toml", &text, Path::new(".")).unwrap();
    let plot = figure(&file, &run(&text), "goodput-delay");
    let shown: Vec<&str> = plot.series.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(shown, variants);
}
