//! Parameters of congestion controls as those of the kernel's modules: one value for all flows of a
//! guest.

use super::layout::{Party, parties};
use super::refusal::refused;
use std::collections::BTreeMap;
use trammel_core::entry::{About, Params, Value};
use trammel_kernel::check::CONGESTION;
use trammel_scenario::check::Fault;
use trammel_scenario::flow::{Flow, Stack};
use trammel_scenario::model::Scenario;
use trammel_scenario::registry::Family;

/// Parameters that the kernel calls by another name, or has none of.
const OTHERWISE: &[(&str, &str, Option<&str>)] = &[
    ("cubic", "max_increment", None),
    ("dctcp", "shift_g", Some("dctcp_shift_g")),
    ("dctcp", "alpha_on_init", Some("dctcp_alpha_on_init")),
];

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
        if !CONGESTION.contains(&about.name) {
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
