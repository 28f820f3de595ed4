//! Plug-ins in Python: classes that take part in runs as the built-in ones do.
//!
//! | file | what |
//! | --- | --- |
//! | `register` | puts a class among the entries of its family |
//! | `class` | the classes that are known, and objects of them |
//! | `call` | a call into Python from a thread of the engines |
//! | `control`, `sender`, `samples` | congestion controls: hooks, the sender's state, what they are told |
//! | `block` | numbers that come by the block |
//! | `loss`, `law`, `queue` | loss models, laws of gaps and sizes, queue disciplines |

mod block;
pub(crate) mod call;
mod class;
mod control;
mod law;
mod loss;
mod queue;
pub(crate) mod register;
pub(crate) mod samples;
pub(crate) mod sender;

pub(crate) use call::{UnderWay, leave_threads};
pub(crate) use class::used_by;
pub(crate) use queue::{Packet, Waiting};
