//! Where to put chains of network functions: servers, chains, and the placement between them.
//!
//! ```text
//! problem → faults → pieces (split) → first-fit decreasing → local search → outcome
//!                                                                 ↓
//!                                        check (independent) · polling (simulated)
//! ```
//! A chain is cut into equal replicas where one node cannot take it whole, the replicas are put on
//! nodes by decreasing size, and a local search empties servers. Whether a server can take one more
//! replica is asked of `load`, which solves the sharing of the last-level cache first: so a
//! placement never rests on costs that its own neighbours have changed. The lower bound is the
//! proof that fewer servers cannot do, or the gap to it.
//!
//! Everything here is modelled; whether the model of contention holds on a machine is for a
//! measurement to say.
//!
//! Sources: Johnson, "Near-optimal bin packing algorithms" (1973); Martello and Toth, "Lower bounds
//! and reduction procedures for the bin packing problem" (1990); Che, Tung and Wang, "Hierarchical
//! Web Caching Systems" (2002).

pub mod bound;
pub mod check;
mod contention;
pub mod faults;
pub mod headroom;
mod improve;
pub mod load;
pub mod model;
pub mod outcome;
mod pack;
pub mod polling;
pub mod solve;
mod split;
