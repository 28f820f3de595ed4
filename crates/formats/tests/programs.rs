//! Files that real programs wrote of our own traffic give what the programs themselves printed.

use std::fs;
use std::path::Path;
use trammel_formats::{Format, Imported, read};
use trammel_stats::table::Row;

fn import(name: &str) -> Imported {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/files")
        .join(name);
    let bytes = fs::read(path).expect("the file is part of the repository");
    read(Box::new(std::io::Cursor::new(bytes)), None).expect("it is read")
}

fn first_flow(imported: &Imported) -> Row<'_> {
    let flows = imported.runs[0].table("flows").expect("there are flows");
    flows.rows().next().expect("there is one")
}

fn of_text(text: &str) -> Result<Imported, String> {
    let bytes = text.as_bytes().to_vec();
    read(Box::new(std::io::Cursor::new(bytes)), None).map_err(|why| why.to_string())
}

#[test]
fn two_streams_of_iperf3_have_the_sums_that_it_printed() {
    let imported = import("two.json");
    assert_eq!(
        (imported.format, imported.by.as_str()),
        (Format::Iperf3, "iperf 3.12")
    );
    let text =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/two.json"));
    let printed: serde_json::Value = serde_json::from_str(&text.unwrap()).unwrap();
    let end = &printed["end"];
    let run = &imported.runs[0];
    let flows = run.table("flows").unwrap();
    assert_eq!(flows.len(), 2);
    let again: i64 = flows
        .rows()
        .filter_map(|row| row.int("retransmissions_pkts"))
        .sum();
    assert_eq!(Some(again), end["sum_sent"]["retransmits"].as_i64());
    let group = run.table("groups").unwrap().rows().next().unwrap();
    let wanted = end["sum_received"]["bits_per_second"].as_f64().unwrap() / 1e6;
    assert!((group.float("goodput_mbps").unwrap() / wanted - 1.0).abs() < 1e-6);
    for (row, one) in flows.rows().zip(end["streams"].as_array().unwrap()) {
        assert_eq!(row.text("variant"), "cubic");
        assert_eq!(row.float("rtt_mean_us"), one["sender"]["mean_rtt"].as_f64());
        assert_eq!(
            row.int("delivered_bytes"),
            one["receiver"]["bytes"].as_i64()
        );
        assert!(
            row.text("flow").ends_with("-10.2.0.1:5201"),
            "{}",
            row.text("flow")
        );
    }
    // Four intervals of half a second.
    assert_eq!(run.traces.len(), 2);
    assert_eq!(run.traces[0].samples.len(), 4);
}

#[test]
fn datagrams_of_iperf3_are_a_stream() {
    let imported = import("udp.json");
    let streams = imported.runs[0].table("streams").unwrap();
    let row = streams.rows().next().unwrap();
    let (sent, lost) = (row.int("sent_pkts").unwrap(), row.int("lost_pkts").unwrap());
    assert!(sent > 1000 && lost > 100, "{sent} {lost}");
    let loss = lost as f64 / sent as f64;
    assert!((row.float("loss").unwrap() - loss).abs() < 1e-6);
}

#[test]
fn several_documents_of_iperf3_and_its_lines_are_runs() {
    let one = r#"{"start":{"version":"iperf 3.17","tcp_mss_default":1448},"intervals":[],
        "end":{"streams":[{"sender":{"socket":5,"seconds":2,"bytes":1000000},
        "receiver":{"socket":5,"seconds":2,"bytes":1000000}}]}}"#;
    let imported = of_text(&format!("{one}\n{one}\n{one}")).unwrap();
    assert_eq!(imported.runs.len(), 3);
    let data = [
        (
            "start",
            r#"{"version":"iperf 3.17","tcp_mss_default":1000}"#,
        ),
        (
            "interval",
            r#"{"streams":[{"socket":5,"end":1.0,"bits_per_second":8e6,"snd_cwnd":20000}]}"#,
        ),
        (
            "end",
            r#"{"streams":[{"sender":{"socket":5,"start":0,"seconds":1,"bytes":1000000},
               "receiver":{"socket":5,"seconds":1,"bytes":1000000}}]}"#,
        ),
    ];
    let lines = data.map(|(event, data)| format!("{{\"event\":\"{event}\",\"data\":{data}}}\n"));
    let imported = of_text(&lines.concat()).unwrap();
    let flow = first_flow(&imported);
    assert_eq!(flow.float("cwnd_mean_pkts"), Some(20.0));
    assert_eq!(flow.float("goodput_mbps"), Some(8.0));
    assert_eq!(imported.runs[0].traces[0].samples.len(), 1);
    // A line behind something else is of no test before it.
    let [start, interval, end] = lines;
    let imported = of_text(&format!("{one}\n{end}")).unwrap();
    assert_eq!(first_flow(&imported).float("goodput_mbps"), Some(4.0));
    for apart in ["1", "[]", "\"end\"", "null"] {
        let imported = of_text(&format!("{start}{interval}{apart}\n{end}")).unwrap();
        let flow = first_flow(&imported);
        assert_eq!(flow.float("goodput_mbps"), Some(8.0), "{apart}");
        assert_eq!(flow.float("cwnd_mean_pkts"), None, "{apart}");
    }
}

#[test]
fn what_iperf3_says_of_a_failure_is_told() {
    let text = r#"{"start":{"version":"iperf 3.12","connected":[]},"intervals":[],"end":{},
        "error":"unable to connect to server"}"#;
    let why = of_text(text).unwrap_err();
    assert!(why.contains("unable to connect to server"), "{why}");
}

#[test]
fn flent_s_means_are_those_that_it_printed() {
    let imported = import("upload.flent.gz");
    assert_eq!(
        (imported.format, imported.by.as_str()),
        (Format::Flent, "Flent 2.1.1")
    );
    let run = &imported.runs[0];
    let flow = first_flow(&imported);
    // `TCP upload : 19.05 Mbits/s`, `Ping (ms) ICMP : 6.84` of the samples before interpolation.
    assert!((flow.float("goodput_mbps").unwrap() - 19.05).abs() < 0.005);
    let ping = run.table("pings").unwrap().rows().next().unwrap();
    assert!((ping.float("rtt_mean_us").unwrap() / 6840.0 - 1.0).abs() < 0.02);
    assert_eq!(run.traces.len(), 2);
}

#[test]
fn numbers_that_are_none_and_depths_without_end_do_no_harm() {
    let text = r#"{"start":{"version":"iperf 3.12"},"intervals":[{"streams":[{"socket":5,
        "end":-1e308,"bits_per_second":null,"snd_cwnd":-4,"rtt":"x"}]}],
        "end":{"streams":[{"sender":{"socket":5,"seconds":0,"bytes":-7,"retransmits":1e300}}]}}"#;
    let imported = of_text(text).unwrap();
    let flow = first_flow(&imported);
    assert_eq!(flow.float("goodput_mbps"), None);
    let deep = format!("{{\"metadata\":{}", "[".repeat(100_000));
    assert!(of_text(&deep).unwrap_err().contains("recursion limit"));
    let many = format!("{{\"results\":[{}0]}}", "0,".repeat(5_000_000));
    assert!(of_text(&many).unwrap_err().contains("4000000 values"));
    let why = of_text(r#"{"colour": "red"}"#).unwrap_err();
    assert!(why.contains("`colour`"), "{why}");
}

#[test]
fn a_qlog_of_a_sender_has_its_window_and_losses() {
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../qlog/tests/logs");
    let bytes = fs::read(logs.join("cubic.sqlog")).expect("the file is part of the repository");
    let imported = read(Box::new(std::io::Cursor::new(bytes)), None).unwrap();
    assert_eq!(imported.format, Format::Qlog);
    let flow = first_flow(&imported);
    assert!(flow.float("cwnd_max_pkts").unwrap() >= flow.float("cwnd_mean_pkts").unwrap());
    assert!(flow.float("active_s").unwrap() > 0.0);
    assert!(!imported.runs[0].traces.is_empty());
}

fn gives(run: &trammel_formats::Run, column: &str) -> Vec<(String, f64)> {
    let flows = run.table("flows").expect("there are flows");
    let rows = flows.rows();
    rows.map(|row| (row.text("flow").to_owned(), row.float(column).unwrap()))
        .collect()
}

fn goodput_of_all(run: &trammel_formats::Run) -> f64 {
    let group = run.table("groups").unwrap().rows().next().unwrap();
    group.float("goodput_mbps").unwrap()
}

#[test]
fn flent_s_numbered_flows_are_flows_and_its_sums_are_none() {
    let text = r#"{"version":4,"metadata":{"SERIES_META":{
        "TCP upload::1":{"UNITS":"Mbits/s"},"TCP upload::2":{"UNITS":"Mbits/s"},
        "TCP upload::1::tcp_cwnd":{"UNITS":"segments"},"TCP upload::1::tcp_rtt":{"UNITS":"ms"},
        "TCP upload avg":{"UNITS":"Mbits/s"},"TCP upload sum":{"UNITS":"Mbits/s"},
        "TCP totals":{"UNITS":"Mbits/s"},
        "Ping (ms) ICMP":{"UNITS":"ms"},"Ping (ms) avg":{"UNITS":"ms"}}},
        "x_values":[1,2,3,4],"results":{
        "TCP upload::1":[6,6,6,6],"TCP upload::2":[null,null,4,4],
        "TCP upload::1::tcp_cwnd":[10,20,10,20],"TCP upload::1::tcp_rtt":[5,5,5,5],
        "TCP upload avg":[6,6,5,5],"TCP upload sum":[6,6,10,10],"TCP totals":[6,6,10,10],
        "Ping (ms) ICMP":[5,5,5,5],"Ping (ms) avg":[9,9,9,9]}}"#;
    let imported = of_text(text).unwrap();
    let run = &imported.runs[0];
    let names = ["TCP upload::1", "TCP upload::2"].map(str::to_owned);
    let [one, two] = names;
    assert_eq!(gives(run, "goodput_mbps"), [(one, 6.0), (two, 4.0)]);
    // The second is there for half of the time.
    assert_eq!(goodput_of_all(run), 8.0);
    let flow = first_flow(&imported);
    assert_eq!(flow.float("share"), Some(0.75));
    assert_eq!(flow.float("cwnd_mean_pkts"), Some(15.0));
    assert_eq!(flow.float("rtt_mean_us"), Some(5000.0));
    assert_eq!(run.table("pings").unwrap().len(), 1);
    let note = imported.notes.concat();
    assert!(note.contains("4 series are sums and means"), "{note}");
}

#[test]
fn both_directions_of_iperf3_are_in_the_sum() {
    let text = r#"{"start":{"version":"iperf 3.12"},"intervals":[],"end":{"streams":[
        {"sender":{"socket":5,"seconds":1,"bytes":1000000,"bits_per_second":8e6},
        "receiver":{"socket":5,"seconds":1,"bytes":1000000,"bits_per_second":8e6}},
        {"sender":{"socket":7,"seconds":1,"bytes":500000,"bits_per_second":4e6},
        "receiver":{"socket":7,"seconds":1,"bytes":500000,"bits_per_second":4e6}}],
        "sum_sent":{"bits_per_second":8e6},"sum_received":{"bits_per_second":8e6},
        "sum_sent_bidir_reverse":{"bits_per_second":4e6},
        "sum_received_bidir_reverse":{"bits_per_second":4e6}}}"#;
    assert_eq!(goodput_of_all(&of_text(text).unwrap().runs[0]), 12.0);
}

#[test]
fn numbers_of_iperf3_that_cannot_be_are_left_out_with_a_note() {
    let text = r#"{"start":{"version":"iperf 3.12"},"intervals":[{"streams":[{"socket":5,
        "end":1,"bits_per_second":8e6,"rtt":1e308}]}],"end":{"streams":[
        {"sender":{"socket":5,"seconds":1,"bytes":1000000,"bits_per_second":8e6},
        "receiver":{"socket":5,"seconds":1,"bytes":1000000,"bits_per_second":-5}}]}}"#;
    let imported = of_text(text).unwrap();
    let flow = first_flow(&imported);
    assert_eq!(flow.float("goodput_mbps"), None);
    let sample = imported.runs[0].traces[0].samples.rows().next().unwrap();
    assert_eq!(sample.float("srtt_us"), None);
    let note = imported.notes.concat();
    assert!(note.contains("2 numbers are negative"), "{note}");
}

#[test]
fn texts_of_windows_are_read_or_named() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/two.json");
    let text = fs::read_to_string(path).unwrap();
    assert_eq!(
        of_text(&format!("\u{feff}{text}")).unwrap().format,
        Format::Iperf3
    );
    let wide: Vec<u8> = std::iter::once(0xFEFF)
        .chain(text.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    for bytes in [wide.clone(), wide[2..].to_vec()] {
        let why = read(Box::new(std::io::Cursor::new(bytes)), None).unwrap_err();
        assert!(why.to_string().contains("UTF-16"), "{why}");
    }
}

#[test]
fn a_compressed_text_with_a_wrong_checksum_is_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/upload.flent.gz");
    let mut bytes = fs::read(path).unwrap();
    let end = bytes.len();
    bytes[end - 8..].fill(0);
    let why = read(Box::new(std::io::Cursor::new(bytes)), None).unwrap_err();
    assert!(why.to_string().contains("corrupt gzip"), "{why}");
}
