#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod aqm;
mod fifo;
pub mod loss;

pub use aqm::{Discipline, Drop, Item, LinkFacts};
pub use loss::{LossModel, Trials};
