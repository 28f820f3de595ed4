//! The options of `trammel router`, which are those of `click`, and running a configuration by
//! them.

use super::fitted::fitted;
use super::machine::Machine;
use super::watch::{self, Watch};
use super::written::{self, incomplete, is_full};
use clap::Args;
use std::io::{self, IsTerminal, Write};
use std::net::SocketAddr;
use std::path::Path;
use trammel_ground::whole_file;
use trammel_local_http::address;
use trammel_openmetrics::server::{self, Latest};
use trammel_packet::timestamp::Timestamp;
use trammel_router::args::text::is_word;
use trammel_router::diagnostic::Diagnostics;
use trammel_router::engine;
use trammel_router::engine::Ctx;
use trammel_router::engine::clock::VIRTUAL_START;
use trammel_router::engine::driver::Progress;
use trammel_router::engine::handlers::{HandlerRef, NotFound, Owner};
use trammel_router::lang::{self, Libraries, flatten};
use trammel_router::{BuiltIn, load};
use trammel_workbench::measure::Clock;
use trammel_workbench::refine::file as counted;
use trammel_workbench::source::{Files, Source, os_text};

/// Runs a router configuration in Click's language.
#[derive(Args, Clone, Debug, Default)]
#[command(disable_help_flag = true, disable_version_flag = true)]
pub struct Options {
    /// The configuration's file (`-` or none: standard input), and `NAME=value` for its variables
    #[arg(value_name = "FILE | NAME=VALUE")]
    pub arguments: Vec<String>,
    /// Read the configuration from FILE
    #[arg(short = 'f', long, value_name = "FILE")]
    pub file: Option<String>,
    /// Use EXPR as the configuration
    #[arg(short = 'e', long, value_name = "EXPR", allow_hyphen_values = true)]
    pub expression: Option<String>,
    /// Start N threads
    #[arg(short = 'j', long, value_name = "N", default_value = "1")]
    pub threads: usize,
    /// Bind threads to processors, from N on
    #[arg(
        short = 'a', long, value_name = "N", num_args = 0..=1, require_equals = true,
        default_missing_value = "0"
    )]
    pub affinity: Option<usize>,
    /// Do not bind threads to processors
    #[arg(long)]
    pub no_affinity: bool,
    /// Listen for control connections on TCP port PORT of 127.0.0.1, which every user of this
    /// machine can reach: prefer `-u`, or give `--key`; `PORT+` takes the next free one
    #[arg(short = 'p', long, value_name = "PORT")]
    pub port: Vec<String>,
    /// Listen for control connections on a UNIX socket, for this user only
    #[arg(short = 'u', long, value_name = "FILE")]
    pub unix_socket: Vec<String>,
    /// Speak the control protocol on this descriptor
    #[arg(long, value_name = "FD")]
    pub socket: Vec<String>,
    /// Serve only control connections that authenticate with the key in FILE
    #[arg(long, value_name = "FILE")]
    pub key: Option<String>,
    /// Let control connections name files in DIR; without it they cannot name files
    #[arg(long, value_name = "DIR")]
    pub control_folder: Option<String>,
    /// Provide the handler `hotconfig`, which replaces the configuration
    #[arg(short = 'R', long)]
    pub allow_reconfigure: bool,
    /// Print ELEMENT's read handler H after the run
    #[arg(short = 'h', long, value_name = "ELEMENT.H")]
    pub handler: Vec<String>,
    /// Exit with the value of ELEMENT.H
    #[arg(short = 'x', long, value_name = "ELEMENT.H")]
    pub exit_handler: Option<String>,
    /// Write the flat configuration to FILE
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<String>,
    /// Do not run
    #[arg(short = 'q', long)]
    pub quit: bool,
    /// Print how long the run took
    #[arg(short = 't', long)]
    pub time: bool,
    /// Do not print warnings
    #[arg(short = 'w', long)]
    pub no_warnings: bool,
    /// Run in virtual time, from T
    #[arg(
        long, value_name = "T", num_args = 0..=1, require_equals = true, default_missing_value = ""
    )]
    pub simtime: Option<String>,
    /// Where to search libraries
    #[arg(short = 'C', long, value_name = "PATH")]
    pub clickpath: Option<String>,
    /// The seed of all random numbers
    #[arg(long, value_name = "N", default_value = "1")]
    pub seed: u64,
    /// Trace the first N packets and print the path of each and why it ended
    #[arg(long, value_name = "N", default_value = "0")]
    pub trace: u16,
    /// Write the traced packets to a pcapng FILE, each with its path as a comment
    #[arg(long, value_name = "FILE", requires = "trace")]
    pub trace_file: Option<std::path::PathBuf>,
    /// Print the counters of each element after the run
    #[arg(long)]
    pub statistics: bool,
    /// Print it as JSON on standard output instead
    #[arg(long)]
    pub statistics_json: bool,
    /// Write the counters of each element to FILE after the run, for `trammel estimate --refine`
    #[arg(long, value_name = "FILE", conflicts_with = "quit")]
    pub counters: Option<std::path::PathBuf>,
    /// Show the counters on the terminal while it runs
    #[arg(long)]
    pub live: bool,
    /// Serve the counters as OpenMetrics at this port of 127.0.0.1, or at this address
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = address::read)]
    pub metrics: Option<SocketAddr>,
    /// Print this message
    #[arg(long, action = clap::ArgAction::Help)]
    pub help: Option<bool>,
}

/// What a run comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Everything was done; the value is the exit handler's.
    Well(u8),
    /// A handler could not be read.
    HandlerFailed,
    /// The configuration is wrong.
    Refused,
    /// The machine lacks something that the configuration needs.
    Unsupported,
    /// A signal ended it.
    Interrupted,
}

impl Options {
    /// Splits the arguments into the file's name and variables.
    pub fn variables(&self) -> (Option<&str>, Vec<(String, String)>) {
        let (mut file, mut variables) = (self.file.as_deref(), Vec::new());
        for argument in &self.arguments {
            match argument.split_once('=') {
                Some((name, value)) if is_word(name) => {
                    variables.push((name.to_owned(), value.to_owned()));
                }
                _ => file = Some(argument),
            }
        }
        (file, variables)
    }

    /// The configuration.
    pub fn source(&self) -> Result<Source, String> {
        if let Some(text) = &self.expression {
            return Ok(Source {
                text: text.clone(),
                name: "config".to_owned(),
            });
        }
        Source::read(self.variables().0.unwrap_or("-"))
    }

    /// The configuration's file as it is now.
    fn read_again(&self) -> Result<Source, String> {
        match (&self.expression, self.variables().0) {
            (None, Some(file)) if file != "-" => Source::read(file),
            _ => Err(
                "the configuration did not come from a file, so it cannot be reloaded".to_owned(),
            ),
        }
    }

    fn run_options(&self) -> Result<engine::Options, String> {
        let start = match self.simtime.as_deref() {
            None => None,
            Some("") => Some(VIRTUAL_START),
            Some(text) => {
                Some(Timestamp::from_secs_f64(text.parse().map_err(|_| {
                    format!("--simtime: `{text}` is no time in seconds")
                })?))
            }
        };
        Ok(engine::Options {
            virtual_time: start,
            seed: self.seed,
            reconfigurable: self.allow_reconfigure,
            threads: self.threads.max(1),
            processor: self.affinity.filter(|_| !self.no_affinity),
            additions: self.additions(),
            definitions: self.variables().1,
            libraries: Libraries::new(Files::new(self.clickpath.as_deref())),
            control_folder: self.control_folder.clone(),
            profiled: self.statistics
                || self.statistics_json
                || self.live
                || self.metrics.is_some()
                || self.counters.is_some(),
            ..engine::Options::default()
        })
    }

    /// Further elements that the options ask for: a `ControlSocket` for each port.
    fn additions(&self) -> String {
        let sides = [
            ("tcp", &self.port),
            ("unix", &self.unix_socket),
            ("socket", &self.socket),
        ];
        let all = sides
            .iter()
            .flat_map(|(kind, values)| values.iter().map(move |v| (kind, v)));
        let elements = all.enumerate().map(|(at, (kind, value))| {
            let number = if at == 0 {
                String::new()
            } else {
                format!("@{}", at + 1)
            };
            let key = self.key.as_deref().map(|path| {
                let path = trammel_router::args::text::quote(path.as_bytes());
                format!(", KEY {path}")
            });
            let key = key.unwrap_or_default();
            format!("\nclick_driver@@ControlSocket{number} :: ControlSocket({kind}, {value}{key});")
        });
        elements.collect()
    }

    /// Loads and runs the configuration. `tell` gets what is wrong with it.
    pub fn run(&self, tell: &mut dyn FnMut(&Source, &Diagnostics)) -> Result<Ended, String> {
        let source = self.source()?;
        if let Some(path) = &self.counters {
            may_replace(path, |bytes| whole_file::starts(bytes, &[counted::FIRST]))?;
        }
        if let Some(path) = &self.trace_file {
            // The section header of pcapng.
            may_replace(path, |bytes| bytes.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]))?;
        }
        let (_, variables) = self.variables();
        let files = Files::new(self.clickpath.as_deref());
        let options = lang::Options {
            definitions: &variables,
            loader: &files,
            classes: Some(&BuiltIn),
            ..lang::Options::default()
        };
        let machine = Machine::new().map_err(|e| e.to_string())?;
        let loaded = load(
            &source.text,
            &source.name,
            &options,
            Box::new(machine),
            self.run_options()?,
        );
        let mut ctx = match loaded {
            Ok((ctx, said)) => {
                if !self.no_warnings {
                    tell(&source, &said);
                }
                ctx
            }
            Err(refused) => {
                tell(&source, &refused.said);
                return Ok(if refused.lacks {
                    Ended::Unsupported
                } else {
                    Ended::Refused
                });
            }
        };
        if let Some(path) = &self.output {
            let flat = flatten::router(ctx.flat());
            let written = match path.as_str() {
                "-" => trammel_ground::stdout().write_all(flat.as_bytes()),
                path => {
                    // What is flat already is what this wrote.
                    may_replace(path.as_ref(), |bytes| is_flat(bytes, path))?;
                    whole_file::replace(path.as_ref(), flat.as_bytes())
                }
            };
            match written {
                Err(why) if path == "-" => {
                    return Err(format!(
                        "standard output cannot be written: {why}; send it elsewhere, or give `-o \
                         FILE`"
                    ));
                }
                Err(why) => return not_written(path, &why),
                Ok(()) => {}
            }
        }
        let mut ended = Ended::Well(0);
        let is_empty = ctx.elements() == 0;
        if is_empty && !self.quit && !self.no_warnings {
            let mut said = Diagnostics::new();
            let text = format!("{}: configuration has no elements, exiting", source.name);
            said.warning(None, text);
            tell(&source, &said);
        }
        if !self.quit && !is_empty {
            if self.trace > 0 && ctx.is_shared() {
                return Err("--trace follows packets on one thread: leave `-j` out".to_owned());
            }
            Machine::watch_ends().map_err(|e| e.to_string())?;
            let start = std::time::Instant::now();
            let cpu = ctx.host().cpu_ns();
            let metrics = self.metrics.map(|_| Latest::default());
            if let (Some(address), Some(page)) = (self.metrics, metrics.clone()) {
                // Who asks before anything ran gets a page too: one without its end is none.
                page.set(watch::metrics(&ctx));
                let server = match server::start(address, move || page.get()) {
                    Ok(server) => server,
                    Err(why) => {
                        let (what, mend) = server::refused(address, &why);
                        trammel_ground::say(&format!("error: {what}; {mend}"));
                        return Ok(Ended::Unsupported);
                    }
                };
                let at = server.address();
                ctx.host().say(&format!("metrics: http://{at}/metrics\n"));
            }
            let watch = (self.trace > 0).then(|| Watch::start(&mut ctx, self.trace));
            let progress;
            (ctx, progress) = drive(ctx, self.live, metrics.as_ref(), &|| self.read_again());
            if let Some(watch) = watch {
                for line in watch.lines(&ctx) {
                    ctx.host().say(&(line + "\n"));
                }
                if let Some(path) = &self.trace_file
                    && let Err(why) = watch.save(&ctx, path)
                {
                    return not_written(&path.display().to_string(), &why);
                }
            }
            if self.statistics {
                let text = watch::statistics(&ctx);
                ctx.host().say(&text);
            }
            if self.statistics_json {
                let text = watch::json(&ctx);
                ctx.host().print(&text);
            }
            if let Some(path) = &self.counters
                && let Err(why) = save_counters(&ctx, &source.name, path)
            {
                return not_written(&path.display().to_string(), &why);
            }
            if progress == Progress::Interrupted {
                ended = Ended::Interrupted;
            }
            if self.time {
                let real = start.elapsed().as_secs_f64();
                let cpu = (ctx.host().cpu_ns() - cpu) as f64 / 1e9;
                ctx.host().print(&format!("{cpu:.3}u {real:.3}real\n"));
            }
        }
        if !self.handlers(&mut ctx) {
            ended = Ended::HandlerFailed;
        }
        if let Some(name) = &self.exit_handler
            && ended == Ended::Well(0)
        {
            ended = Ended::Well(exit_value(&mut ctx, name));
        }
        ctx.cleanup();
        drop(ctx);
        if ended == Ended::Well(0) && written::any_lost() {
            ended = Ended::Unsupported;
        }
        Ok(ended)
    }

    /// Prints the handlers asked for; says whether all could be read.
    fn handlers(&self, ctx: &mut Ctx) -> bool {
        let mut well = true;
        let mut found: Vec<(String, HandlerRef)> = Vec::new();
        let mut many = self.handler.len() > 1;
        for name in &self.handler {
            let all = expand(ctx, name);
            many |= all.len() > 1 || all.iter().any(|full| full != name);
            for full in all {
                match ctx.find_handler(&full, None) {
                    Ok(of) if of.handler.read && !of.handler.private => found.push((full, of)),
                    Ok(of) => {
                        let text = if of.handler.write && !of.handler.private {
                            format!("'{full}' is a write handler\n")
                        } else {
                            format!("no '{full}' handler\n")
                        };
                        ctx.host().say(&text);
                        well = false;
                    }
                    Err(why) => {
                        let text = match why {
                            NotFound::Element(name) => format!("no element '{name}'\n"),
                            NotFound::Handler(name) => format!("no '{name}' handler\n"),
                        };
                        ctx.host().say(&text);
                        well = false;
                    }
                }
            }
        }
        for (name, of) in found {
            match ctx.read_handler(&of, "") {
                Ok(mut value) => {
                    if !value.ends_with('\n') && !of.handler.raw && !value.is_empty() {
                        value.push('\n');
                    }
                    let text = if many {
                        format!("{name}:\n{value}\n")
                    } else {
                        value
                    };
                    ctx.host().print(&text);
                }
                Err(why) => {
                    ctx.host().say(&format!("{name}: {why}\n"));
                    well = false;
                }
            }
        }
        well
    }
}

fn may_replace(path: &Path, is_ours: impl Fn(&[u8]) -> bool) -> Result<(), String> {
    whole_file::may_replace(path, is_ours).map_err(|why| format!("{why:#}"))
}

/// Whether `bytes` are a configuration that flattening leaves as it is.
fn is_flat(bytes: &[u8], name: &str) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| {
        let (flat, said) = lang::parse(text, name, &lang::Options::default());
        !said.has_errors() && flatten::router(&flat) == text
    })
}

/// Writes what was counted: the file is what it was, or whole.
fn save_counters(ctx: &Ctx, configuration: &str, path: &Path) -> io::Result<()> {
    let processor = trammel_ground::machine::processor();
    let text = counted::write(ctx, configuration, &processor, &Clock::measure());
    whole_file::replace(path, text.as_bytes())
}

/// Whether this process has a terminal that is still there.
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

/// How often the counters are shown, in nanoseconds of the router's clock.
const SHOWN_EVERY: Timestamp = Timestamp(500_000_000);

/// Runs until it ends; a configuration that is replaced goes on in the new one. Meanwhile the
/// counters are shown where that was asked.
///
/// On SIGHUP the configuration is what `again` gives, where that is right; where the terminal is
/// gone, the run ends.
pub fn drive(
    mut ctx: Ctx,
    live: bool,
    metrics: Option<&Latest>,
    again: &dyn Fn() -> Result<Source, String>,
) -> (Ctx, Progress) {
    let is_watched = live || metrics.is_some();
    let had_terminal = has_terminal();
    loop {
        let until = is_watched.then(|| ctx.now() + SHOWN_EVERY);
        let progress = ctx.run_until(until);
        if let Some(metrics) = metrics {
            metrics.set(watch::metrics(&ctx));
        }
        if live && io::stderr().is_terminal() {
            // From the top of a cleared screen.
            let shown = fitted(&watch::rows(&ctx), trammel_io::machine::terminal_size());
            ctx.host().say(&format!("\x1b[H\x1b[J{shown}"));
        }
        match progress {
            Progress::Running => {}
            Progress::Reload if had_terminal && !has_terminal() => {
                return (ctx, Progress::Interrupted);
            }
            Progress::Reload => {
                let read = again();
                let done = read.and_then(|source| ctx.reload(&source.text, &source.name));
                let text = match done {
                    Ok(()) => "SIGHUP: the configuration is read again\n".to_owned(),
                    Err(why) => format!("{why}\nSIGHUP: the configuration stays as it was\n"),
                };
                ctx.host().say(&text);
            }
            Progress::Replaced => ctx.change_over(),
            progress => return (ctx, progress),
        }
    }
}

/// The handlers that a name with a pattern or a class before the point means.
fn expand(ctx: &Ctx, name: &str) -> Vec<String> {
    let Some((element, handler)) = name.split_once('.') else {
        return vec![name.to_owned()];
    };
    if ctx.find(element, None).is_some() {
        return vec![name.to_owned()];
    }
    let is_pattern = element.contains(['*', '?', '[']);
    let all = (0..ctx.elements()).filter(|id| {
        if is_pattern {
            matches(element, ctx.name(*id))
        } else {
            ctx.class(*id) == element
        }
    });
    let with = all.map(|id| (id, format!("{}.{handler}", ctx.name(id))));
    let has = |id: usize| {
        ctx.handlers_of(Owner::Element(id))
            .iter()
            .any(|h| h.name == handler && h.read)
    };
    let found: Vec<String> = with
        .filter(|(id, _)| has(*id))
        .map(|(_, name)| name)
        .collect();
    if found.is_empty() {
        vec![name.to_owned()]
    } else {
        found
    }
}

/// Whether `text` matches a pattern of `*` and `?`.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t, mut back) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                back = Some((p + 1, t));
                p += 1;
            }
            Some(c) if *c == '?' || *c == text[t] => (p, t) = (p + 1, t + 1),
            _ => match back {
                Some((star, from)) => {
                    back = Some((star, from + 1));
                    (p, t) = (star, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

/// What a file that the command line names and that cannot be written comes to: a full disk is the
/// machine's lack.
fn not_written(path: &str, why: &io::Error) -> Result<Ended, String> {
    if !is_full(why) {
        return Err(format!("{path}: {}", os_text(why)));
    }
    trammel_ground::say(&format!("error: {}", incomplete(path, why)));
    Ok(Ended::Unsupported)
}

fn exit_value(ctx: &mut Ctx, name: &str) -> u8 {
    let of = match ctx.find_handler(name, None) {
        Ok(of) if of.handler.read => of,
        Ok(_) | Err(NotFound::Handler(_)) => {
            ctx.host().say(&format!("no '{name}' read handler\n"));
            return 255;
        }
        Err(NotFound::Element(_)) => return 255,
    };
    let value = ctx.read_handler(&of, "").unwrap_or_default();
    match value.trim() {
        "true" => 0,
        "false" => 1,
        text => text.parse::<i64>().map_or(255, |value| value as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        for (pattern, text, is) in [
            ("*", "a", true),
            ("a*c", "abbc", true),
            ("a?c", "abbc", false),
            ("c*", "ac", false),
            ("*/q", "x/q", true),
        ] {
            assert_eq!(matches(pattern, text), is, "{pattern} {text}");
        }
    }
}
