//! The same scripts by the original, in the kernel that this machine runs: each in a network
//! namespace of its own, in real time, as the kernel's own selftests run them.

use super::name;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use trammel_ground::say;
use trammel_io::program;

/// Addresses, and what scripts of the kernel's selftests expect to be defined.
const ARGUMENTS: &[&str] = &[
    "--ip_version=ipv4",
    "--local_ip=192.168.0.1",
    "--gateway_ip=192.168.0.1",
    "--netmask_ip=255.255.0.0",
    "--remote_ip=192.0.2.1",
    "-D",
    "TFO_COOKIE=3021b9d889017eeb",
    "-D",
    "TFO_COOKIE_ZERO=b7c12350a90dc8f5",
    "-D",
    "CMSG_LEVEL_IP=SOL_IP",
    "-D",
    "CMSG_TYPE_RECVERR=IP_RECVERR",
];

/// Whether each script passes here.
pub(super) fn judge(scripts: &[PathBuf]) -> anyhow::Result<BTreeMap<String, bool>> {
    let found = |name: &str, what: &str| {
        program::find(name)
            .ok_or_else(|| anyhow::anyhow!("`--beside kernel` needs the program `{name}`, {what}"))
    };
    let packetdrill = found(
        "packetdrill",
        "built from https://github.com/google/packetdrill and in a folder of `PATH`; or run \
         scripts/packetdrill for guests, and name its list: `--beside FILE`",
    )?;
    let unshare = found("unshare", "of util-linux")?;
    let own_network = Command::new(&unshare).args(["--net", "true"]).output()?;
    if !own_network.status.success() {
        anyhow::bail!(
            "`--beside kernel` needs root, for a network of its own for each script: {}; or run \
             scripts/packetdrill for guests, and name its list: `--beside FILE`",
            String::from_utf8_lossy(&own_network.stderr).trim()
        );
    }
    say("the scripts' own commands run on this machine, as root");
    let mut all = BTreeMap::new();
    for script in scripts {
        let folder = script
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let status = Command::new(&unshare)
            .arg("--net")
            .arg(&packetdrill)
            .args(ARGUMENTS)
            .arg(script.file_name().unwrap_or(script.as_os_str()))
            .current_dir(folder.unwrap_or(Path::new(".")))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()?;
        all.insert(name(script), status.success());
    }
    Ok(all)
}
