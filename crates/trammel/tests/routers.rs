//! What a person sees of faulty descriptions of routers: one message for each fault, with its
//! place, what is wrong, why, and what to do.

use std::fmt::Write;
use std::process::Command;

/// The first line of each description.
const SUBJECT: &str = "subject = \"forwarding\"\n";

/// A name, and the rest of a description.
const CASES: &[(&str, &str)] = &[
    ("no routers", "router = []\n"),
    (
        "no routers in a topology",
        "[topology]\nkind = \"random\"\nrouters = 0\n",
    ),
    (
        "an empty ring",
        "[topology]\nkind = \"ring\"\nrouters = 0\n",
    ),
    (
        "a ring of two",
        "[topology]\nkind = \"ring\"\nrouters = 2\n",
    ),
    ("an unknown topology", "topology = \"rign\"\n"),
    (
        "an unknown router in a link",
        "[[router]]\nname = \"left\"\n[[router]]\nname = \"right\"\n\
         [[link]]\nbetween = [\"left\", \"rihgt\"]\n",
    ),
    (
        "a link to itself",
        "[[router]]\nname = \"a\"\n[[link]]\nbetween = [\"a\", \"a\"]\n",
    ),
    (
        "a link between nobody",
        "[[router]]\nname = \"a\"\n[[link]]\nbetween = []\n",
    ),
    (
        "two routers of one name",
        "[[router]]\nname = \"a\"\n[[router]]\nname = \"a\"\nhello_interval = \"6 s\"\n\
         [[router]]\nname = \"b\"\n[[link]]\nbetween = [\"a\", \"b\"]\n",
    ),
    (
        "two links of one name",
        "topology = \"ring\"\n[[link]]\nname = \"x\"\nbetween = [\"r0\", \"r1\"]\n\
         [[link]]\nname = \"x\"\nbetween = [\"r1\", \"r2\"]\n",
    ),
    ("a router without a name", "[[router]]\nhosts = true\n"),
    ("an empty name", "[[router]]\nname = \"\"\n"),
    (
        "an event after the end",
        "topology = \"ring\"\nduration = \"60 s\"\n[[event]]\nat = \"61 s\"\nlink = \"r0-r1\"\n",
    ),
    (
        "a time below 0",
        "topology = \"ring\"\n[[event]]\nat = \"-1 s\"\nlink = \"r0-r1\"\n",
    ),
    (
        "a duration of 0",
        "topology = \"ring\"\nduration = \"0 s\"\n",
    ),
    (
        "a time without a unit",
        "topology = \"ring\"\n[[event]]\nat = 5\nlink = \"r0-r1\"\n",
    ),
    (
        "an event of nothing",
        "topology = \"ring\"\n[[event]]\nat = \"5 s\"\n",
    ),
    (
        "an event of both",
        "topology = \"ring\"\n[[event]]\nat = \"5 s\"\nlink = \"r0-r1\"\nrouter = \"r0\"\n",
    ),
    (
        "an event of an unknown link",
        "topology = \"ring\"\n[[event]]\nat = \"5 s\"\nlink = \"r0-r3\"\n",
    ),
    (
        "an event of an unknown router",
        "topology = \"ring\"\n[[event]]\nat = \"5 s\"\nrouter = \"r7\"\n",
    ),
    (
        "a repair that lasts",
        "topology = \"ring\"\n[[event]]\nat = \"5 s\"\nlink = \"r0-r1\"\naction = \"repair\"\n\
         lasts = \"1 s\"\n",
    ),
    (
        "an address that is none",
        "[[router]]\nname = \"a\"\n\
         [[router.interface]]\nname = \"eth0\"\naddress = \"10.0.0.300/24\"\n",
    ),
    (
        "subnets that overlap",
        "[[router]]\nname = \"a\"\n\
         [[router.interface]]\nname = \"eth0\"\naddress = \"10.9.0.1/16\"\n\
         [[router.interface]]\nname = \"eth1\"\naddress = \"10.9.1.1/24\"\n",
    ),
    (
        "two gateways",
        "[[router]]\nname = \"a\"\nkind = \"gateway\"\n\
         [[router]]\nname = \"b\"\nkind = \"gateway\"\n\
         [[link]]\nbetween = [\"a\", \"b\"]\n",
    ),
    (
        "a HELLO interval of a fraction",
        "topology = \"ring\"\nhello_interval = \"1.5 s\"\n",
    ),
    (
        "a misspelt key",
        "topology = \"ring\"\nhelo_interval = \"5 s\"\n",
    ),
    (
        "devices with five ports",
        "topology = \"campus\"\ndata_plane = \"devices\"\n",
    ),
    (
        "engines that are none",
        "topology = \"ring\"\nengines = [\"guess\"]\n",
    ),
    ("no engines", "topology = \"ring\"\nengines = []\n"),
];

#[test]
fn each_fault_of_a_description_is_one_message() {
    let folder = tempfile::tempdir().unwrap();
    let mut all = String::new();
    for (name, text) in CASES {
        let file = folder.path().join("bad.toml");
        std::fs::write(&file, format!("{SUBJECT}{text}")).unwrap();
        let output = Command::new(env!("CARGO_BIN_EXE_trammel"))
            .args(["run", "bad.toml"])
            .current_dir(folder.path())
            .env("NO_COLOR", "1")
            .output()
            .unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}: {said}");
        assert_eq!(said.matches("error: ").count(), 1, "{name}: {said}");
        writeln!(all, "== {name} ==\n{said}").unwrap();
    }
    insta::assert_snapshot!(all);
}
