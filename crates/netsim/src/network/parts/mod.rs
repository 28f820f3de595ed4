//! The state of a network in named parts; what moves them lies beside this folder.
//!
//! | file | part |
//! | --- | --- |
//! | `apps` | applications and their users |
//! | `agenda` | when each link, medium, device and connection next has something to do |
//! | `event` | rare events: starts, stops, samples |
//! | `routes` | routes, and how far along them a packet crosses at once |
//! | `gather` | links that gather what access links bring |
//! | `lookahead` | links that are crossed ahead of time |
//! | `traffic` | flows, streams, workloads, reading applications |
//! | `reading` | an application that reads in intervals |
//! | `devices` | media, and devices between links |
//! | `observers` | queue samples, captures, the sender that is watched |
//! | `standstill` | whether time goes on |

pub(super) mod agenda;
pub(super) mod apps;
pub(super) mod devices;
pub(super) mod event;
pub(super) mod gather;
pub(super) mod lookahead;
pub(super) mod observers;
pub(super) mod reading;
pub(super) mod routes;
pub(super) mod standstill;
pub(super) mod traffic;
