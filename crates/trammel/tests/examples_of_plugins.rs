//! The example at the head of a plug-in's file is a scenario that names the plug-in and runs.

use std::process::Command;
use trammel::scenario::registry::Family;

/// The families whose members stand in scenario files.
const FAMILIES: &[Family] = &[
    Family::Variant,
    Family::Discipline,
    Family::Loss,
    Family::Distribution,
    Family::App,
    Family::Application,
];

/// What is wrong with the example of `name`, if anything is.
fn fault(family: Family, name: &str, aliases: &[&str]) -> Option<String> {
    let Some(example) = family.catalogue().doc(name).example("toml") else {
        return Some("its file has no section `Example` with a scenario".into());
    };
    let names: Vec<_> = std::iter::once(&name).chain(aliases).collect();
    if !names.iter().any(|name| {
        let values = [format!("\"{name}\""), format!("\"{name}:")];
        values.iter().any(|value| example.contains(value))
    }) {
        return Some("its example does not name it".into());
    }
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    std::fs::write(folder.path().join("example.toml"), example).expect("the folder is writable");
    let output = Command::new(env!("CARGO_BIN_EXE_trammel"))
        .args(["run", "example.toml", "--engine", "simulate", "-o", "out"])
        .current_dir(&folder)
        .output()
        .expect("the program starts");
    if output.status.code() != Some(0) {
        return Some(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    // A table with a row says that flows, streams, workloads or applications were simulated.
    let table = ["flows.csv", "streams.csv", "workloads.csv", "apps.csv"].iter();
    let table = table.map(|name| folder.path().join("out").join(name));
    let rows = table.filter_map(|path| std::fs::read_to_string(path).ok());
    (rows.map(|text| text.lines().count()).max().unwrap_or(0) < 2)
        .then(|| "its example gives no table".into())
}

#[test]
fn the_example_of_every_plugin_runs() {
    let mut seen = 0;
    let mut faults = Vec::new();
    for family in FAMILIES {
        for about in family.catalogue().members() {
            seen += 1;
            if let Some(fault) = fault(*family, about.name, about.aliases) {
                faults.push(format!(
                    "{} `{}`: {fault}",
                    family.catalogue().noun(),
                    about.name
                ));
            }
        }
    }
    assert!(seen > 40, "too few plug-ins: {seen}");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
