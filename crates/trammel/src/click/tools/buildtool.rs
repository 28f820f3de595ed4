//! `click-buildtool provides X…`: whether each is a class or feature of this router.

use std::process::ExitCode;
use trammel_router::elements;

/// What this router has besides its classes.
const FEATURES: &[&str] = &["userlevel", "int64", "analysis", "ip6", "umultithread"];

pub(super) fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(("provides", names)) = arguments.split_first().map(|(a, b)| (a.as_str(), b)) else {
        trammel_ground::say("usage: click-buildtool provides NAME…");
        return ExitCode::FAILURE;
    };
    let has = |name: &String| elements::find(name).is_some() || FEATURES.contains(&name.as_str());
    ExitCode::from(u8::from(!names.iter().all(has)))
}
