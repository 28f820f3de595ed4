//! Router Kit: the kernel's routes, neighbours and addresses of the host interfaces in the card's
//! tables, so that `ip route`, FRR or BIRD drive the card unchanged.
//!
//! `kernel` has what the kernel tells and makes whole tables of it, without I/O; `follow` has
//! it told by netlink, and writes the rows that differ.

mod follow;
mod kernel;

pub use follow::Mirror;
pub use kernel::Left;
