//! What a person sees of a faulty scenario, one snapshot a case of `tests/diagnostics/`.

use std::path::Path;
use trammel::scenario::{File, ReadError};

/// What the file at `tests/diagnostics/NAME.toml` is told.
fn shown(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).unwrap();
    match File::parse(&format!("{name}.toml"), &text, &folder) {
        Ok(_) => panic!("{name} has no fault"),
        Err(ReadError::Faults(problems)) => problems.render(false),
        Err(other) => other.to_string(),
    }
}

macro_rules! cases {
    ($($name:ident)*) => { $(
        #[test]
        fn $name() {
            insta::assert_snapshot!(stringify!($name), shown(stringify!($name)));
        }
    )* };
}

cases! {
    syntax_error
    unknown_keys
    units_and_ranges
    missing_keys
    misspelt_names
    times_in_the_wrong_order
    network_faults
    sweep_faults
    zip_of_unequal_lengths
    matrix_faults
    a_fault_in_one_point
    no_traffic_and_no_path
    workload_faults
    schedule_and_trace
    access_longer_than_path
}
