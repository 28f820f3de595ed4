//! Trammel in WebAssembly: predicts and simulates a scenario in a browser or in Node.
//!
//! The module imports nothing. Its host writes the scenario's text into the module's memory, calls
//! it, and reads the answer as JSON ([`answer()`] says what is in it):
//!
//! ```js
//! const { memory, trammel_input, trammel_run, trammel_output } = instance.exports;
//! const text = new TextEncoder().encode(scenario);
//! const input = trammel_input(text.length);
//! new Uint8Array(memory.buffer, input, text.length).set(text);
//! const length = trammel_run();
//! const bytes = new Uint8Array(memory.buffer, trammel_output(), length);
//! const answer = JSON.parse(new TextDecoder().decode(bytes));
//! ```
//! Take a new view of the memory after each call: the memory may have grown. A trap
//! (`WebAssembly.RuntimeError`) is a fault of Trammel; make a new instance after one.
//! `tests/first.mjs` is a whole program.
//!
//! A page that draws while it runs opens a [`session::Session`] by `trammel_open`, goes on by
//! `trammel_step` and `trammel_next`, and ends by `trammel_finish`: the same numbers.

mod answer;
pub mod controls;
pub mod exports;
pub mod session;
pub mod words;

pub use answer::answer;
