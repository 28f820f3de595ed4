//! No example opens a network device of this machine, or sends by one, unless its user names the
//! device.

use std::path::Path;

/// The arguments of every `FromDevice`, `ToDevice` and the like in `text`.
fn devices(text: &str) -> Vec<&str> {
    const CLASSES: [&str; 6] = [
        "FromDevice(",
        "ToDevice(",
        "PollDevice(",
        "FromSniffer(",
        "ToHost(",
        "FromHost(",
    ];
    CLASSES
        .iter()
        .flat_map(|class| text.split(class).skip(1))
        .filter_map(|rest| rest.split([',', ')', ' ']).next())
        .collect()
}

#[test]
fn examples_name_devices_that_no_machine_has() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let (mut files, mut seen) = (0, 0);
    for folder in ["forwarding", "gallery", "router", "templates"] {
        for entry in std::fs::read_dir(examples.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            files += 1;
            for device in devices(&text) {
                seen += 1;
                let is_placeholder = ["port0", "port1", "$DEVICE"].contains(&device);
                assert!(is_placeholder, "{}: `{device}`", path.display());
            }
            if text.contains("$DEVICE") {
                let default = text.split("define($DEVICE ").nth(1).unwrap();
                assert!(default.starts_with("give_a_DEVICE"), "{}", path.display());
            }
        }
    }
    assert!(files >= 14 && seen >= 10, "{files}, {seen}");
}
