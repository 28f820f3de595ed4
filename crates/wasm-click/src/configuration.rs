//! A page for Click configurations: the drawing, an estimate for a machine, and a packet's way.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use trammel_router::diagnostic::{self, Diagnostics};
use trammel_router::diagram::{Picture, svg};
use trammel_router::engine::trace::{Event, Step};
use trammel_router::{BuiltIn, lang};
use trammel_stats::table::Table;
use trammel_workbench::bench::{Bench, Refused};
use trammel_workbench::estimate::{At, Conditions, Error, Subject};
use trammel_workbench::traffic::Traffic;
use trammel_workbench::{machines, samples, view};

/// What the configuration is called in messages.
const NAME: &str = "router.click";
/// Rounds of the driver that a followed packet gets; one that has not ended then waits for what
/// does not come.
const ROUNDS: u64 = 256;
/// Steps of a packet that are told.
const MOST_STEPS: usize = 500;
/// Bytes of an Ethernet frame beyond what is in memory.
const FCS: usize = 4;

/// Answers a request, a JSON object with `text` (the configuration) and, all of them optional:
/// `machine` (a name), `frame_sizes` (bytes, FCS included), `frame` (the followed packet, in
/// hexadecimal) and `inlet` (where it comes in, from 0). Gives a JSON object:
///
/// - `faults`: what is wrong with the configuration, as `trammel check` says it; empty if nothing;
/// - `svg`: the drawing, where the text can be read;
/// - `inlets`: the elements by which packets come in;
/// - `estimate`: `rows` (the table `functions`), `shares` (what each element costs at the first
///   size, as text) and `notes`, or `error`;
/// - `way`: `steps`, each with `element`, `class`, `port`, `how` (`pushed`, `pulled` or why it
///   ended) and `data` (hexadecimal, before the element touches it), or `error`;
/// - `machines`: names and titles of all machines.
pub fn configuration(request: &Value) -> Value {
    let text = request["text"].as_str().unwrap_or_default();
    let options = lang::Options {
        classes: Some(&BuiltIn),
        expand_definitions: true,
        ..lang::Options::default()
    };
    let (flat, said) = lang::parse(text, NAME, &options);
    let mut answer = json!({ "faults": faults(&said), "machines": all_machines() });
    if said.has_errors() {
        return answer;
    }
    answer["svg"] = svg::svg(&Picture::of(&flat)).into();
    let frame = match frame(request) {
        Ok(frame) => frame,
        Err(why) => {
            answer["way"] = json!({ "error": why });
            return answer;
        }
    };
    let bench = match Bench::new(text, NAME, &[], std::slice::from_ref(&frame)) {
        Ok(bench) => bench,
        Err(Refused::Configuration(said)) => {
            answer["faults"] = faults(&said).into();
            return answer;
        }
        Err(Refused::Other(why)) => {
            answer["estimate"] = json!({ "error": why });
            answer["way"] = json!({ "error": why });
            return answer;
        }
    };
    answer["inlets"] = bench.inlets().into();
    let inlet = request["inlet"].as_u64().unwrap_or(0);
    let inlet = usize::try_from(inlet).unwrap_or(usize::MAX);
    answer["way"] = way(&bench, inlet, &frame).unwrap_or_else(|why| json!({ "error": why }));
    answer["estimate"] = estimate(request, bench).unwrap_or_else(|why| json!({ "error": why }));
    answer
}

fn faults(said: &Diagnostics) -> String {
    diagnostic::render(said)
}

fn all_machines() -> Vec<Value> {
    let all = machines::all().into_iter();
    all.map(|(name, title)| json!({ "name": name, "title": title }))
        .collect()
}

/// The frame that is followed, without its FCS.
fn frame(request: &Value) -> Result<Vec<u8>, String> {
    let Some(text) = request["frame"]
        .as_str()
        .filter(|text| !text.trim().is_empty())
    else {
        return Ok(samples::plain());
    };
    let digits: Vec<u8> = text.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).ok()?;
        u8::from_str_radix(pair, 16).ok()
    };
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    let is_whole = digits.len().is_multiple_of(2);
    let frame = bytes.filter(|bytes| is_whole && (14..=9000).contains(&bytes.len()));
    frame.ok_or_else(|| {
        "the packet is no Ethernet frame of 14 to 9000 bytes in hexadecimal".to_owned()
    })
}

/// A step of the followed packet: at which element, what, and its bytes.
type Told = (usize, Step, Vec<u8>);

fn way(bench: &Bench, inlet: usize, frame: &[u8]) -> Result<Value, String> {
    let mut bench = bench.clone();
    if inlet >= bench.inlets().len() {
        return Err(format!("there is no inlet {inlet}"));
    }
    bench.narrow(&[inlet]);
    let traffic = Traffic {
        frame: frame.len().max(60) + FCS,
        burst: 1,
        ..Traffic::default()
    };
    let (mut ctx, _) = bench.router(&traffic, 1).map_err(|why| words(&why))?;
    let told: Arc<Mutex<Vec<Told>>> = Arc::default();
    let teller = Arc::clone(&told);
    ctx.trace(
        1,
        Box::new(move |event: Event<'_>| {
            let mut told = teller.lock().unwrap_or_else(PoisonError::into_inner);
            if told.len() < MOST_STEPS {
                told.push((event.element, event.step, event.data.to_vec()));
            }
        }),
    );
    ctx.run_rounds(None, ROUNDS);
    if let Some(fault) = ctx.loop_fault() {
        return Err(fault);
    }
    let told = told.lock().unwrap_or_else(PoisonError::into_inner);
    let steps = told.iter().map(|(element, step, data)| {
        let (port, how) = match step {
            Step::Pushed(port) => (Some(*port), "pushed"),
            Step::Pulled(port) => (Some(*port), "pulled"),
            Step::Ended(reason) => (None, reason.text()),
        };
        json!({
            "element": ctx.name(*element), "class": ctx.class(*element), "port": port,
            "how": how, "data": hexadecimal(data),
        })
    });
    Ok(json!({ "steps": steps.collect::<Vec<_>>() }))
}

fn hexadecimal(data: &[u8]) -> String {
    data.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The frame sizes of RFC 2544 that hold `least` bytes of headers, and before them the least.
fn usual_sizes(least: usize) -> Vec<f64> {
    let sizes = [64, 128, 256, 512, 1024, 1280, 1518].into_iter();
    let first = (least > 64).then_some(least);
    let all = first.into_iter().chain(sizes.filter(|size| *size >= least));
    all.map(|size| size as f64).collect()
}

fn estimate(request: &Value, bench: Bench) -> Result<Value, String> {
    let name = request["machine"].as_str();
    // That this machine is not calibrated says nothing to a page.
    let (machine, _) = machines::find_or_usual(name).map_err(|why| format!("{why:#}"))?;
    let sizes = request["frame_sizes"].as_array();
    let sizes = sizes.map_or_else(
        || usual_sizes(bench.least_frame()),
        |all| all.iter().filter_map(Value::as_f64).collect(),
    );
    if sizes.is_empty() || sizes.iter().any(|size| !(64.0..=65_535.0).contains(size)) {
        return Err("frames have 64 to 65535 bytes".to_owned());
    }
    let (subject, under) = (
        Subject::Configuration(Box::new(bench)),
        Conditions::default(),
    );
    let all: Result<Vec<At>, Error> = sizes
        .iter()
        .map(|size| subject.at(*size, &machine, &under))
        .collect();
    let all = all.map_err(|why| match why {
        Error::Refused(refused) => words(&refused),
        Error::Other(why) => why,
    })?;
    let mut notes = Vec::new();
    let least = subject.unvisited(sizes[0], &under);
    if let Ok((missed, count)) = least {
        let left_out = view::unvisited(&missed, count);
        notes.extend((!left_out.is_empty()).then_some(left_out));
    }
    let rows: Vec<_> = all.iter().map(|at| (NAME, "", at)).collect();
    Ok(json!({
        "machine": machine.full_name(),
        "title": machine.title,
        "rows": rows_of(&view::functions(&rows, &machine)),
        "shares": all.first().map(view::shares),
        "notes": notes,
    }))
}

/// The rows of a table as objects.
fn rows_of(table: &Table) -> Value {
    let mut bytes = Vec::new();
    let written = trammel_stats::table::write_json(std::iter::once(table), &mut bytes);
    written.expect("memory takes all");
    let all: Value = serde_json::from_slice(&bytes).expect("it was just written");
    all["tables"][table.name()].clone()
}

fn words(refused: &Refused) -> String {
    match refused {
        Refused::Configuration(said) => faults(said),
        Refused::Other(why) => why.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUTER: &str = "FromDevice(a) -> Strip(14) -> CheckIPHeader -> d :: DecIPTTL \
                          -> Queue -> ToDevice(b);\nd[1] -> Discard;\n";

    #[test]
    fn a_configuration_is_drawn_estimated_and_gone_through() {
        let answer = configuration(&json!({ "text": ROUTER, "frame_sizes": [64] }));
        assert_eq!(answer["faults"], "");
        assert!(answer["svg"].as_str().unwrap().starts_with("<svg"));
        let rows = answer["estimate"]["rows"].as_array().unwrap();
        assert!(rows[0]["cost_cycles"].as_f64().unwrap() > 10.0, "{rows:?}");
        let steps = answer["way"]["steps"].as_array().unwrap();
        let classes: Vec<_> = steps
            .iter()
            .map(|step| step["class"].as_str().unwrap())
            .collect();
        assert_eq!(
            classes[..3],
            ["Strip", "CheckIPHeader", "DecIPTTL"],
            "{classes:?}"
        );
        let bytes = |at: usize| steps[at]["data"].as_str().unwrap();
        assert_eq!(&bytes(1)[16..18], "40", "a TTL of 64");
        let queue = classes.iter().position(|class| *class == "Queue").unwrap();
        assert_eq!(&bytes(queue)[16..18], "3f", "one less behind `DecIPTTL`");
    }

    #[test]
    fn a_packet_takes_the_way_that_its_bytes_say() {
        // A TTL of one ends at the second output.
        let mut dying = samples::plain();
        dying[22] = 1;
        // The checksum covers the TTL, in the high byte of its word.
        dying[24] = dying[24].wrapping_add(63);
        let answer = configuration(&json!({ "text": ROUTER, "frame": hexadecimal(&dying) }));
        let steps = answer["way"]["steps"].as_array().unwrap();
        let last = steps.last().unwrap();
        assert_eq!(last["class"], "Discard", "{steps:?}");
    }

    #[test]
    fn sizes_hold_the_headers() {
        assert_eq!(usual_sizes(64).len(), 7);
        assert_eq!(usual_sizes(82)[..2], [82.0, 128.0]);
        assert_eq!(usual_sizes(9000), [9000.0]);
    }

    #[test]
    fn what_is_wrong_is_told() {
        let faults = configuration(&json!({ "text": "FromDevice(a) -> Nonesuch;" }));
        assert!(
            faults["faults"].as_str().unwrap().contains("Nonesuch"),
            "{faults}"
        );
        assert!(faults.get("way").is_none());
        let odd = configuration(&json!({ "text": ROUTER, "frame": "abc" }));
        assert!(
            odd["way"]["error"]
                .as_str()
                .unwrap()
                .contains("hexadecimal")
        );
        let where_to = configuration(&json!({ "text": ROUTER, "inlet": 7 }));
        assert!(where_to["way"]["error"].as_str().unwrap().contains('7'));
        let machine = configuration(&json!({ "text": ROUTER, "machine": "abacus" }));
        assert!(
            machine["estimate"]["error"]
                .as_str()
                .unwrap()
                .contains("abacus")
        );
        let empty = configuration(&json!({}));
        assert!(
            empty["way"]["error"]
                .as_str()
                .unwrap()
                .contains("no packets come"),
            "{empty}"
        );
    }
}
