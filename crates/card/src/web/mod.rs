//! The web page of a card: what it counts, its tables and its control software, to look at and to
//! edit.
//!
//! [`Site`] takes bytes of requests and gives bytes of answers. It has no socket, no clock and no
//! thread. Its page is embedded: nothing is loaded from elsewhere.

mod edit;
mod events;
mod gate;
mod history;
mod refusal;
mod response;
mod site;
mod software;
mod state;
mod window;

pub use site::{Card, Site};
