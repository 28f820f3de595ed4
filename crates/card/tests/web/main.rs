//! The web page of a card in a real browser.
//!
//! Where there is no browser, the test prints so and does nothing more.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stdout)]

mod browser;
mod page;
mod server;
