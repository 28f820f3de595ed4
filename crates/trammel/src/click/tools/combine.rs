//! `click-combine`: puts several routers into one configuration.

use super::configuration::{Source, tell, write_config};
use super::end::{Done, Failed, code, fail};
use super::options::{Given, Tool, flag, value};
use std::process::ExitCode;
use trammel_router::lang::archive::Member;
use trammel_router::transform::combine::{Component, combine};

const TOOL: Tool = Tool {
    name: "click-combine",
    summary: "Combines configurations at their devices, by links `A.eth1=B.eth0`.",
    options: &[&[
        value('o', "output", "write to FILE"),
        value('n', "name", "the name of the next router"),
        value('f', "file", "read a router from FILE"),
        value('e', "expression", "use EXPR as a router"),
        value('l', "link", "link two routers"),
        flag(
            'c',
            "config",
            "print the configuration only, not an archive",
        ),
    ]],
};

/// Describes `RouterLink` to Click's tools, which know classes by such files.
const ELEMENT_MAP: &str = "<?xml version=\"1.0\" standalone=\"yes\"?>
<elementmap xmlns=\"http://www.lcdf.org/click/xml/\">
  <entry name=\"RouterLink\" processing=\"l/h\" flowcode=\"x/x\" flags=\"S3\" />
</elementmap>
";

pub(super) fn main() -> ExitCode {
    code(run())
}

fn run() -> Done {
    let Some(given) = TOOL.given()? else {
        return Ok(());
    };
    let (mut components, mut map) = (Vec::new(), String::new());
    let (mut links, mut name): (Vec<String>, Option<String>) = (Vec::new(), None);
    let none = Given::default();
    let mut add = |name: Option<String>, source: Source| -> Done {
        let name = name.unwrap_or_else(|| (components.len() + 1).to_string());
        let flat = source.flat(&none, true)?;
        map += &format!("{name}\n");
        let nested = source
            .members
            .iter()
            .find(|member| member.name == "componentmap");
        let nested = nested.map(|member| String::from_utf8_lossy(&member.data).into_owned());
        for inner in nested.unwrap_or_default().split_whitespace() {
            map += &format!("{name}/{inner}\n");
        }
        components.push(Component { name, flat });
        Ok(())
    };
    for (letter, value) in &given.all {
        match letter {
            'n' => name = Some(value.clone()),
            'l' => links.push(value.clone()),
            'f' => add(name.take(), Source::file(value)?)?,
            'e' => add(name.take(), Source::expression(value))?,
            ' ' => match value.split_once([':', '=']) {
                Some((before, _)) if before.contains('.') => links.push(value.clone()),
                Some((before, file)) => {
                    name = None;
                    add(Some(before.to_owned()), Source::file(file)?)?;
                }
                None => add(name.take(), Source::file(value)?)?,
            },
            _ => {}
        }
    }
    if components.is_empty() {
        return Err(fail("click-combine: no routers specified"));
    }
    let (flat, said) = combine(&components, &links);
    tell(&said);
    if said.has_errors() {
        return Err(Failed);
    }
    let member = |name: &str, text: &str| Member {
        name: name.to_owned(),
        data: text.as_bytes().to_vec(),
    };
    let mut members = Vec::new();
    if !given.has('c') {
        if !links.is_empty() {
            members.push(member("elementmap.xml", ELEMENT_MAP));
        }
        members.push(member("componentmap", &map));
    }
    write_config(&given, &flat, &members)
}
