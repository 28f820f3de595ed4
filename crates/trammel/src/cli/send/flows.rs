//! The flows that `trammel send` is told: that of its own words, or those of a script.

use super::{Args, FlowArgs};
use anyhow::{Context, anyhow};
use clap::{CommandFactory, Parser};
use trammel_streams::script;
use trammel_streams::script::Line;
use trammel_streams::send::{Batch, SendJob};
use trammel_traffic::stream::Stream;

/// A line of a script.
#[derive(Debug, Parser)]
#[command(
    name = "flow",
    no_binary_name = true,
    disable_help_flag = true,
    disable_version_flag = true
)]
struct Words {
    /// Receiver, where it is not that of the command
    #[arg(long, value_name = "HOST")]
    to: Option<String>,
    #[command(flatten)]
    flow: FlowArgs,
}

/// A flow.
#[derive(Debug)]
pub(super) struct Planned {
    pub(super) to: String,
    pub(super) port: u16,
    pub(super) stream: Stream,
}

/// The flow that `words` tell, which goes to `to` unless they name another receiver, and is the one
/// at `place` from 0.
pub(super) fn planned(words: &str, to: Option<&str>, place: usize) -> Result<Planned, String> {
    let words = script::words(words)?;
    let words = Words::try_parse_from(words).map_err(|error| short(&error))?;
    let to = words.to.as_deref().or(to);
    let to =
        to.ok_or("no receiver; give `--to HOST` on the line, or a host on the command line")?;
    Ok(Planned {
        to: to.to_owned(),
        port: words.flow.port,
        stream: words.flow.stream(place).map_err(|why| format!("{why:#}"))?,
    })
}

/// What the parser says, in one line.
fn short(error: &clap::Error) -> String {
    let text = error.to_string();
    let parts = text
        .lines()
        .take_while(|line| !line.starts_with("Usage:") && !line.starts_with("For more"))
        .map(|line| line.trim().trim_start_matches("error: "))
        .filter(|line| !line.is_empty());
    parts.collect::<Vec<_>>().join("; ")
}

/// The script's name and lines.
pub(super) fn script(args: &Args) -> anyhow::Result<Option<(String, Vec<Line>)>> {
    let Some(path) = &args.script else {
        return Ok(None);
    };
    let name = path.display().to_string();
    let text = std::fs::read_to_string(path);
    let text = text.map_err(|why| anyhow!("`{name}` cannot be read: {why}"))?;
    let lines = script::lines(&name, &text)?;
    Ok(Some((name, lines)))
}

/// All flows.
pub(super) fn read(args: &Args) -> anyhow::Result<Vec<Planned>> {
    let comes = args.daemon.waits().then_some("the receiver that comes");
    let to = args.to.as_deref().or(comes);
    let Some((name, lines)) = script(args)? else {
        let to = to.context("where to? give a host")?;
        let each = (0..u64::from(args.flows)).map(|at| {
            let mut stream = args.flow.stream(0)?;
            stream.seed = stream.seed.wrapping_add(at);
            Ok(Planned {
                to: to.to_owned(),
                port: args.flow.port,
                stream,
            })
        });
        return each.collect();
    };
    let (mut flows, mut wrong) = (Vec::new(), Vec::new());
    for (place, line) in lines.iter().enumerate() {
        match planned(&line.text, to, place) {
            Ok(flow) => flows.push(flow),
            Err(why) => wrong.push((line.number, why)),
        }
    }
    script::all_right(&name, wrong)?;
    Ok(flows)
}

/// A batch for each receiver, in the order in which they are named first; `job` is how one is sent
/// to.
pub(super) fn batches(
    flows: Vec<Planned>,
    job: &dyn Fn(&str) -> anyhow::Result<SendJob>,
) -> anyhow::Result<Vec<Batch>> {
    let mut batches: Vec<Batch> = Vec::new();
    for flow in flows {
        let new = (flow.stream, flow.port);
        match batches.iter_mut().find(|batch| batch.job.to == flow.to) {
            Some(batch) => batch.flows.push(new),
            None => batches.push(Batch {
                job: job(&flow.to)?,
                flows: vec![new],
                waits: None,
            }),
        }
    }
    Ok(batches)
}

/// The words of the flow that the command line tells, as they were given but for its seed.
pub(super) fn given(flow: &Planned) -> String {
    let command = <Args as clap::Args>::augment_args(clap::Command::new("send"));
    // The name of the program stands before that of the command.
    let given = command.get_matches_from(std::env::args_os().skip(1));
    let seed = format!("--seed={}", flow.stream.seed);
    let mut words = vec!["--to".to_owned(), script::quoted(&flow.to), seed];
    for argument in Words::command().get_arguments() {
        let (id, Some(long)) = (argument.get_id().as_str(), argument.get_long()) else {
            continue;
        };
        let is_given =
            id != "to" && given.value_source(id) == Some(clap::parser::ValueSource::CommandLine);
        if !is_given {
            continue;
        }
        if !argument.get_action().takes_values() {
            words.push(format!("--{long}"));
            continue;
        }
        for value in given.get_raw(id).into_iter().flatten() {
            let value = script::quoted(&value.to_string_lossy());
            words.push(format!("--{long}={value}"));
        }
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_a_flow_or_what_is_wrong_with_it_in_one_line() {
        Words::command().debug_assert();
        let flow = planned("--rate '10 kpps' -n 5 --port 7 # x", Some("a"), 3);
        let flow = flow.expect("it is right");
        assert_eq!((flow.to.as_str(), flow.port, flow.stream.seed), ("a", 7, 4));
        let own = planned("--app voip --to b --seed 9", Some("a"), 3).expect("it is right");
        assert_eq!((own.to.as_str(), own.stream.seed), ("b", 9));
        for (line, said) in [
            ("--rate 5", "--to HOST"),
            ("--to b --rat 5", "--rate"),
            ("--to b", "--rate 1000"),
            ("--to b --rate 5 --log x", "--log"),
            ("--to b --rate 5 -T tpc", "tcp"),
            ("--to b --rate 5 --duration 5m", "--duration"),
            ("--to b --rate 5 --app voip", "--app"),
            ("--to b --rate '5", "no end"),
        ] {
            let wrong = planned(line, None, 0).expect_err("it is wrong");
            assert!(
                wrong.contains(said) && wrong.lines().count() == 1,
                "{line}: {wrong}"
            );
        }
    }
}
