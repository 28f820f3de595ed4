//! A Job of Kubernetes: what is written, and its command lines, run as its pods would.

use std::path::Path;
use std::process::{Command, Output};

const SWEEP: &str = "# a \"quoted\" comment: with a colon\nduration = '1 s'\nrepeat = 3\n\
                     engines = ['simulate']\n[path]\nrate = '10 Mbit/s'\nrtt = '20 ms'\n\
                     [[flow]]\nvariant = 'reno'\n\
                     [sweep]\n'path.queue.limit' = ['10 packets', '20 packets']\n";

fn trammel(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trammel"));
    command.args(args).current_dir(folder).output().unwrap()
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("My_sweep.toml"), SWEEP).unwrap();
    folder
}

/// What stands behind a key, which is JSON.
fn behind(manifest: &str, key: &str) -> serde_json::Value {
    let lines = manifest.lines().rev().map(str::trim_start);
    let mut values = lines.filter_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    let value = values
        .next()
        .unwrap_or_else(|| panic!("no `{key}`:\n{manifest}"));
    serde_json::from_str(value).unwrap_or_else(|why| panic!("{key}: {value}: {why}"))
}

#[test]
fn the_pods_of_a_job_make_all_runs() {
    let folder = folder();
    let here = folder.path();
    let words = "k8s My_sweep.toml --store s3://lab/runs --image lab/trammel --secret key \
                 --pods 2 --seed 5";
    let written = trammel(here, &words.split_whitespace().collect::<Vec<_>>());
    assert_eq!(written.status.code(), Some(0));
    let manifest = String::from_utf8(written.stdout).unwrap();
    assert_eq!(behind(&manifest, "name"), "trammel-my-sweep");
    assert_eq!(behind(&manifest, "scenario.toml"), SWEEP);
    assert_eq!(behind(&manifest, "image"), "lab/trammel");
    assert_eq!(behind(&manifest, "envFrom")[0]["secretRef"]["name"], "key");
    let parts = behind(&manifest, "completions").as_u64().unwrap();
    assert_eq!(parts, 6);
    let command = behind(&manifest, "command");
    for part in 0..parts {
        let words = command.as_array().unwrap().iter();
        let words: Vec<String> = words
            .map(|word| {
                let word = word.as_str().unwrap();
                word.replace("$(TRAMMEL_PART)", &part.to_string())
                    .replace("/scenario/scenario.toml", "My_sweep.toml")
                    .replace("s3://lab/runs", "runs")
            })
            .collect();
        assert_eq!(words[0], "trammel");
        let words: Vec<&str> = words[1..].iter().map(String::as_str).collect();
        assert_eq!(trammel(here, &words).status.code(), Some(0), "{words:?}");
    }
    let gather = [
        "gather",
        "My_sweep.toml",
        "--store",
        "runs",
        "--seed",
        "5",
        "-o",
        "out",
    ];
    assert_eq!(trammel(here, &gather).status.code(), Some(0));
    let run = ["run", "My_sweep.toml", "--seed", "5", "-o", "whole"];
    assert_eq!(trammel(here, &run).status.code(), Some(0));
    let flows = |out: &str| std::fs::read_to_string(here.join(out).join("flows.csv")).unwrap();
    assert_eq!(flows("out"), flows("whole"));
}

#[test]
fn a_store_that_pods_do_not_share_is_refused() {
    let folder = folder();
    let job = ["k8s", "My_sweep.toml", "--image", "lab/trammel", "--store"];
    let told = |more: &[&str]| {
        let output = trammel(folder.path(), &[&job, more].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        (
            output.status.code(),
            said,
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    let (code, said, _) = told(&["runs"]);
    assert_eq!(code, Some(2));
    assert!(said.contains("`--volume`"), "{said}");
    let (code, _, manifest) = told(&["/runs", "--volume", "claim"]);
    assert_eq!(code, Some(0));
    assert_eq!(
        behind(&manifest, "volumes")[1]["persistentVolumeClaim"]["claimName"],
        "claim"
    );
    let part = ["point", "My_sweep.toml", "--store", "runs", "--part", "3/3"];
    assert_eq!(trammel(folder.path(), &part).status.code(), Some(2));
}
