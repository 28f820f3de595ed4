#![doc = include_str!("../README.md")]
//!
//! [`load`] opens a library, checks what it says of itself and registers it as a variant, so that
//! `variant = { library = "libmine.so" }` in a scenario means it.
//!
//! A library is code that runs with the rights of this program. Whoever runs a scenario that names
//! one trusts it, as with a `Makefile`. So nothing that serves a page loads any.

mod abi;
mod controller;
mod library;

pub use library::{Error, HEADER, load};
