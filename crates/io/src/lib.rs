#![doc = include_str!("../README.md")]
//!
//! Devices: [`afpacket`], [`afxdp`], [`tap`], and [`ring`], in which the kernel has no part.
//! [`netns`] makes the networks that they are tested in; [`netlink`] configures and follows the
//! kernel's tables.
#![cfg(target_os = "linux")]

pub mod accept;
pub mod afpacket;
pub mod afxdp;
pub mod bpf;
pub mod capture;
pub mod clock;
mod configure;
pub mod cutting;
pub mod datagrams;
pub mod departures;
pub mod error;
pub mod ethtool;
pub mod files;
pub mod held;
pub mod icmp;
mod intake;
pub mod interfaces;
pub mod live;
pub mod local;
pub mod machine;
pub mod netlink;
pub mod netns;
pub mod offload;
mod packet_ring;
mod packet_send;
pub mod poll;
pub mod program;
pub mod qdisc;
pub mod reach;
pub mod ring;
pub mod route;
pub mod rtnetlink;
pub mod signals;
pub mod socket;
pub mod stamper;
mod sys;
pub mod tap;
pub mod tcp;
mod xsk;

pub use afpacket::AfPacket;
pub use error::{Error, Result};
pub use netlink::Socket;
pub use netns::Namespace;
pub use ring::RingEnd;
pub use tap::Tap;
