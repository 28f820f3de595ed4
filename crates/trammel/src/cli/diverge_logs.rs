//! `trammel diverge A.sqlog B.sqlog`: where two logs of congestion controllers part.

use super::diverge::Args;
use super::output::out;
use anyhow::{Context, bail};
use serde_json::{Value, json};
use std::fmt::Write;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use trammel_ground::{DONE, FAILED, print};
use trammel_qlog::diverge::{Compared, Limits, Track, diverge, parting, shown};

/// The part of the larger of two numbers by which they must differ.
const RELATIVE: f64 = 0.1;
/// How long a difference must last by default, milliseconds.
const HOLD_MS: f64 = 10.0;

pub(super) fn run(args: &Args, a: &Path, b: &Path) -> anyhow::Result<ExitCode> {
    let of_scenarios = [
        ("--point", args.point.is_some()),
        ("--flow", args.flow.is_some()),
        ("--until", args.until.is_some()),
        ("--seed", args.seed.is_some()),
        ("--out", args.out.wanted().is_some()),
    ];
    if let Some((option, _)) = of_scenarios.iter().find(|(_, is_given)| *is_given) {
        bail!("`{option}` is for a scenario; two logs take `--tolerance` and `--json`");
    }
    let read = |path: &Path| -> anyhow::Result<Track> {
        let name = || format!("`{}`", path.display());
        let file = File::open(path).with_context(|| format!("{} cannot be read", name()))?;
        Track::read(file).with_context(name)
    };
    let (of_a, of_b) = (read(a)?, read(b)?);
    let hold_ms = args
        .tolerance
        .map_or(HOLD_MS, |span| span.as_secs_f64() * 1e3);
    let limits = Limits {
        relative: RELATIVE,
        hold_ms,
    };
    let all = diverge(&of_a, &of_b, limits);
    if all.is_empty() {
        bail!(
            "`{}` and `{}` tell nothing at the same time that can be compared: a log needs \
             `recovery:metrics_updated` or `recovery:congestion_state_updated`",
            a.display(),
            b.display()
        );
    }
    if args.json {
        print(&format!("{:#}", document(&all, a, b, limits)))?;
    } else {
        out(text(&all, a, b, limits).trim_end())?;
    }
    let code = parting(&all).map_or(DONE, |_| FAILED);
    Ok(ExitCode::from(code))
}

fn text(all: &[Compared], a: &Path, b: &Path, limits: Limits) -> String {
    let mut text = format!("A: {}\nB: {}\n", a.display(), b.display());
    let unit = |one: &Compared| match one.unit {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let line = match parting(all) {
        Some((what, apart)) => format!(
            "they diverge at {:.1} ms: `{}` is {}{} in A and {}{} in B",
            apart.at_ms,
            what.name,
            apart.a,
            unit(what),
            apart.b,
            unit(what)
        ),
        None => "they do not diverge".to_owned(),
    };
    let _ = writeln!(text, "{line}\n");
    let _ = writeln!(
        text,
        "{:18} {:>12} {:>20} {:>20} {:>7} {:>12} {:>12}",
        "", "apart at, ms", "A then", "B then", "apart", "A, mean", "B, mean"
    );
    for one in all {
        let (at, a, b) = match &one.apart {
            Some(apart) => (
                format!("{:.1}", apart.at_ms),
                apart.a.as_str(),
                apart.b.as_str(),
            ),
            None => ("never".to_owned(), "", ""),
        };
        let (of_a, of_b) = one
            .means
            .map_or_else(Default::default, |(a, b)| (shown(a), shown(b)));
        let row = format!(
            "{:18} {at:>12} {a:>20} {b:>20} {:>5.1} % {of_a:>12} {of_b:>12} {}",
            one.name,
            one.share_apart * 100.0,
            one.unit
        );
        let _ = writeln!(text, "{}", row.trim_end());
    }
    let _ = writeln!(
        text,
        "\nNumbers differ from {:.0} % on, and anything must differ for {} ms. Each log begins at \
         its first event.\n\
         bytes_in_flight, pacing_rate and smoothed_rtt do not decide where two logs diverge.",
        limits.relative * 100.0,
        limits.hold_ms
    );
    text
}

fn document(all: &[Compared], a: &Path, b: &Path, limits: Limits) -> Value {
    let apart = |one: &Compared| {
        one.apart
            .as_ref()
            .map(|apart| json!({ "at_ms": apart.at_ms, "a": apart.a, "b": apart.b }))
    };
    let rows = all.iter().map(|one| {
        json!({
            "name": one.name,
            "unit": one.unit,
            "apart": apart(one),
            "share_apart": one.share_apart,
            "mean_a": one.means.map(|means| means.0),
            "mean_b": one.means.map(|means| means.1),
        })
    });
    json!({
        "schema": "trammel/1",
        "a": a.display().to_string(),
        "b": b.display().to_string(),
        "relative": limits.relative,
        "hold_ms": limits.hold_ms,
        "parting": parting(all).map(|(what, _)| json!({ "name": what.name, "apart": apart(what) })),
        "compared": rows.collect::<Vec<_>>(),
    })
}
