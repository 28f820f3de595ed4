//! What a device did to frames besides losing them, said above all results: who loses nothing may
//! still put frames out of order.

use trammel_stats::table::Table;

/// What is counted of each trial, and the word for it.
const FAULTS: [(&str, &str); 3] = [
    ("reordered", "out of order"),
    ("duplicated", "more than once"),
    ("corrupted", "damaged"),
];

/// A sentence for each device whose delays grew through the trials of the test of latency.
pub(super) fn growing(latency: &Table) -> Vec<String> {
    let rows = latency.rows().filter(|row| !row.text("delays").is_empty());
    let sentence = |row: trammel_stats::table::Row<'_>| {
        let [device, frame, delays] = ["device", "frame", "delays"].map(|name| row.text(name));
        format!("{device}, latency of {frame} bytes: delays {delays}")
    };
    rows.map(sentence).collect()
}

/// A sentence for each device that did something of the kind in one of `trials`.
pub(super) fn sentences(trials: &Table) -> Vec<String> {
    let by_device = trials.group_by(&["device"]);
    let by_device = by_device.expect("the table of trials has a device");
    let sentence = |(key, rows): &(Vec<trammel_stats::table::Cell>, Table)| {
        let sum = |column: &str| {
            let all = rows.rows().filter_map(|row| row.int(column));
            all.sum::<i64>()
        };
        let did = FAULTS.map(|(column, how)| (sum(column), how));
        let did: Vec<String> = did
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, how)| format!("{count} {how}"))
            .collect();
        let device = key.first().map(ToString::to_string).unwrap_or_default();
        let all = sum("forwarded");
        (!did.is_empty()).then(|| {
            format!(
                "{device}: of {all} received frames: {}; the table `trials` names the trials",
                did.join(", ")
            )
        })
    };
    by_device.iter().filter_map(sentence).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_stats::table::CellType::{Int, Text};

    #[test]
    fn what_a_device_did_is_told_of_all_its_trials_together() {
        let columns = [
            ("device", Text),
            ("forwarded", Int),
            ("duplicated", Int),
            ("reordered", Int),
            ("corrupted", Int),
        ];
        let mut trials = Table::with("trials", &columns);
        for (device, forwarded, duplicated, reordered) in [
            ("a", 1000_i64, 0_i64, 3_i64),
            ("b", 500, 0, 0),
            ("a", 100, 2, 4),
        ] {
            let row = vec![
                device.into(),
                forwarded.into(),
                duplicated.into(),
                reordered.into(),
                0_i64.into(),
            ];
            trials.push(row).unwrap();
        }
        let said = sentences(&trials);
        assert_eq!(said.len(), 1);
        assert!(
            said[0].starts_with("a: of 1100 received frames: 7 out of order, 2 more than once"),
            "{}",
            said[0]
        );
    }
}
