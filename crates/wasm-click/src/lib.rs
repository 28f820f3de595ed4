//! Trammel's router in WebAssembly, for a page about Click configurations: the drawing, an estimate
//! for a machine, and a packet's way.
//!
//! The module imports nothing. Its host writes a request as JSON into the module's memory
//! (`trammel_input`), calls `trammel_configuration`, and reads the answer
//! ([`configuration::configuration`] says what is in both).

// The attribute `unsafe(no_mangle)` promises that no other function is called so; there is no other
// unsafe code.
#![allow(unsafe_code)]

pub mod configuration;

use configuration::configuration;
use trammel_wasm_memory::{error, put_json, request};

/// Answers the request of the input; gives how many bytes of JSON the answer has.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_configuration() -> usize {
    put_json(&match request() {
        Ok(request) => configuration(&request),
        Err(why) => error(&why),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_wasm_memory::{give, taken};

    #[test]
    fn what_is_no_request_is_an_error() {
        give(b"{");
        let answer = taken(trammel_configuration());
        let answer: serde_json::Value = serde_json::from_slice(&answer).unwrap();
        assert!(
            answer["error"].as_str().unwrap().contains("no JSON"),
            "{answer}"
        );
    }
}
