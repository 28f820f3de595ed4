use super::*;
use trammel_stats::table::CellType;

fn listing(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = names
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn flows() -> Table {
    let mut table = Table::with("flows", &[("rtt_s", CellType::Float)]);
    table.push(vec![0.01.into()]).unwrap();
    table
}

#[test]
fn nothing_appears_before_the_end_and_everything_after() {
    let parent = tempfile::tempdir().unwrap();
    let target = parent.path().join("deep/run");
    let mut folder = RunFolder::create(&target).unwrap();
    folder.write_table(&flows()).unwrap();
    folder
        .write_trace("loss=0.1/x", "flow 1", &flows())
        .unwrap();
    folder.write_figure("cwnd", "<svg/>").unwrap();
    assert!(!target.exists());
    folder.finish(&RunInfo::default()).unwrap();
    assert_eq!(
        listing(&target),
        ["figures", "flows.csv", "run.json", "traces"]
    );
    assert_eq!(listing(&target.join("traces")), ["loss=0.1_x.flow_1.csv"]);
    assert_eq!(listing(target.parent().unwrap()), ["run"]);
    assert_eq!(read_info(&target), Some(RunInfo::default()));
    assert_eq!(read_tables(&target).unwrap(), [flows()]);
}

#[test]
fn an_abandoned_run_leaves_nothing_and_keeps_the_earlier_one() {
    let parent = tempfile::tempdir().unwrap();
    let target = parent.path().join("run");
    let mut first = RunFolder::create(&target).unwrap();
    first.write_report("first").unwrap();
    first.finish(&RunInfo::default()).unwrap();
    let mut second = RunFolder::create(&target).unwrap();
    second.write_report("second").unwrap();
    drop(second);
    assert_eq!(listing(parent.path()), ["run"]);
    assert_eq!(
        fs::read_to_string(target.join("report.html")).unwrap(),
        "first"
    );
}

#[test]
fn an_earlier_run_is_replaced_but_not_the_notes_beside_it() {
    let parent = tempfile::tempdir().unwrap();
    let target = parent.path().join("run");
    let mut first = RunFolder::create(&target).unwrap();
    first.write("figures/old.svg", b"x").unwrap();
    first.finish(&RunInfo::default()).unwrap();
    fs::write(target.join("notes.txt"), "mine").unwrap();
    let mut second = RunFolder::create(&target).unwrap();
    second.write_table(&flows()).unwrap();
    second.finish(&RunInfo::default()).unwrap();
    assert_eq!(listing(&target), ["flows.csv", "notes.txt", "run.json"]);
    assert_eq!(listing(parent.path()), ["run"]);
}

#[test]
fn a_foreign_folder_is_refused_untouched() {
    let parent = tempfile::tempdir().unwrap();
    fs::write(parent.path().join("run.json"), "{\"schema\":\"other\"}").unwrap();
    let error = RunFolder::create(parent.path()).unwrap_err();
    assert!(matches!(error, RunFolderError::Foreign(_)), "{error}");
    let file = parent.path().join("run.json");
    assert!(RunFolder::create(&file).is_err(), "a file is not a folder");
    assert_eq!(listing(parent.path()), ["run.json"]);
}

#[test]
fn nothing_is_written_outside_the_folder() {
    let parent = tempfile::tempdir().unwrap();
    let mut folder = RunFolder::create(parent.path().join("run")).unwrap();
    for bad in ["../x", "/x", "", "a/../../x"] {
        assert!(folder.write(bad, b"").is_err(), "{bad}");
    }
    folder.write_trace("..", "/etc", &flows()).unwrap();
    let path = folder.finish(&RunInfo::default()).unwrap();
    assert_eq!(listing(&path.join("traces")), ["..._etc.csv"]);
}

fn killed(target: &Path) -> PathBuf {
    // As if a process had been killed that wrote `target`: its hidden folder is there, its lock is
    // not held.
    let hidden = target.with_file_name(".run.trammel");
    fs::create_dir_all(hidden.join("new")).unwrap();
    fs::write(hidden.join("lock"), "process 0\n").unwrap();
    hidden
}

#[test]
fn what_a_killed_process_left_is_removed() {
    let parent = tempfile::tempdir().unwrap();
    let target = parent.path().join("run");
    let hidden = killed(&target);
    fs::write(hidden.join("new/flows.csv"), "half").unwrap();
    // The user's, whatever it is called.
    fs::create_dir(parent.path().join(".run.partial-backup")).unwrap();
    let folder = RunFolder::create(&target).unwrap();
    folder.finish(&RunInfo::default()).unwrap();
    assert_eq!(listing(parent.path()), [".run.partial-backup", "run"]);
    assert_eq!(listing(&target), ["run.json"]);
}

#[test]
fn a_kill_between_any_two_steps_loses_no_file() {
    let finish = |target: &Path| {
        let mut folder = RunFolder::create(target).unwrap();
        folder.write_table(&flows()).unwrap();
        folder.finish(&RunInfo::default()).unwrap();
    };
    // The exchange was made, the old folder was not yet looked through; where names cannot be
    // exchanged, the old folder was moved away, and nothing was put into its place.
    for (left, is_gone) in [("new", false), ("old", false), ("old", true)] {
        let parent = tempfile::tempdir().unwrap();
        let target = parent.path().join("run");
        finish(&target);
        fs::write(target.join("notes.txt"), "mine").unwrap();
        let hidden = killed(&target);
        fs::remove_dir(hidden.join("new")).unwrap();
        fs::rename(&target, hidden.join(left)).unwrap();
        if !is_gone {
            let whole = parent.path().join("elsewhere");
            finish(&whole);
            fs::rename(whole, &target).unwrap();
        }
        finish(&target);
        let notes = fs::read_to_string(target.join("notes.txt")).unwrap();
        assert_eq!(notes, "mine", "{left}, {is_gone}");
        assert_eq!(listing(parent.path()), ["run"]);
    }
}

#[test]
fn a_file_of_the_user_whose_name_the_run_takes_is_kept_beside_it() {
    let parent = tempfile::tempdir().unwrap();
    let target = parent.path().join("run");
    let first = RunFolder::create(&target).unwrap();
    first.finish(&RunInfo::default()).unwrap();
    fs::write(target.join("flows.csv"), "mine").unwrap();
    let mut second = RunFolder::create(&target).unwrap();
    second.write_table(&flows()).unwrap();
    second.finish(&RunInfo::default()).unwrap();
    let mine = fs::read_to_string(target.join("flows.csv.old")).unwrap();
    assert_eq!(mine, "mine");
}

#[test]
fn another_run_is_refused_and_replaced_by_force_only() {
    let parent = tempfile::tempdir().unwrap();
    let out = |command: &str, seed: &str, is_forced| Out {
        dir: parent.path().join("run"),
        asked: Asked::of(command).with("--seed", seed),
        is_forced,
        has_parquet: false,
    };
    let finish = |out: &Out| {
        let folder = RunFolder::begin(out)?;
        folder.finish(&RunInfo::default())
    };
    finish(&out("run", "1", false)).unwrap();
    finish(&out("run", "1", false)).unwrap();
    for other in [out("run", "2", false), out("decode", "1", false)] {
        let error = finish(&other).unwrap_err().to_string();
        assert!(
            error.contains("`trammel run --seed 1`") && error.contains("--force"),
            "{error}"
        );
    }
    finish(&out("run", "2", true)).unwrap();
    finish(&out("run", "2", false)).unwrap();
    assert_eq!(listing(parent.path()), ["run"]);
}

#[test]
fn one_process_writes_a_folder_and_a_taken_place_loses_no_run() {
    let parent = tempfile::tempdir().unwrap();
    let target = parent.path().join("run");
    let mut first = RunFolder::create(&target).unwrap();
    first.write_table(&flows()).unwrap();
    if cfg!(target_os = "linux") {
        let error = RunFolder::create(&target).unwrap_err();
        assert!(matches!(error, RunFolderError::Busy { .. }), "{error}");
    }
    fs::create_dir(&target).unwrap();
    fs::write(target.join("photo.jpg"), "mine").unwrap();
    let path = first.finish(&RunInfo::default()).unwrap();
    assert_eq!(path, parent.path().join("run-2"));
    assert_eq!(listing(&target), ["photo.jpg"]);
    assert_eq!(listing(parent.path()), ["run", "run-2"]);
}

#[test]
fn eight_writers_lose_nothing() {
    let parent = tempfile::tempdir().unwrap();
    let target = parent.path().join("run");
    let first = RunFolder::create(&target).unwrap();
    first.finish(&RunInfo::default()).unwrap();
    fs::write(target.join("notes.txt"), "mine").unwrap();
    let [one, other] = ["one", "other"].map(|name| parent.path().join(name));
    fs::create_dir(&one).unwrap();
    fs::create_dir(&other).unwrap();
    let exchanges = super::workshop::swap(&one, &other).is_ok();
    fs::remove_dir(&one).unwrap();
    fs::remove_dir(&other).unwrap();
    let write = || {
        for _ in 0..50 {
            match RunFolder::create(&target) {
                Ok(mut folder) => {
                    folder.write_table(&flows()).unwrap();
                    folder.finish(&RunInfo::default()).unwrap();
                }
                Err(RunFolderError::Busy { .. }) => {}
                Err(other) => panic!("{other}"),
            }
            let notes = fs::read_to_string(target.join("notes.txt"));
            if exchanges {
                assert_eq!(notes.expect("it is there at every moment"), "mine");
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(write);
        }
    });
    assert_eq!(listing(&target), ["flows.csv", "notes.txt", "run.json"]);
    assert_eq!(listing(parent.path()), ["run"]);
}
