//! What the module exports, in C's calling convention.
//!
//! The host writes into a buffer that the module owns and reads from another one: no pointer and no
//! length comes back from it, so no mistake of the host can make the module touch memory that is
//! not its own.

// The attribute `unsafe(no_mangle)` promises that no other function is called so; there is no other
// unsafe code.
#![allow(unsafe_code)]

use crate::answer::{answer, error};
use std::sync::{Mutex, MutexGuard, PoisonError};

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn locked(buffer: &Mutex<Vec<u8>>) -> MutexGuard<'_, Vec<u8>> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for a scenario of `length` bytes of UTF-8; gives where they go.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_input(length: usize) -> *mut u8 {
    let mut input = locked(&INPUT);
    input.clear();
    input.resize(length, 0);
    input.as_mut_ptr()
}

/// Predicts and simulates that scenario; gives how many bytes of JSON the answer has.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_run() -> usize {
    let input = locked(&INPUT);
    let json = match std::str::from_utf8(&input) {
        Ok(text) => answer(text),
        Err(_) => error("the scenario is not text in UTF-8").to_string(),
    };
    let mut output = locked(&OUTPUT);
    *output = json.into_bytes();
    output.len()
}

/// Where the answer begins; it stays until the next run.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_output() -> *const u8 {
    locked(&OUTPUT).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_an_error() {
        assert!(!trammel_input(2).is_null());
        locked(&INPUT).copy_from_slice(&[0xff, 0xfe]);
        let length = trammel_run();
        assert!(!trammel_output().is_null());
        let output = locked(&OUTPUT).clone();
        assert_eq!(output.len(), length);
        assert_eq!(output, br#"{"error":"the scenario is not text in UTF-8"}"#);
    }
}
