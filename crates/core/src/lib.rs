#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod doc;
pub mod ecn;
pub mod entry;
pub mod events;
pub mod family;
pub mod label;
pub mod raised;
pub mod rng;
pub mod schedule;
pub mod slots;
pub mod time;
pub mod token_bucket;
pub mod units;

pub use ecn::Ecn;
pub use entry::{About, Kind, Param, Params, Value};
pub use events::EventQueue;
pub use label::Label;
pub use rng::Rng;
pub use time::{Span, Time};
pub use token_bucket::TokenBucket;
pub use units::{Quantity, Rate, TxTime};
