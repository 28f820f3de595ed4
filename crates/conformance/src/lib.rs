#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod case;
pub mod log;
pub mod measure;
mod mutant;
pub mod page;
mod reader;
mod record;
mod series;
pub mod subject;
pub mod suite;
pub mod verdict;
