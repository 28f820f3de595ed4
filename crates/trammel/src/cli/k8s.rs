//! `trammel k8s`: the runs of a scenario as a Job of Kubernetes.

use super::options::Which;
use super::output::out;
use anyhow::bail;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Parts of a job at most: Kubernetes keeps how each of them ended.
const MOST_PARTS: usize = 10_000;
/// A pod's share of the work, so that pods end at about one time.
const SHARES: usize = 8;
/// Where a pod finds the scenario.
const MOUNTED: &str = "/scenario";

/// Write a Job of Kubernetes that makes the runs of a scenario
///
/// The Job is an indexed one: each pod makes one part of the runs and puts them into the store,
/// and pods that are lost are begun again, twice at most. The scenario goes along as a ConfigMap;
/// other files that it names must be in the image. When the Job is done, `trammel gather` in the
/// same image makes the run folder.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  trammel k8s s.toml --store s3://lab/runs --image lab/trammel:0.2 \
                  --secret s3-key | kubectl apply -f -"
)]
pub(super) struct Args {
    #[command(flatten)]
    which: Which,
    /// Store that the pods fill: an address, or with `--volume` a path in the pods
    #[arg(long, value_name = "STORE")]
    store: String,
    /// Image that has the program `trammel`
    #[arg(long, value_name = "IMAGE")]
    image: String,
    /// Pods that run at once, each on one processor
    #[arg(
        long,
        value_name = "N",
        default_value = "16",
        value_parser = clap::value_parser!(u32).range(1..)
    )]
    pods: u32,
    /// Memory of a pod
    #[arg(long, value_name = "SIZE", default_value = "1Gi")]
    memory: String,
    /// Secret whose entries are environment variables of the pods, for the store
    #[arg(long, value_name = "NAME")]
    secret: Option<String>,
    /// Claim of a volume that is mounted where the store is
    #[arg(long, value_name = "CLAIM")]
    volume: Option<String>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let is_address = args.store.contains("://");
    if is_address == args.volume.is_some() {
        bail!(
            "`--store {}`: pods share an address such as `s3://bucket/runs`, or a path on a volume \
             that `--volume` names",
            args.store
        );
    }
    let transport = args.which.transport()?;
    let runs = transport.list()?.len();
    let parts = (args.pods as usize * SHARES).min(runs).clamp(1, MOST_PARTS);
    out(&manifest(args, &transport.file.text, parts))
}

/// The two objects. Each line below a `spec` is JSON where that is shorter, which is YAML too.
fn manifest(args: &Args, scenario: &str, parts: usize) -> String {
    let stem = args.which.scenario.file_stem().unwrap_or_default();
    let name = name_of(&stem.to_string_lossy());
    let (store, image) = (&args.store, &args.image);
    let mut command = vec![
        "trammel".to_owned(),
        "point".to_owned(),
        format!("{MOUNTED}/scenario.toml"),
        "--store".to_owned(),
        store.clone(),
        "--threads".to_owned(),
        "1".to_owned(),
        "--part".to_owned(),
        format!("$(TRAMMEL_PART)/{parts}"),
    ];
    command.extend(args.which.words());
    let part = json!([{
        "name": "TRAMMEL_PART",
        "valueFrom": {"fieldRef": {
            "fieldPath": "metadata.annotations['batch.kubernetes.io/job-completion-index']",
        }},
    }]);
    let from = args.secret.as_ref().map_or_else(
        || json!([]),
        |secret| json!([{"secretRef": {"name": secret}}]),
    );
    let mut mounts = vec![json!({"name": "scenario", "mountPath": MOUNTED})];
    let mut volumes = vec![json!({"name": "scenario", "configMap": {"name": name}})];
    if let Some(claim) = &args.volume {
        mounts.push(json!({"name": "store", "mountPath": store}));
        volumes.push(json!({"name": "store", "persistentVolumeClaim": {"claimName": claim}}));
    }
    let memory = &args.memory;
    let resources = json!({
        "requests": {"cpu": "1", "memory": memory},
        "limits": {"memory": memory},
    });
    let (command, mounts, volumes) = (json!(command), Value::from(mounts), Value::from(volumes));
    let (name, scenario, image) = (json!(name), json!(scenario), json!(image));
    let pods = args.pods;
    format!(
        "# Written by `trammel k8s`. When the Job is complete, in the same image:\n\
         #   trammel gather SCENARIO.toml --store {store} -o out\n\
         apiVersion: v1\n\
         kind: ConfigMap\n\
         metadata:\n\
         \x20 name: {name}\n\
         data:\n\
         \x20 scenario.toml: {scenario}\n\
         ---\n\
         apiVersion: batch/v1\n\
         kind: Job\n\
         metadata:\n\
         \x20 name: {name}\n\
         spec:\n\
         \x20 completionMode: Indexed\n\
         \x20 completions: {parts}\n\
         \x20 parallelism: {pods}\n\
         \x20 # A run is begun three times at most; the runs of a pod that it has made are kept.\n\
         \x20 backoffLimitPerIndex: 2\n\
         \x20 template:\n\
         \x20   spec:\n\
         \x20     restartPolicy: Never\n\
         \x20     containers:\n\
         \x20     - name: trammel\n\
         \x20       image: {image}\n\
         \x20       command: {command}\n\
         \x20       env: {part}\n\
         \x20       envFrom: {from}\n\
         \x20       resources: {resources}\n\
         \x20       volumeMounts: {mounts}\n\
         \x20     volumes: {volumes}"
    )
}

/// A name as Kubernetes wants it: small letters, digits and `-`, 63 at most.
fn name_of(stem: &str) -> String {
    const MOST: usize = 50;
    let plain = stem.chars().map(|c| match c.to_ascii_lowercase() {
        c if c.is_ascii_alphanumeric() => c,
        _ => '-',
    });
    let plain: String = plain.take(MOST).collect();
    let name = format!("trammel-{plain}");
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_kubernetes() {
        assert_eq!(name_of("Paper_001"), "trammel-paper-001");
        assert_eq!(name_of("-"), "trammel");
        assert_eq!(name_of(&"x".repeat(99)).len(), 58);
    }
}
