//! What `trammel doc device` says of the devices that `trammel bench --model` has a model of.

use std::fmt::Write;
use trammel_core::units::nearest;
use trammel_cost::device_profile::DeviceProfile;
use trammel_netfpga::params::{PARAMETERS, PRESETS};
use trammel_testbeds::beds::model;

/// The page of the device `name`, as Markdown.
pub(super) fn page(name: &str) -> anyhow::Result<String> {
    let all = model::all();
    let Some((_, summary)) = all.iter().find(|(known, _)| *known == name) else {
        match nearest(name, all.iter().map(|(known, _)| *known)) {
            Some(near) => anyhow::bail!("no device is called `{name}`; did you mean `{near}`?"),
            None => anyhow::bail!("no device is called `{name}`; `trammel list devices` shows all"),
        }
    };
    let mut page = format!(
        "# {name}\n\nmodelled device: {summary}\n\n```text\n\
         trammel bench --model {name} --quick -o out\n```\n"
    );
    if let Some((_, _, params)) = PRESETS.iter().find(|(preset, ..)| *preset == name) {
        page += &format!(
            "\n## Parameters\n\n`--model {name}:NAME=VALUE,…` changes one.\n\n\
             | name | value | unit | origin | what it is |\n| --- | --- | --- | --- | --- |\n"
        );
        for parameter in PARAMETERS {
            let value = params.get(parameter.name).unwrap_or_default();
            row(
                &mut page,
                [
                    &format!("`{}`", parameter.name),
                    &value.to_string(),
                    parameter.unit,
                    parameter.label.words(),
                    parameter.help,
                ],
            );
        }
        return Ok(page);
    }
    let profile = DeviceProfile::shipped(name)?;
    page += "\n## Profile\n\n| quantity | value | origin | source | what it is |\n\
             | --- | --- | --- | --- | --- |\n";
    for (key, quantity) in profile.given() {
        row(
            &mut page,
            [
                &format!("`{}`", key.name),
                &quantity.value.to_string(),
                quantity.label.words(),
                &quantity.source,
                key.help,
            ],
        );
    }
    Ok(page)
}

fn row<const N: usize>(page: &mut String, cells: [&str; N]) {
    for cell in cells {
        write!(page, "| {cell} ").expect("a string takes any text");
    }
    page.push_str("|\n");
}
