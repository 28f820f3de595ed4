//! Parameters of congestion controls as those of the kernel's modules: one value for all flows of a
//! guest.

use super::layout::{Party, parties};
use super::refusal::refused;
use std::collections::BTreeMap;
use trammel_core::entry::{About, Kind, Params, Value};
use trammel_kernel::check::CONGESTION;
use trammel_scenario::check::Fault;
use trammel_scenario::flow::{Ecn, Flow, Stack};
use trammel_scenario::model::{Kernel, Scenario};
use trammel_scenario::registry::Family;

/// Parameters that the kernel calls by another name, or has none of.
const OTHERWISE: &[(&str, &str, Option<&str>)] = &[
    ("cubic", "max_increment", None),
    ("dctcp", "shift_g", Some("dctcp_shift_g")),
    ("dctcp", "alpha_on_init", Some("dctcp_alpha_on_init")),
    ("prague", "rtt_scaling", Some("prague_rtt_scaling")),
    ("prague", "rtt_target", Some("prague_rtt_target")),
    ("prague", "rtt_transition", Some("prague_rtt_transition")),
    ("prague", "ecn_fallback", Some("prague_ecn_fallback")),
];
/// Variants that the distribution's kernel does not have, and some other trees do.
const IN_OTHER_TREES: &[&str] = &["prague"];

/// The parameters that the flows of `scenario` want, as `module.parameter` and value.
pub(super) fn parameters(scenario: &Scenario, faults: &mut Vec<Fault>) -> Vec<(String, String)> {
    let mut wanted: BTreeMap<String, (String, BTreeMap<String, String>)> = BTreeMap::new();
    for Party { name, flow, place } in parties(scenario) {
        // An unknown variant is noted where the flow is described.
        let Ok(about) = flow.variant.about(Family::Variant) else {
            continue;
        };
        if let Some(own) = &flow.kernel_variant {
            let has_module = scenario
                .measure
                .as_ref()
                .is_some_and(|measure| measure.module.is_some());
            if !has_module && !CONGESTION.contains(&own.as_str()) {
                let what = format!("`{name}`: `{own}` cannot be measured");
                let why = format!(
                    "a guest's kernel has {} and the module of `measure.module`",
                    CONGESTION.join(", ")
                );
                faults.push(refused(&format!("{place}.kernel_variant"), &what, &why));
            }
            continue;
        }
        if flow.needs_bbr3() {
            let has_other = scenario
                .measure
                .as_ref()
                .is_some_and(|measure| measure.source.is_some() || !measure.patches.is_empty());
            if !has_other {
                let what = format!("`{name}`: `bbr3` cannot be measured by the packaged kernel");
                let why = "its `bbr` is version 1; name a source tree that has google's BBR \
                           version 3 as `measure.source`";
                faults.push(refused(&place, &what, why));
            }
            // Version 3 has no module parameters.
            let usual = Params::defaults(about);
            let is_own = |(key, value): &&(String, Value)| {
                key != "dialect"
                    && !usual
                        .iter()
                        .any(|(name, usual)| name == key && usual == value)
            };
            if let Some((key, _)) = flow.variant.given.iter().find(is_own) {
                let what = format!("`{name}`: `{key}` as it is cannot be measured");
                let why = "the kernel's BBR version 3 has no parameters";
                faults.push(refused(&format!("{place}.params.{key}"), &what, why));
            }
            continue;
        }
        let has_own_tree = scenario
            .measure
            .as_ref()
            .is_some_and(|measure| measure.source.is_some());
        let is_packaged = !has_own_tree
            && scenario
                .measure
                .as_ref()
                .is_none_or(|measure| measure.kernel == Kernel::Linux);
        if flow.ecn == Some(Ecn::Accurate) && is_packaged {
            let what = format!("`{name}`: accurate ECN cannot be measured by the packaged kernel");
            let why = "it came with Linux 7.0; name a source tree that has it as `measure.source`";
            faults.push(refused(&format!("{place}.ecn"), &what, why));
        }
        let may_be_there = has_own_tree && IN_OTHER_TREES.contains(&about.name);
        if !CONGESTION.contains(&about.name) && !may_be_there {
            let what = format!("`{name}`: `{}` cannot be measured", about.name);
            faults.push(refused(
                &place,
                &what,
                &format!("a guest's kernel has {}", CONGESTION.join(", ")),
            ));
            continue;
        }
        let parameters = match of(flow, about) {
            Ok(parameters) => parameters,
            Err(key) => {
                let what = format!("`{name}`: `{key}` as it is cannot be measured");
                let why = format!("the kernel's `{}` has no such parameter", about.name);
                faults.push(refused(&format!("{place}.params.{key}"), &what, &why));
                continue;
            }
        };
        let (first, known) = wanted
            .entry(about.name.to_owned())
            .or_insert_with(|| (name.to_owned(), parameters.clone()));
        if *known != parameters {
            let what = format!("flows `{first}` and `{name}` have different parameters");
            let why = format!("the kernel has one `{}` for all flows", about.name);
            faults.push(refused(&format!("{place}.params"), &what, &why));
        }
    }
    let all = wanted.into_iter().flat_map(|(variant, (_, parameters))| {
        let named = move |(name, value)| (format!("tcp_{variant}.{name}"), value);
        parameters.into_iter().map(named)
    });
    let given = scenario
        .measure
        .iter()
        .flat_map(|measure| measure.parameters.clone());
    // What the user says of the kernel itself is the last word.
    all.chain(given).collect()
}

/// Those of a flow, or the key that the kernel lacks.
fn of<'a>(flow: &'a Flow, about: &About) -> Result<BTreeMap<String, String>, &'a str> {
    let variant = about.name;
    let mut all = BTreeMap::new();
    if variant == "cubic" && flow.stack != Stack::Linux6 {
        // Linux 2.6.22 has no HyStart.
        all.insert("hystart".to_owned(), "0".to_owned());
    }
    let usual = Params::defaults(about);
    for (key, value) in &flow.variant.given {
        // What is as it always is needs no saying; a dialect that goes with the stack is an
        // approximation, as that is.
        let is_usual = usual
            .iter()
            .any(|(name, usual)| name == key && usual == value);
        if is_usual || (key == "dialect" && *value == Value::Text(flow.stack.name().to_owned())) {
            continue;
        }
        let otherwise = OTHERWISE
            .iter()
            .find(|(of, name, _)| *of == variant && name == key);
        let name = match otherwise {
            Some((_, _, Some(name))) => name,
            Some((_, _, None)) => return Err(key),
            None => key.as_str(),
        };
        let value = match value {
            Value::Bool(on) => i64::from(*on).to_string(),
            Value::Int(number) => number.to_string(),
            // The module numbers the words.
            Value::Text(word) if variant == "prague" => {
                let param = about.params.iter().find(|param| param.name == key);
                let Some(Kind::Choice(words)) = param.map(|param| param.kind) else {
                    return Err(key);
                };
                let Some(place) = words.iter().position(|known| known == word) else {
                    return Err(key);
                };
                place.to_string()
            }
            _ => return Err(key),
        };
        all.insert(name.to_owned(), value);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bbr3_needs_a_kernel_that_has_it_and_takes_no_parameters() {
        let linux = || Flow::new("bbr3").param("dialect", Value::Text("linux".to_owned()));
        let faults_of = |flow: Flow, source: Option<&str>| {
            let mut scenario = Scenario::dumbbell().flow(flow);
            scenario.measure = Some(trammel_scenario::model::Measure {
                source: source.map(str::to_owned),
                ..trammel_scenario::model::Measure::default()
            });
            let mut faults = Vec::new();
            parameters(&scenario, &mut faults);
            let places = faults.into_iter().map(|fault| fault.place);
            (places.collect::<Vec<_>>(), scenario.other_laws().len())
        };
        assert_eq!(faults_of(linux(), Some("tree")), (vec![], 0));
        assert_eq!(faults_of(linux(), None), (vec!["flow.0".to_owned()], 0));
        let odd = linux().param("probe_up_pacing_gain", Value::Float(1.5));
        let place = "flow.0.params.probe_up_pacing_gain".to_owned();
        assert_eq!(faults_of(odd, Some("tree")), (vec![place], 0));
        // The draft's is another law than google's module.
        assert_eq!(faults_of(Flow::new("bbr3"), Some("tree")), (vec![], 1));
    }

    #[test]
    fn flows_of_one_variant_share_its_parameters() {
        let hystart = |on| Flow::new("cubic").param("hystart", Value::Bool(on));
        let mut faults = Vec::new();
        let alike = Scenario::dumbbell()
            .flow(hystart(false))
            .flow(hystart(false));
        assert_eq!(
            parameters(&alike, &mut faults),
            [("tcp_cubic.hystart".to_owned(), "0".to_owned())]
        );
        assert!(faults.is_empty());
        parameters(
            &Scenario::dumbbell()
                .flow(hystart(false))
                .flow(Flow::new("cubic")),
            &mut faults,
        );
        assert_eq!(faults.len(), 1);
        assert_eq!(faults[0].place, "flow.1.params");
    }
}
