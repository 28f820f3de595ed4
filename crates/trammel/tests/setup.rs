//! What `./run` and `./test` set up on a machine with nothing on it: `scripts/setup`, with a folder
//! that stands in for the system and stubs for its programs of packages.
#![cfg(target_os = "linux")]

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

/// What the scripts call that every such system has.
const TOOLS: &[&str] = &[
    "bash", "cat", "chmod", "dirname", "ln", "rm", "sed", "sh", "sort", "tail",
];

/// What `apt-cache` says of the packages of Rust on each system: `policy` as `name version`, and
/// what follows `pkgnames cargo-1.`.
struct Distribution {
    policy: &'static str,
    names: &'static str,
    rust: &'static str,
}

const DEBIAN_12: Distribution = Distribution {
    policy: "cargo 0.66.0+ds1-1|cargo-web 1.94.1+dfsg1-1~deb12u1",
    names: "",
    rust: "cargo-web rustc-web",
};
const DEBIAN_13: Distribution = Distribution {
    policy: "cargo 1.85.1+dfsg1-1+deb13u1|cargo-web 1.96.0+dfsg1-1~deb13u1+b1|rustup 1.27.1-3+b1",
    names: "",
    rust: "cargo-web rustc-web",
};
const UBUNTU_24_04: Distribution = Distribution {
    policy: "cargo 1.75.0+dfsg0ubuntu1-0ubuntu7|rustup 1.26.0-3",
    names: "cargo-1.80 cargo-1.97 cargo-1.9 cargo-1.97-doc",
    rust: "cargo-1.97 rustc-1.97",
};
const NEWER: Distribution = Distribution {
    policy: "cargo 1.99.0-1",
    names: "cargo-1.80",
    rust: "cargo rustc",
};
const OLD: Distribution = Distribution {
    policy: "cargo 1.63.0-1|rustup 1.26.0-1",
    names: "cargo-1.80",
    rust: "rustup",
};

/// A system that has nothing but what every one has.
struct System {
    folder: TempDir,
}

impl System {
    fn new(of: &Distribution) -> Self {
        let system = Self {
            folder: TempDir::new().expect("a temporary folder can be made"),
        };
        for folder in ["bin", "usr/sbin", "var/lib/apt/lists"] {
            fs::create_dir_all(system.path(folder)).expect("the folder can be made");
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        for tool in TOOLS {
            let found = std::env::split_paths(&path)
                .chain([PathBuf::from("/usr/bin"), PathBuf::from("/bin")])
                .map(|folder| folder.join(tool))
                .find(|file| file.is_file())
                .unwrap_or_else(|| panic!("this system has no `{tool}`"));
            symlink(found, system.path("bin").join(tool)).expect("the link can be made");
        }
        fs::write(system.path("var/lib/apt/lists/debian_Packages"), "").unwrap();
        let policy: String = of
            .policy
            .split('|')
            .filter_map(|line| line.split_once(' '))
            .map(|(name, version)| format!("'policy {name}') echo '  Candidate: {version}';;\n"))
            .collect();
        // Of other packages there is one version, but of the kernel's source.
        system.stub(
            "apt-cache",
            &format!(
                "case \"$*\" in\n{policy}'policy cargo'|'policy cargo-web'|'policy rustup'|'policy \
                 linux-source'*) echo '  Candidate: (none)';;\n\
                 policy*) echo '  Candidate: 1.0';;\n\
                 pkgnames*) for name in {}; do echo $name; done;;\nesac\n",
                of.names
            ),
        );
        system.stub(
            "dpkg",
            "cat \"$TRAMMEL_SYSTEM/audit\" 2> /dev/null || true\n\
             echo \"dpkg $*\" >> \"$TRAMMEL_SYSTEM/done\"\n",
        );
        // What it installs is a linker and, beside the usual folders, a compiler. Servers may not
        // start meanwhile.
        system.stub(
            "apt-get",
            "echo \"apt-get $*\" >> \"$TRAMMEL_SYSTEM/done\"\n\
             [ \"$1\" = install ] || exit 0\n\
             \"$TRAMMEL_SYSTEM/usr/sbin/policy-rc.d\"; echo \"a server: $?\" >> \
             \"$TRAMMEL_SYSTEM/done\"\n\
             [ ! -e \"$TRAMMEL_SYSTEM/signal\" ] || kill -s \"$(cat \"$TRAMMEL_SYSTEM/signal\")\" \
             \"$PPID\"\n\
             ln -sf \"$TRAMMEL_SYSTEM/cc\" \"$TRAMMEL_SYSTEM/bin/cc\"\n\
             ln -sf \"$TRAMMEL_SYSTEM/cargo\" \"$TRAMMEL_SYSTEM/bin/cargo\"\n",
        );
        system.stub("../cc", "echo /usr/lib/crt1.o\n");
        system.stub("../cargo", "echo 'cargo 1.97.1 (c980f4866 2026-06-30)'\n");
        system.become_user(0);
        system
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn stub(&self, name: &str, text: &str) {
        let file = self.path("bin").join(name);
        fs::write(&file, format!("#!/bin/sh\n{text}")).expect("the file can be written");
        fs::set_permissions(&file, Permissions::from_mode(0o755))
            .expect("the file belongs to this user");
    }

    fn become_user(&self, id: u32) {
        self.stub("id", &format!("echo {id}\n"));
    }

    /// What `scripts/setup` ends with, and what it said.
    fn setup(&self, words: &[&str], variables: &[(&str, &str)]) -> (Option<i32>, String) {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        // A shell has what it runs in the background ignore signals, and no script undoes that.
        let Output { status, stderr, .. } = Command::new("/usr/bin/env")
            .arg("--default-signal=INT,TERM,HUP")
            .arg(self.path("bin/bash"))
            .arg(root.join("scripts/setup"))
            .args(words)
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("TRAMMEL_SYSTEM", self.folder.path())
            .envs(variables.iter().copied())
            .output()
            .expect("the program can be started");
        (status.code(), String::from_utf8_lossy(&stderr).into_owned())
    }

    /// The commands that changed the system.
    fn done(&self) -> String {
        fs::read_to_string(self.path("done")).unwrap_or_default()
    }

    fn has_policy(&self) -> bool {
        self.path("usr/sbin/policy-rc.d").exists()
    }
}

#[test]
fn root_gets_the_compiler_that_is_new_enough() {
    for of in [DEBIAN_12, DEBIAN_13, UBUNTU_24_04, NEWER, OLD] {
        let system = System::new(&of);
        let (code, said) = system.setup(&[], &[]);
        assert_eq!(code, Some(0), "{said}");
        let all = format!("apt-get install gcc libc6-dev {} ca-certificates", of.rust);
        assert!(said.contains(&all), "{said}");
        let done = system.done();
        assert_eq!(done.matches("apt-get install").count(), 1, "{done}");
        assert!(done.contains("a server: 101"), "{done}");
        assert!(!system.has_policy());
        // What is to be installed is said before anything is.
        let first = said.find("apt-get install").expect("it is said");
        assert!(said.rfind("missing: ").is_some_and(|last| last < first));
        // Nothing is left to do.
        assert_eq!(system.setup(&[], &[]).0, Some(0));
        assert_eq!(system.done().matches("apt-get install").count(), 1);
    }
}

#[test]
fn an_ordinary_user_hears_the_one_command() {
    for of in [DEBIAN_12, DEBIAN_13, UBUNTU_24_04, NEWER, OLD] {
        for (id, install) in [(1000, "yes"), (0, "no")] {
            let system = System::new(&of);
            system.become_user(id);
            let (code, said) = system.setup(&[], &[("TRAMMEL_INSTALL", install)]);
            assert_eq!(code, Some(3), "{said}");
            let last = said.lines().last().unwrap_or_default();
            let command = format!(
                "as root: apt-get install gcc libc6-dev {} ca-certificates",
                of.rust
            );
            assert_eq!(last, command, "{said}");
            assert_eq!(system.done(), "");
        }
    }
}

#[test]
fn without_a_list_of_packages_the_one_command_is_the_setup() {
    let system = System::new(&DEBIAN_12);
    system.become_user(1000);
    fs::remove_file(system.path("var/lib/apt/lists/debian_Packages")).unwrap();
    for words in [&[][..], &["--test"]] {
        let (code, said) = system.setup(words, &[]);
        assert_eq!(code, Some(3), "{said}");
        let last = said.lines().last().unwrap_or_default();
        let command = format!("scripts/setup {}", words.join(" "));
        assert!(last.starts_with("as root: /"), "{said}");
        assert!(last.ends_with(command.trim_end()), "{said}");
    }
}

#[test]
fn what_a_system_has_no_package_of_is_said_and_left_out() {
    let system = System::new(&UBUNTU_24_04);
    let (code, said) = system.setup(&["--test"], &[]);
    assert_eq!(code, Some(0), "{said}");
    if !Path::new("/usr/src/linux-source-6.12.tar.xz").exists() {
        assert!(
            said.contains("there is no package linux-source-6.12 here"),
            "{said}"
        );
    }
    assert!(!system.done().contains("linux-source"), "{}", system.done());
    assert!(system.done().contains("nginx-light"), "{}", system.done());
}

#[test]
fn a_compiler_beside_the_usual_folders_is_found() {
    let system = System::new(&UBUNTU_24_04);
    for (version, name) in [(80, "rust-1.80"), (97, "rust-1.97"), (9, "rust-1.9")] {
        fs::create_dir_all(system.path(&format!("usr/lib/{name}/bin"))).unwrap();
        let cargo = format!("../usr/lib/{name}/bin/cargo");
        system.stub(&cargo, &format!("echo 'cargo 1.{version}.0 (of a test)'\n"));
    }
    system.stub("cc", "echo /usr/lib/crt1.o\n");
    system.become_user(1000);
    let (code, said) = system.setup(&[], &[]);
    assert_eq!(code, Some(0), "{said}");
    assert_eq!(said, "");
}

#[test]
fn a_linker_without_the_c_library_is_none() {
    let system = System::new(&DEBIAN_13);
    system.stub("cc", "echo crt1.o\n");
    system.stub("cargo", "echo 'cargo 1.97.0 (of a test)'\n");
    system.become_user(1000);
    let (code, said) = system.setup(&[], &[]);
    assert_eq!(code, Some(3), "{said}");
    assert!(
        said.ends_with("as root: apt-get install gcc libc6-dev\n"),
        "{said}"
    );
}

#[test]
fn an_interrupted_installation_takes_its_change_back() {
    for signal in ["INT", "TERM", "HUP"] {
        let system = System::new(&DEBIAN_13);
        fs::write(system.path("signal"), signal).unwrap();
        let (code, said) = system.setup(&[], &[]);
        assert_eq!(code, Some(130), "{signal}: {said}");
        assert!(!system.has_policy(), "{signal}");
        // Again, now with what the first one left half done.
        fs::remove_file(system.path("signal")).unwrap();
        fs::remove_file(system.path("bin/cc")).ok();
        fs::write(system.path("audit"), "half done").unwrap();
        let (code, said) = system.setup(&[], &[]);
        assert_eq!(code, Some(0), "{signal}: {said}");
        assert!(system.done().contains("dpkg --configure -a"));
        assert!(!system.has_policy(), "{signal}");
    }
}

#[test]
fn a_policy_that_was_there_stays_and_one_that_a_kill_left_goes() {
    let system = System::new(&DEBIAN_13);
    system.stub("../usr/sbin/policy-rc.d", "exit 104\n");
    assert_eq!(system.setup(&[], &[]).0, Some(0));
    assert!(system.done().contains("a server: 104"));
    assert!(system.has_policy());

    let system = System::new(&DEBIAN_13);
    fs::write(system.path("signal"), "KILL").unwrap();
    assert_eq!(system.setup(&[], &[]).0, None);
    assert!(system.has_policy());
    fs::remove_file(system.path("signal")).unwrap();
    fs::remove_file(system.path("bin/cc")).ok();
    assert_eq!(system.setup(&[], &[]).0, Some(0));
    assert!(!system.has_policy());
}
