//! Which card is meant: by its socket, or by the names of its host interfaces.

use super::words::refused;
use std::path::PathBuf;
use trammel_card::Client;
use trammel_card::live::usual_socket;

/// The card.
#[derive(Debug, clap::Args)]
pub(super) struct Place {
    /// What the names of the card's host interfaces begin with
    #[arg(long, value_name = "NAME", default_value = "nf2c")]
    pub(super) prefix: String,
    /// Socket of the registers [default: trammel-PREFIX.registers in $XDG_RUNTIME_DIR, or in /run]
    #[arg(long, value_name = "PATH")]
    socket: Option<PathBuf>,
}

impl Place {
    /// The path of its register socket.
    pub(super) fn socket(&self) -> PathBuf {
        let usual = || usual_socket(&self.prefix, "registers");
        self.socket.clone().unwrap_or_else(usual)
    }

    /// Connects to its registers.
    pub(super) fn connect(&self) -> anyhow::Result<Client> {
        Client::connect(&self.socket()).map_err(refused)
    }
}
