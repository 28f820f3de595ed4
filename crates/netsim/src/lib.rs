#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod apps;
pub mod experience;
pub mod flow;
pub mod ids;
pub mod link;
pub mod middlebox;
pub mod network;
pub mod packet;
pub mod pcapng;
mod ring;
pub mod stream;
pub mod trace;
pub mod wifi;
pub mod workload;
