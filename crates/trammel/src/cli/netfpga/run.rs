//! `trammel netfpga run`: a card on this machine.

use super::place::Place;
use super::words::{no_room, refused};
use crate::cli::metrics::CardCounts;
use crate::cli::options;
use anyhow::{Context, ensure};
use clap::ValueEnum;
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use trammel_card::live::{Method, usual_socket};
use trammel_card::tables::{Row, read_rows};
use trammel_card::{Card, Options};
use trammel_control::Config;
use trammel_control::config::{cpuhw, rtable};
use trammel_ground::{DONE, say};
use trammel_netfpga::Device;

/// Bytes of a configuration file, at most.
const LONGEST_FILE: u64 = 1 << 20;

/// How frames of the ports come and go.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum MethodName {
    /// AF_XDP where it loses nothing and the right is there, else a packet socket
    Auto,
    /// AF_XDP; checksums that the kernel left out stay out
    Afxdp,
    /// A packet socket, in user namespaces too
    Afpacket,
}

/// Run a card until it is interrupted
///
/// Nothing but its owner reaches the card, and nothing of it stays. By a packet socket the kernel
/// sees the frames of a port too, so ARP is off on ports without an address while the card runs.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  trammel netfpga run --ports eth1,eth2\n  trammel netfpga run \
                  --ports a,b,c,d --mirror\n  trammel netfpga run --ports a,b --control cpuhw \
                  --rtable rtable"
)]
pub(super) struct Args {
    /// The design: reference-router, reference-nic, reference-switch, …
    #[arg(long, value_name = "DESIGN", default_value = "reference-router")]
    design: String,
    /// Interfaces that are the ports 0, 1, 2 and 3
    #[arg(
        long,
        value_name = "INTERFACES",
        value_delimiter = ',',
        required = true
    )]
    ports: Vec<String>,
    /// How their frames come and go
    #[arg(long, value_enum, default_value = "auto")]
    method: MethodName,
    #[command(flatten)]
    place: Place,
    /// Keep the tables as the kernel's routes, neighbours and addresses of the host interfaces are
    #[arg(long, conflicts_with = "control")]
    mirror: bool,
    /// Run control software on the CPU queues: its interfaces are in this file, as SCONE's
    #[arg(long, value_name = "CPUHW")]
    control: Option<PathBuf>,
    /// Static routes of the control software, as SCONE's
    #[arg(long, value_name = "FILE", requires = "control")]
    rtable: Option<PathBuf>,
    /// Fill the tables from this file, a row in each line as `trammel netfpga table set` takes it;
    /// control software leaves them so
    #[arg(long, value_name = "FILE", conflicts_with = "mirror")]
    tables: Option<PathBuf>,
    /// Offer no sockets: neither registers nor a command line
    #[arg(long, conflicts_with_all = ["socket", "console"])]
    no_sockets: bool,
    /// Make host interfaces beside the control software
    #[arg(long, requires = "control")]
    with_hosts: bool,
    /// Socket of the command line [default: trammel-PREFIX.console beside that of the registers]
    #[arg(long, value_name = "PATH", requires = "control")]
    console: Option<PathBuf>,
    /// Offer the command line by telnet to everybody who reaches this address
    #[arg(long, value_name = "ADDRESS:PORT", requires = "control")]
    telnet: Option<SocketAddr>,
    /// Offer the web page of the card at this port of 127.0.0.1, or at this address; edits need
    /// the token that is printed
    #[arg(long, value_name = "[ADDRESS:]PORT", value_parser = trammel_local_http::address::read)]
    web: Option<SocketAddr>,
    #[command(flatten)]
    metrics: crate::cli::metrics::Args,
}

fn read(path: &Path) -> anyhow::Result<String> {
    let name = path.display();
    let unread = || format!("`{name}` cannot be read");
    let length = fs::metadata(path).with_context(unread)?.len();
    ensure!(
        length <= LONGEST_FILE,
        "`{name}` has {length} bytes: a configuration has at most {LONGEST_FILE}"
    );
    fs::read_to_string(path).with_context(unread)
}

/// The configuration that the two files say.
fn configuration(hardware: &Path, routes: Option<&Path>) -> anyhow::Result<Config> {
    let name = hardware.display().to_string();
    let interfaces = cpuhw::read(&name, &read(hardware)?)?;
    let routes = match routes {
        Some(path) => rtable::read(&path.display().to_string(), &read(path)?, &interfaces)?,
        None => Vec::new(),
    };
    Ok(Config::new(interfaces, routes))
}

/// The rows that a file has.
fn rows(path: &Path) -> anyhow::Result<Vec<Row>> {
    let rows = read_rows(&path.display().to_string(), &read(path)?);
    rows.map_err(anyhow::Error::msg)
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let control = args.control.as_deref();
    let control = control.map(|file| configuration(file, args.rtable.as_deref()));
    let control = control.transpose()?;
    let tables = args.tables.as_deref().map(rows).transpose()?;
    let usual = || usual_socket(&args.place.prefix, "console");
    let options = Options {
        design: args.design.clone(),
        ports: args.ports.clone(),
        method: match args.method {
            MethodName::Auto => Method::Auto,
            MethodName::Afxdp => Method::AfXdp,
            MethodName::Afpacket => Method::AfPacket,
        },
        prefix: args.place.prefix.clone(),
        has_hosts: control.is_none() || args.with_hosts,
        registers: (!args.no_sockets).then(|| args.place.socket()),
        has_mirror: args.mirror,
        console: (control.is_some() && !args.no_sockets)
            .then(|| args.console.clone().unwrap_or_else(usual)),
        control,
        tables,
        telnet: args.telnet,
        web: args.web,
    };
    let interrupted = options::interrupted()?;
    let mut card = Card::open(&options).map_err(refused)?;
    for remark in card.remarks() {
        say(&remark);
    }
    let registers = options.registers.as_ref().map_or_else(
        || "no sockets".to_owned(),
        |path| format!("registers at `{}`", path.display()),
    );
    say(&format!(
        "`{}` runs on {}; {registers}",
        options.design,
        options.ports.join(", ")
    ));
    let counts = args.metrics;
    let counts = counts.serve(|| CardCounts::new(card.design()))?;
    // After all that may be refused: its address would be dead.
    if let Some(page) = card.page() {
        say(&format!("web page: {page}"));
    }
    let is_over = || interrupted.load(Ordering::Relaxed);
    let ran = match counts {
        Some(counts) => {
            let mut look = |device: &mut Device| counts.look(device);
            card.run_watched(&is_over, Some(&mut look))
        }
        None => card.run(&is_over),
    };
    let left = card.left();
    if left != trammel_card::mirror::Left::default() {
        say(&no_room(left));
    }
    ran.map_err(refused)?;
    Ok(ExitCode::from(DONE))
}
