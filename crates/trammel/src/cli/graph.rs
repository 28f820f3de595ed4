//! `trammel graph`: draws a configuration of the router.

use super::output::out;
use clap::Args as ClapArgs;
use std::process::ExitCode;
use trammel_ground::whole_file;
use trammel_ground::{DONE, USAGE};
use trammel_router::diagram::{Picture, dot, svg};
use trammel_router::{diagnostic, lang};
use trammel_workbench::source::{Files, Source};

/// Draw a router configuration: push ports black, pull ports white, agnostic ones doubled
#[derive(Debug, ClapArgs)]
#[command(after_help = "Example:\n  trammel graph router.click --svg -o router.svg")]
pub(super) struct Args {
    /// The configuration (`-`: standard input)
    #[arg(value_name = "FILE")]
    file: String,
    /// Draw it as SVG (the default)
    #[arg(long, conflicts_with = "dot")]
    svg: bool,
    /// Write a graph for Graphviz' `dot` instead
    #[arg(long)]
    dot: bool,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<String>,
    /// Where to search libraries
    #[arg(short = 'C', long, value_name = "PATH")]
    clickpath: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let source = Source::read(&args.file).map_err(anyhow::Error::msg)?;
    let files = Files::new(args.clickpath.as_deref());
    let options = lang::Options {
        loader: &files,
        expand_definitions: true,
        ..lang::Options::default()
    };
    let (flat, said) = lang::parse(&source.text, &source.name, &options);
    let text = diagnostic::render(&said);
    if !text.is_empty() {
        trammel_ground::say(text.trim_end_matches('\n'));
    }
    if said.has_errors() {
        return Ok(ExitCode::from(USAGE));
    }
    let picture = Picture::of(&flat);
    let drawn = if args.dot {
        dot::dot(&picture)
    } else {
        svg::svg(&picture)
    };
    match args.output.as_deref() {
        None | Some("-") => out(drawn.trim_end_matches('\n')),
        Some(path) => {
            let is_drawing = |bytes: &[u8]| whole_file::starts(bytes, &["<svg", "digraph"]);
            whole_file::may_replace(path.as_ref(), is_drawing)?;
            let written = whole_file::replace(path.as_ref(), drawn.as_bytes());
            written.map_err(|why| anyhow::anyhow!("{path}: {why}"))?;
            Ok(ExitCode::from(DONE))
        }
    }
}
