//! Devices that are not here, by name: designs of the NetFPGA router, and PCs by their profiles.

use super::netfpga::NetFpga;
use super::profiled::Profiled;
use anyhow::bail;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use trammel_bench::testbed::Testbed;
use trammel_core::units::nearest;
use trammel_cost::device_profile::DeviceProfile;
use trammel_netfpga::params::PRESETS;

/// The model that `text` names; its trials end when `interrupted` is set.
pub fn find(text: &str, interrupted: &Arc<AtomicBool>) -> anyhow::Result<Box<dyn Testbed>> {
    let name = text.split(':').next().unwrap_or(text);
    if PRESETS.iter().any(|(known, ..)| *known == name) {
        return Ok(Box::new(NetFpga::parse(text, interrupted)?));
    }
    if names().contains(&text) {
        let profile = DeviceProfile::shipped(text)?;
        return Ok(Box::new(Profiled::new(profile, Arc::clone(interrupted))));
    }
    let all = names();
    let known: Vec<String> = all.iter().map(|known| format!("`{known}`")).collect();
    match nearest(name, all.iter().copied()) {
        Some(near) => bail!("there is no model `{text}`; did you mean `{near}`?"),
        None => bail!(
            "there is no model `{text}`; there are {}: see `trammel list devices`",
            known.join(", ")
        ),
    }
}

/// All names: a design's may be followed by `:` and what is changed of it.
pub fn names() -> Vec<&'static str> {
    all().into_iter().map(|(name, _)| name).collect()
}

/// All models by name, with what each is.
pub fn all() -> Vec<(&'static str, String)> {
    let designs = PRESETS.iter();
    let designs = designs.map(|(name, what, _)| (*name, format!("NetFPGA: {what}")));
    let profiles = super::profiled::NAMES.iter().map(|name| {
        let profile = DeviceProfile::shipped(name);
        (
            *name,
            profile.map_or(String::new(), |profile| profile.summary),
        )
    });
    designs.chain(profiles).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_core::label::Label;

    #[test]
    fn every_model_is_found_by_its_name_and_a_slip_is_told() {
        for (name, what) in all() {
            assert!(!what.is_empty(), "{name}");
            let bed = find(name, &Arc::default()).unwrap();
            assert_eq!(bed.label(), Label::Modelled);
            assert!(bed.device().contains(name));
        }
        for (text, said) in [
            ("click-pc-2008", "did you mean `click-pc-2009`?"),
            ("xyz", "`reference-1g`"),
        ] {
            let error = find(text, &Arc::default()).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
        }
    }
}
