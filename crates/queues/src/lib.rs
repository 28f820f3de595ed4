#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod aqm;
mod chains;
mod cobalt;
mod fifo;
mod framing;
pub mod idle;
pub mod loss;
mod pie_of_linux;
mod ways;

pub use aqm::{Discipline, Drop, Item, LinkFacts};
pub use loss::{LossModel, Trials};
