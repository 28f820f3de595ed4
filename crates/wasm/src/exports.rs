//! What the module exports, in C's calling convention.

// The attribute `unsafe(no_mangle)` promises that no other function is called so; there is no other
// unsafe code.
#![allow(unsafe_code)]

use crate::answer::{self, answer};
use crate::controls::edit;
use crate::session::Session;
use crate::words::words;
use serde_json::json;
use std::sync::{Mutex, PoisonError};
use trammel_transport::embedded::Embedded;
use trammel_wasm_memory::{error, input, put, put_json, request};

static SESSION: Mutex<State> = Mutex::new(State::Idle);

/// What the module is at.
#[derive(Debug)]
enum State {
    Idle,
    Running(Box<Session>),
    Done(Box<Embedded>),
}

/// Does something with what the module is at.
fn with<T>(act: impl FnOnce(&mut State) -> T) -> T {
    act(&mut SESSION.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Predicts and simulates the scenario of the input at once; gives how many bytes of JSON the
/// answer has.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_run() -> usize {
    match input() {
        Ok(text) => put(answer(&text).into_bytes()),
        Err(why) => put_json(&error(&why)),
    }
}

/// Reads the scenario of the input and begins its first run; gives how many bytes of JSON say what
/// it is ([`Session::describe`]), or `error`.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_open() -> usize {
    let session = input().and_then(|text| Session::open(&text));
    with(|state| match session {
        Ok(session) => {
            let described = session.describe();
            *state = State::Running(Box::new(session));
            put_json(&described)
        }
        Err(why) => {
            *state = State::Idle;
            put_json(&error(&why))
        }
    })
}

/// Runs the first run until `until` seconds; gives how many bytes the samples have, numbers of 64
/// bits in the order of the machine ([`Session::step`]).
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_step(until: f64) -> usize {
    let samples = with(|state| match state {
        State::Running(session) => session.step(until),
        _ => Vec::new(),
    });
    put(samples.into_iter().flat_map(f64::to_le_bytes).collect())
}

/// Goes on with what is left for a two-thousandth of a run; gives how many runs are not made yet.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_next() -> usize {
    with(|state| match state {
        State::Running(session) => session.go_on(),
        _ => 0,
    })
}

/// Leaves out the runs that are not made yet, so that `trammel_finish` gives what there is; gives
/// 1 where a run is made, and 0 where there is nothing to give.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_stop() -> usize {
    with(|state| match state {
        State::Running(session) => usize::from(session.stop()),
        _ => 0,
    })
}

/// Makes what runs are left; gives how many bytes of JSON the answer has: that of
/// [`trammel_run`] without the page.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_finish() -> usize {
    with(|state| {
        if let State::Running(session) = std::mem::replace(state, State::Idle) {
            match session.finish() {
                Ok(run) => *state = State::Done(Box::new(run)),
                Err(why) => return put_json(&error(&why)),
            }
        }
        match state {
            State::Done(run) => put_json(&answer::of(run)),
            _ => put_json(&error("no scenario is open")),
        }
    })
}

/// Gives how many bytes the page of the finished scenario has; none where there is none.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_report() -> usize {
    put(with(|state| match state {
        State::Done(run) => answer::report(run).into_bytes(),
        _ => Vec::new(),
    }))
}

/// Changes keys of a scenario's text: the input is a JSON object with `text` and `changes`
/// ([`edit`]); gives how many bytes of JSON the new `text` or the `error` has.
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_edit() -> usize {
    let edited = request().and_then(|request| {
        let text = request["text"].as_str().unwrap_or_default();
        edit(text, &request["changes"])
    });
    put_json(&match edited {
        Ok(text) => json!({ "text": text }),
        Err(why) => error(&why),
    })
}

/// Gives how many bytes of JSON say which names a scenario may use ([`words`]).
#[cfg_attr(target_family = "wasm", unsafe(no_mangle))]
pub extern "C" fn trammel_words() -> usize {
    put_json(&words())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;
    use trammel_wasm_memory::{give, taken};

    // The buffers are the module's own, so one test goes through all exports.
    #[test]
    fn a_session_goes_from_a_text_to_its_page() {
        let json = |length| serde_json::from_slice::<Value>(&taken(length)).unwrap();

        give(&[0xff, 0xfe]);
        assert_eq!(
            taken(trammel_run()),
            br#"{"error":"the input is not text in UTF-8"}"#
        );
        assert_eq!(json(trammel_finish())["error"], "no scenario is open");
        assert_eq!(trammel_step(1.0), 0);
        assert_eq!(trammel_report(), 0);

        let text = "duration = \"2 s\"\nrepeat = 2\n[path]\nrate = \"10 Mbit/s\"\n\
                    rtt = \"20 ms\"\n[[flow]]\nvariant = \"reno\"\n";
        give(text.as_bytes());
        let whole = json(trammel_run());
        give(
            json!({ "text": text, "changes": [["path.rtt", "20 ms"]] })
                .to_string()
                .as_bytes(),
        );
        assert_eq!(json(trammel_edit())["text"], text);
        give(text.as_bytes());
        let opened = json(trammel_open());
        assert_eq!(opened["runs"], 2);
        assert_eq!(opened["controls"]["rate_mbps"], 10.0);
        let samples = trammel_step(1.0) / 8;
        assert_eq!(
            samples,
            1000 * (1 + 10 + 4),
            "two thousand looks in two seconds"
        );
        assert!(trammel_step(9.0) > 0);
        assert_eq!(trammel_step(9.0), 0);
        assert_eq!(trammel_next(), 1);
        assert_eq!(trammel_next(), 1, "a piece of the second");
        let done = json(trammel_finish());
        assert_eq!(done["tables"], whole["tables"]);
        assert_eq!(done["answer"], whole["answer"]);
        assert_eq!(
            taken(trammel_report()),
            whole["report"].as_str().unwrap().as_bytes()
        );

        // A reader who does not wait has the first run.
        give(text.as_bytes());
        assert_eq!(json(trammel_open())["packets"], 2.0 * 2.0 * 10e6 / 12_000.0);
        let mut pieces = 1;
        while trammel_next() > 1 {
            pieces += 1;
        }
        assert_eq!(pieces, 2000);
        assert_eq!(trammel_stop(), 1);
        let stopped = json(trammel_finish());
        let flows = stopped["tables"]["flows"].as_str().unwrap();
        assert_eq!(flows.lines().count(), 2, "{flows}");
        assert!(stopped["error"].as_str().unwrap().contains("stopped"));
        assert_eq!(trammel_stop(), 0);
        assert!(json(trammel_words())["variants"].as_array().unwrap().len() > 10);
    }
}
