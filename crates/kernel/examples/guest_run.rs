//! Any program in a guest: `guest_run KERNEL ROOT PROGRAM ARGUMENT…` prints what it says, and ends
//! as it does.
//!
//! The files of the folder ROOT are the guest's, each at its path from there; links are followed. A
//! guest has no others, so ROOT also holds the libraries of its programs. The guest is this program
//! itself, as the first process of another machine.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::Duration;
use trammel_kernel::boot::{Limits, Machine};
use trammel_kernel::guest::{FILES, JOB, first_process};

/// Memory of a guest, MiB.
const MEMORY_MIB: u64 = 512;
/// How long it may take.
const TIME: Duration = Duration::from_secs(120);
/// Where its program may write.
const TEMPORARY: &str = "/tmp";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.as_slice() {
        [kernel, root, command @ ..] if !command.is_empty() => {
            match on_host(kernel.as_ref(), root.as_ref(), command) {
                Ok((status, said)) => {
                    print!("{said}");
                    ExitCode::from(status)
                }
                Err(why) => {
                    let _ = writeln!(io::stderr(), "{why}");
                    ExitCode::from(125)
                }
            }
        }
        [word] if word != FILES => {
            let _ = writeln!(io::stderr(), "guest_run KERNEL ROOT PROGRAM ARGUMENT…");
            ExitCode::from(2)
        }
        _ => first_process(in_guest),
    }
}

/// The status with which the program ended, and what it said.
fn on_host(kernel: &Path, root: &Path, command: &[String]) -> Result<(u8, String), Box<dyn Error>> {
    let mut machine = Machine::new(kernel, &std::env::current_exe()?)?;
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path
                .strip_prefix(root)?
                .to_str()
                .ok_or("a name that is no text")?;
            machine.add_file(&format!("/{name}"), fs::read(&path)?);
        }
    }
    let limits = Limits {
        memory_mib: MEMORY_MIB,
        time: TIME,
        interrupted: &|| false,
    };
    Ok(machine.ask(&serde_json::to_vec(command)?, 1, &[], &limits)?)
}

/// Runs the program that the job names, with one channel for all that it says.
fn in_guest() -> Result<String, Box<dyn Error>> {
    let command: Vec<String> = serde_json::from_slice(&fs::read(JOB)?)?;
    fs::create_dir_all(TEMPORARY)?;
    let said = Path::new(TEMPORARY).join("said");
    let out = fs::File::create(&said)?;
    let status = Command::new(&command[0])
        .args(&command[1..])
        .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
        .stdin(Stdio::null())
        .stdout(out.try_clone()?)
        .stderr(out)
        .status()
        .map_err(|why| format!("`{}` does not start: {why}", command[0]))?;
    let said = String::from_utf8_lossy(&fs::read(said)?).into_owned();
    // One that a signal ended has no status of its own.
    Ok(serde_json::to_string(&(
        status.code().map_or(128, |code| code as u8),
        said,
    ))?)
}
