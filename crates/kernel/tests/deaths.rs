//! Deaths of guests that the machine is to blame for: each gives its cause and one line. The
//! kernels are scripts that end as the real one was seen to.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use trammel_kernel::boot::{Error, Machine};
use trammel_kernel::cause::Cause;

/// A kernel that does what the lines of a shell script say.
fn kernel(folder: &Path, script: &str) -> Machine {
    let path = folder.join("linux");
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    Machine::new(&path, Path::new("/bin/true")).expect("it says nothing")
}

fn death(machine: &Machine, time: Duration) -> (Cause, String) {
    match machine.try_boot(time, &|| false) {
        Err(error @ Error::Unable { cause, .. }) => (cause, error.to_string()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn each_kind_of_death_has_its_cause_and_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let says = |line: &str| format!("echo '{line}'; exit 1");
    // What User-Mode Linux 6.12 said: where a seccomp filter refuses `ptrace`, `/dev/shm` has 4 MB,
    // `ulimit -v` is small, `ulimit -u` is 1, `/dev/shm` is mounted `noexec` or read-only, and
    // where the processor's state is longer than it keeps.
    for (script, cause, said) in [
        (
            says("check_ptrace : expected SIGSTOP, got status = 9"),
            Cause::NoPtrace,
            "ptrace",
        ),
        (
            says("<0>Kernel panic - not syncing: Kernel mode signal 7"),
            Cause::NoMemory,
            "/dev/shm",
        ),
        (
            says(
                "setup_physmem - mapping 3133145088 bytes of memory at 0x(____ptrval____) failed - \
                 errno = -12",
            ),
            Cause::NoMemory,
            "limits of memory",
        ),
        (
            says("start_ptraced_child : fork failed: Resource temporarily unavailable"),
            Cause::NoMemory,
            "processes",
        ),
        (
            says("/dev/shm must be not mounted noexec"),
            Cause::CannotMap,
            "noexec",
        ),
        ("exit 1".to_owned(), Cause::CannotMap, "writable"),
        (
            says("userspace - ptrace set fp regs failed, errno = 14"),
            Cause::Processor,
            "processor",
        ),
        ("kill -ILL $$".to_owned(), Cause::Processor, "SIGILL"),
        ("kill -9 $$".to_owned(), Cause::Killed, "SIGKILL"),
        ("kill -XFSZ $$".to_owned(), Cause::Killed, "SIGXFSZ"),
        (
            says("nobody has ever seen this"),
            Cause::Unknown,
            "nobody has ever seen this",
        ),
    ] {
        let machine = kernel(folder.path(), &script);
        let (found, text) = death(&machine, Duration::from_secs(60));
        assert_eq!(found, cause, "{script}: {text}");
        assert!(text.contains(said), "{script}: {text}");
        assert_eq!(text.lines().count(), 1, "{script}: {text}");
        assert!(text.starts_with("the kernel's guests cannot run here: "));
    }
}

#[test]
fn a_guest_that_hangs_is_stopped_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let machine = kernel(folder.path(), "exec sleep 1000");
    let (cause, text) = death(&machine, Duration::from_millis(100));
    assert_eq!(cause, Cause::Hangs);
    assert!(text.contains("stopped after 0.1 s"), "{text}");
}

#[test]
fn a_kernel_that_the_system_does_not_start_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let machine = kernel(folder.path(), "exit 0");
    let path = folder.path().join("linux");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let (cause, text) = death(&machine, Duration::from_secs(60));
    assert_eq!(cause, Cause::NotStarted);
    assert!(text.contains("Permission denied"), "{text}");
}

#[test]
fn an_interrupt_is_none_of_the_machine_s() {
    let folder = tempfile::tempdir().unwrap();
    let machine = kernel(folder.path(), "exec sleep 1000");
    let outcome = machine.try_boot(Duration::from_secs(60), &|| true);
    assert!(matches!(outcome, Err(Error::Interrupted)), "{outcome:?}");
}
