//! `trammel netfpga mirror`: the kernel's routes in a card that runs.

use super::place::Place;
use super::words::{no_room, refused};
use crate::cli::options;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use trammel_card::mirror::Mirror;
use trammel_ground::{DONE, say};

/// Keep the tables of a card as the kernel's routes, neighbours and addresses of nf2c* are
///
/// `ip route`, FRR or BIRD drive the card then as they drive the kernel. What the kernel sends
/// elsewhere, and what a table has no room for, goes to the kernel. Ends when it is interrupted;
/// the tables stay. `trammel netfpga run --mirror` does the same in the card's own process.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel netfpga run --ports eth1,eth2 &\n  trammel netfpga mirror &\n\
                  \u{20} ip route add 10.1.0.0/16 via 10.0.0.2 dev nf2c0"
)]
pub(super) struct Args {
    #[command(flatten)]
    place: Place,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let mut card = args.place.connect()?;
    let mut mirror = Mirror::open(&args.place.prefix).map_err(refused)?;
    let interrupted = options::interrupted()?;
    let is_over = || interrupted.load(Ordering::Relaxed);
    let ran = mirror.run(&mut card, &is_over, |left| say(&no_room(left)));
    ran.map_err(refused)?;
    Ok(ExitCode::from(DONE))
}
