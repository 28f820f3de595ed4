//! Results of other testers beside a run of ours on real frames: rows of one size and one test
//! meet.

use crate::command::Run;
use crate::rig::{TRAMMEL, or_skip};
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use trammel_io::netns::Namespace;
use trammel_stats::table::Table;

fn trammel(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(TRAMMEL);
    let output = command.args(words).current_dir(folder).output();
    output.expect("the program can be started")
}

/// The throughput in the summary of a run folder, in frames a second.
fn throughput(folder: &Path) -> f64 {
    let file = std::fs::File::open(folder.join("summary.csv")).expect("it is there");
    let table = Table::read_csv_inferring("summary", file).expect("it is a table");
    let mut rows = table.rows();
    let row = rows.find(|row| row.text("metric") == "throughput" && row.text("unit") == "frames/s");
    let row = row.expect("the throughput is in it");
    row.float("mean").expect("it is a number")
}

#[test]
fn trex_and_csit_stand_beside_a_bench_of_real_frames() {
    let Some(namespace) = or_skip(Namespace::new()).map(Arc::new) else {
        return;
    };
    let lab = tempfile::tempdir().expect("a temporary folder can be made");
    let arguments = ["--dut", "bridge", "--tests", "throughput"];
    let mut run = Run::start(lab, &namespace, &[], &arguments);
    let ended = run.ends();
    if ended.code == Some(3) {
        println!("skipped: {}", ended.said);
        return;
    }
    assert_eq!(ended.code, Some(0), "{}", ended.said);
    let folder = run.folder.path();
    let ours = throughput(&folder.join("out"));
    let (trex, csit) = (0.9 * ours, 1.1 * ours);
    // As `stl_ndr_bench_tool.py -o` and CSIT's model have it.
    let benchmark = json!({
        "results": { "title": "a bridge", "rate_tx_bps": trex * 124.0 * 8.0, "tx_pps": trex,
                     "rx_pps": trex, "drop_rate_percentage": 0, "rate_p": 90.0 },
        "config": { "pdr": 0, "tunables": { "size": 128 } },
    });
    let end = |rate: f64| json!({ "rate": { "value": rate, "unit": "pps" } });
    let case = json!({
        "version": "1.5.0",
        "test_id": "tests.vpp.perf.l2.2n1l-10ge2p1x710-eth-l2bdbasemaclrn-ndrpdr.128b-1c-eth-\
                    l2bdbasemaclrn-ndrpdr",
        "test_type": "ndrpdr", "dut_type": "vpp", "dut_version": "26.10",
        "result": {}, "results": { "type": "ndrpdr", "ndrpdr": {
            "ndr": { "lower": end(csit), "upper": end(1.01 * csit) },
            "pdr": { "lower": end(csit), "upper": end(1.01 * csit) },
        } },
    });
    for (name, document) in [("trex", benchmark), ("csit", case)] {
        let file = folder.join(format!("{name}.json"));
        std::fs::write(&file, document.to_string()).expect("the file can be written");
        let file = file.to_str().expect("it is UTF-8");
        let done = trammel(folder, &["import", file, "--as", name, "-o", name]);
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{name}: {said}");
    }
    let done = trammel(folder, &["compare", "out", "trex", "csit", "--json"]);
    let tables: Value = serde_json::from_slice(&done.stdout).unwrap_or_else(|why| {
        let said = String::from_utf8_lossy(&done.stderr);
        panic!("{why}: {said}")
    });
    let rows = tables["tables"]["comparison"]
        .as_array()
        .expect("it has rows");
    let is_it = |row: &&Value| {
        row["metric"] == "throughput" && row["point"] == "128" && row["unit"] == "frames/s"
    };
    let found: Vec<&Value> = rows
        .iter()
        .filter(|row| row["entity"] == "throughput")
        .collect();
    let row: Vec<&&Value> = found.iter().filter(|row| is_it(row)).collect();
    assert_eq!(row.len(), 1, "one row: {found:#?}");
    let cells = row[0].as_object().expect("a row is an object");
    let mut values: Vec<f64> = cells.values().filter_map(Value::as_f64).collect();
    values.sort_by(f64::total_cmp);
    for (value, wanted) in values.iter().zip([trex, ours, csit]) {
        assert!((value - wanted).abs() <= 1e-6 * wanted, "{row:#?}");
    }
    assert_eq!(values.len(), 3, "{row:#?}");
    // Ten per cent apart are more than five.
    let done = trammel(folder, &["compare", "out", "trex", "--within", "5%"]);
    assert_eq!(done.status.code(), Some(1));
}
