//! The memory that a module for WebAssembly shares with its host.
//!
//! The host writes into a buffer that the module owns and reads from another one: no pointer and no
//! length comes back from it, so no mistake of the host can make the module touch memory that is
//! not its own.
//!
//! A panic traps, after which an instance is in an unknown state. Its words stay in the memory:
//! [`trammel_fault`] gives them.

// The attribute `unsafe(no_mangle)` promises that no other function is called so; there is no other
// unsafe code.
#![allow(unsafe_code)]

use serde_json::{Value, json};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

static INPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static OUTPUT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static FAULT: Mutex<String> = Mutex::new(String::new());
static HOOK: Once = Once::new();

fn locked<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for an input of `length` bytes of UTF-8; gives where they go.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_input(length: usize) -> *mut u8 {
    // Elsewhere a panic is told by whoever catches it.
    if cfg!(target_family = "wasm") {
        HOOK.call_once(|| {
            std::panic::set_hook(Box::new(|panic| *locked(&FAULT) = panic.to_string()));
        });
    }
    let mut input = locked(&INPUT);
    input.clear();
    input.resize(length, 0);
    input.as_mut_ptr()
}

/// Where the last output begins; it stays until the next call.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_output() -> *const u8 {
    locked(&OUTPUT).as_ptr()
}

/// After a trap: puts out what the panic said; gives how many bytes that has.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_fault() -> usize {
    put(locked(&FAULT).clone().into_bytes())
}

/// Puts `bytes` out; gives how many they are.
pub fn put(bytes: Vec<u8>) -> usize {
    let mut output = locked(&OUTPUT);
    *output = bytes;
    output.len()
}

/// Puts `value` out as JSON; gives how many bytes that has.
pub fn put_json(value: &Value) -> usize {
    put(value.to_string().into_bytes())
}

/// What says that something came to nothing: an object with `error`.
pub fn error(why: &str) -> Value {
    json!({ "error": why })
}

/// The input as text; the error is a sentence.
pub fn input() -> Result<String, String> {
    let text = String::from_utf8(locked(&INPUT).clone());
    text.map_err(|_| "the input is not text in UTF-8".to_owned())
}

/// The input as JSON; the error is a sentence.
pub fn request() -> Result<Value, String> {
    serde_json::from_str(&input()?).map_err(|why| format!("the input is no JSON: {why}"))
}

/// Does what a host does, in tests: writes the input.
pub fn give(bytes: &[u8]) {
    assert!(!trammel_input(bytes.len()).is_null());
    locked(&INPUT).copy_from_slice(bytes);
}

/// Does what a host does, in tests: reads an output of so many bytes.
pub fn taken(length: usize) -> Vec<u8> {
    assert!(!trammel_output().is_null());
    let output = locked(&OUTPUT).clone();
    assert_eq!(output.len(), length, "the output is as long as was said");
    output
}
