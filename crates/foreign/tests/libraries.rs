//! Libraries compiled from C: the same law in C and in Rust gives the same run, and what is wrong
//! with a library is said.

use std::path::{Path, PathBuf};
use std::process::Command;
use trammel_core::entry::{Params, Value};
use trammel_core::rng::Rng;
use trammel_foreign::{HEADER, load};
use trammel_tcp::cc::{self, CaState, CongestionControl, Tp};

/// Compiles `code` as a user would; nothing where there is no compiler.
fn library(folder: &Path, name: &str, code: &str) -> PathBuf {
    std::fs::write(folder.join("trammel.h"), HEADER).unwrap();
    let source = folder.join(format!("{name}.c"));
    std::fs::write(&source, code).unwrap();
    let made = folder.join(format!("lib{name}.so"));
    let mut compiler = Command::new("cc");
    compiler.args([
        "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
    ]);
    compiler.arg("-o").arg(&made).arg(&source);
    let run = compiler
        .output()
        .expect("a C compiler, which Rust's linker needs as well");
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stderr)
    );
    made
}

/// Reno written out in C, without the help of the host.
fn reno(name: &str, change: &str) -> String {
    format!(
        r#"
#include "trammel.h"
#include <stdlib.h>
struct ca {{ double part; }};
static void *create(const double *values)
{{
    struct ca *ca = malloc(sizeof(*ca));
    if (ca) ca->part = values[0];
    return ca;
}}
static uint32_t ssthresh(void *object, struct trammel_tp *tp)
{{
    uint32_t left = (uint32_t)(tp->snd_cwnd * ((struct ca *)object)->part);
    return left > 2 ? left : 2;
}}
static void cong_avoid(void *object, struct trammel_tp *tp, uint32_t ack, uint32_t acked)
{{
    (void)object; (void)ack;
    if (!tp->is_cwnd_limited)
        return;
    if (tp->snd_cwnd < tp->snd_ssthresh) {{
        uint32_t cwnd = tp->snd_cwnd + acked;
        if (cwnd > tp->snd_ssthresh) cwnd = tp->snd_ssthresh;
        acked -= cwnd - tp->snd_cwnd;
        tp->snd_cwnd = cwnd < tp->snd_cwnd_clamp ? cwnd : tp->snd_cwnd_clamp;
        if (!acked) return;
    }}
    if (tp->snd_cwnd_cnt >= tp->snd_cwnd) {{ tp->snd_cwnd_cnt = 0; tp->snd_cwnd++; }}
    tp->snd_cwnd_cnt += acked;
    if (tp->snd_cwnd_cnt >= tp->snd_cwnd) {{
        uint32_t w = tp->snd_cwnd, delta = tp->snd_cwnd_cnt / w;
        tp->snd_cwnd_cnt -= delta * w;
        tp->snd_cwnd += delta;
    }}
    if (tp->snd_cwnd > tp->snd_cwnd_clamp) tp->snd_cwnd = tp->snd_cwnd_clamp;
}}
static size_t observe(const void *object, struct trammel_variable *variables, size_t room)
{{
    if (!room) return 0;
    variables[0].name = "part";
    variables[0].value = ((const struct ca *)object)->part;
    return 1;
}}
static const struct trammel_param params[] = {{ {{ "part", 0.5, 0.1, 0.9, "what is left" }} }};
static struct trammel_cc table = {{
    .abi = TRAMMEL_ABI, .tp_bytes = sizeof(struct trammel_tp),
    .name = "{name}", .summary = "Reno in C", .params = params, .n_params = 1,
    .create = create, .destroy = free,
    .ssthresh = ssthresh, .cong_avoid = cong_avoid, .observe = observe,
}};
const struct trammel_cc *trammel_congestion_control(const struct trammel_host *host)
{{
    (void)host;
    {change}
    return &table;
}}
"#
    )
}

fn built(name: &str, given: &[(String, Value)]) -> Box<dyn CongestionControl> {
    let entry = cc::find(name).expect("it is registered");
    (entry.build)(&Params::resolve(&entry.about, given).expect("they are in range"))
}

#[test]
fn reno_in_c_is_reno() {
    let folder = tempfile::tempdir().unwrap();
    let name = load(&library(folder.path(), "reno", &reno("reno-in-c", ""))).unwrap();
    assert_eq!(name, "reno-in-c");
    let (mut ours, mut theirs) = (built("reno", &[]), built(name, &[]));
    assert_eq!(theirs.observe(), [("part", 0.5)]);
    let seed = 7;
    let (mut a, mut b) = (
        Tp::new(10, 1448, Rng::new(seed, "reno")),
        Tp::new(10, 1448, Rng::new(seed, "reno")),
    );
    let mut rng = Rng::new(seed, "events");
    for step in 0..20_000_u32 {
        let acked = 1 + rng.below(3) as u32;
        let is_lost = rng.below(400) == 0;
        let is_limited = rng.below(10) != 0;
        for (control, tp) in [(&mut ours, &mut a), (&mut theirs, &mut b)] {
            tp.cwnd_limited = is_limited;
            if is_lost {
                tp.snd_ssthresh = control.ssthresh(tp);
                control.set_state(tp, CaState::Recovery);
                tp.snd_cwnd = tp.snd_ssthresh;
                tp.snd_cwnd_cnt = 0;
            } else {
                control.cong_avoid(tp, step, acked);
            }
        }
        let seen = |tp: &Tp| (tp.snd_cwnd, tp.snd_cwnd_cnt, tp.snd_ssthresh);
        assert_eq!(seen(&a), seen(&b), "seed {seed}, step {step}");
    }
    assert!(a.snd_ssthresh < 1000, "no loss was drawn");
}

#[test]
fn parameters_reach_the_library_and_its_file_is_part_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = library(folder.path(), "part", &reno("reno-part", ""));
    let name = load(&path).unwrap();
    let mut control = built(name, &[("part".to_owned(), Value::Float(0.75))]);
    let mut tp = Tp::new(100, 1448, Rng::new(1, "part"));
    assert_eq!(control.ssthresh(&mut tp), 75);
    let entry = cc::find(name).unwrap();
    let digest = trammel_ground::sha256::of_file(&path).unwrap();
    let params = Params::defaults(&entry.about);
    assert_eq!(params.text("library_sha256"), digest);
    let other = [("library_sha256".to_owned(), Value::Text("0".repeat(64)))];
    assert!(Params::resolve(&entry.about, &other).is_err());
    // The same file from elsewhere is the same library.
    let copy = folder.path().join("copy.so");
    std::fs::copy(&path, &copy).unwrap();
    assert_eq!(load(&copy).unwrap(), name);
}

#[test]
fn what_is_wrong_with_a_library_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (
            "abi",
            "wrong-abi",
            "table.abi = 9;",
            "version 9 of the interface",
        ),
        (
            "size",
            "wrong-size",
            "table.tp_bytes = 8;",
            "`tp_bytes` is 8",
        ),
        (
            "lacks",
            "wrong-lacks",
            "table.cong_avoid = NULL;",
            "lacks the function `cong_avoid` or",
        ),
        ("name", "Wrong Name", "", "its name `Wrong Name`"),
        (
            "count",
            "wrong-count",
            "table.n_params = 1000;",
            "1000 parameters",
        ),
        ("null", "wrong-null", "return NULL;", "returned no table"),
        ("taken", "cubic", "", "`cubic` already means"),
    ];
    for (file, name, change, said) in cases {
        let error = load(&library(folder.path(), file, &reno(name, change))).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(said), "{text}");
        assert!(text.contains(file), "{text}");
    }
    let nothing = library(folder.path(), "nothing", "int nothing;\n");
    let text = load(&nothing).unwrap_err().to_string();
    assert!(
        text.contains("does not define `trammel_congestion_control`"),
        "{text}"
    );
    let script = folder.path().join("script.so");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    assert!(
        load(&script)
            .unwrap_err()
            .to_string()
            .contains("no library that can be loaded")
    );
    let text = load(folder.path()).unwrap_err().to_string();
    assert!(text.contains("it is not a file"), "{text}");
    let text = load(&folder.path().join("absent.so"))
        .unwrap_err()
        .to_string();
    assert!(text.contains("absent.so: No such file"), "{text}");
}
