//! The runner fails where it should: a wrong expectation, a script that fails, a test that is no
//! test.

use super::parse::parse;
use super::run::{Ended, Runner};
use std::path::Path;
use std::time::Duration;

fn runner() -> Runner {
    Runner {
        path: std::env::var("PATH").unwrap_or_default(),
        limit: Duration::from_secs(20),
    }
}

/// How the only test of a file with `text` ends.
fn ended(text: &str) -> Ended {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("T-01.clicktest");
    std::fs::write(&path, text).expect("the file can be written");
    match parse(&path) {
        Ok(tests) => runner().run(&tests[0]),
        Err(why) => Ended::Failed(why),
    }
}

#[track_caller]
fn passes(text: &str) {
    assert_eq!(ended(text), Ended::Passed);
}

/// The test fails, and says each of `words`.
#[track_caller]
fn fails(text: &str, words: &[&str]) {
    let Ended::Failed(why) = ended(text) else {
        panic!("it must fail:\n{text}");
    };
    for word in words {
        assert!(why.contains(word), "{word:?} is not in:\n{why}");
    }
}

#[test]
fn a_wrong_line_fails_and_is_shown_with_the_right_one() {
    let text = "%script\nprintf 'a\\nb\\nc\\n'\n%expect\na\nx\nc\n";
    fails(text, &["stdout", "\n-x\n", "\n+b\n", "\n a\n"]);
    passes(&text.replace("\nx\n", "\nb\n"));
}

#[test]
fn a_line_too_few_or_too_many_fails() {
    fails("%script\necho a\n%expect\na\nb\n", &["-b"]);
    fails("%script\necho a; echo b\n%expect\na\n", &["+b"]);
    fails("%script\necho a\n%expect stdout\n%eof\n", &["+a"]);
    fails("%script\ntrue\n%expect\na\n", &["-a"]);
}

#[test]
fn lines_out_of_order_fail() {
    fails("%script\necho a; echo b\n%expect\nb\na\n", &["-", "+"]);
}

#[test]
fn a_command_that_fails_fails_though_all_is_as_expected() {
    let text = "%script\necho a\nfalse\ntrue\n%expect\na\n";
    fails(text, &["ends with 1"]);
    fails("%script\nexit 7\n", &["ends with 7"]);
    fails(
        "%script\nno_such_command_at_all\n",
        &["ends with 127", "not found"],
    );
}

#[test]
fn a_file_that_was_not_written_fails() {
    fails("%script\ntrue\n%expect result\na\n", &["result"]);
}

#[test]
fn a_script_that_runs_too_long_is_ended() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("T.clicktest");
    std::fs::write(&path, "%script\nsleep 300\n").expect("the file can be written");
    let quick = Runner {
        limit: Duration::from_millis(300),
        ..runner()
    };
    let ended = quick.run(&parse(&path).expect("a test")[0]);
    assert!(matches!(ended, Ended::Failed(why) if why.contains("too long")));
}

#[test]
fn what_a_script_leaves_running_is_ended_with_it() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let number = folder.path().join("number");
    let text = format!("%script\nsleep 300 &\necho $! >{}\n", number.display());
    passes(&text);
    let number = std::fs::read_to_string(number).expect("the file exists");
    let still = Path::new("/proc").join(number.trim()).join("stat");
    for _ in 0..200 {
        // A process whose parent is gone may stay a while as a name: then its state is Z.
        let stat = std::fs::read_to_string(&still).unwrap_or_default();
        if stat.is_empty() || stat.contains(") Z") {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("process {} still runs", number.trim());
}

#[test]
fn sections_and_flags_that_do_not_exist_fail() {
    fails("%script\ntrue\n%expectation\na\n", &[":3:", "%expectation"]);
    fails("%script\ntrue\n%file -w a\n", &["-w"]);
    fails("%script\ntrue\n%expect -z a\n", &["-z"]);
    fails("%script\ntrue\n%file ../a\n", &["../a"]);
    fails("%script\ntrue\n%file a\n%file a\n", &["twice"]);
    fails("%script\ntrue\n%expect a\n%expect a\n", &["twice"]);
    fails("%info\nnothing to run\n", &["no %script"]);
    fails("%script\ntrue\n%file +2 a\nab\nwords\n", &["no section"]);
    fails("%script\ntrue\n%include no-such-file\n", &["no-such-file"]);
    fails("%script\ntrue\n%file +9 a\nshort\n", &["ends within"]);
    fails("%script\necho a\n%expect\n{{(}}\n", &["no pattern"]);
}

#[test]
fn a_requirement_that_fails_skips_and_says_which() {
    let skipped = ended("%require\ntrue\nno_such_program_at_all\n%script\nfalse\n");
    assert!(matches!(skipped, Ended::Skipped(Some(why)) if why.contains("no_such_program_at_all")));
    assert_eq!(
        ended("%require -q\nfalse\n%script\nfalse\n"),
        Ended::Skipped(None)
    );
    fails("%require\ntrue\n%script\nfalse\n", &["ends with 1"]);
}

#[test]
fn requirements_run_before_the_files_are_there() {
    passes(
        "%require\ntest ! -e f\n%script\ntest -e f && test ! -s g && cat d/h\n%file f g d/h\n\
         %expect\n",
    );
}

#[test]
fn patterns_stand_for_the_whole_line() {
    passes("%script\necho a12.\n%expect\na{{\\d+}}.\n");
    fails(
        "%script\necho a12b\n%expect\na{{\\d+}}\n",
        &["-a{{", "+a12b"],
    );
    fails("%script\necho a12x\n%expect\na{{\\d+}}.\n", &["+a12x"]);
    passes("%script\necho 5\n%expect\n{{(?!6)\\d}}\n");
    fails("%script\necho 6\n%expect\n{{(?!6)\\d}}\n", &["+6"]);
}

#[test]
fn comments_of_a_line_are_shown_where_it_differs() {
    passes("%script\necho a\n%expect\na   {{? the first letter }}\n");
    fails(
        "%script\necho b\n%expect\na   {{? the first letter }}\n",
        &["(the first letter)"],
    );
}

#[test]
fn blank_lines_and_space_at_the_end_do_not_count() {
    passes("%script\nprintf 'a  \\n\\n\\nb\\n\\n'\n%expect\n\na\nb  \n");
    fails("%script\nprintf ' a\\n'\n%expect\na\n", &["+ a"]);
    passes("%script\nprintf ' a  b\\n'\n%expect -w\na b\n");
    passes("%script\nprintf ' a  7\\n'\n%expect -w\na {{\\d}}\n");
}

#[test]
fn verbatim_is_to_the_byte() {
    passes("%script\nprintf 'a \\n'\n%expectv\na \n");
    fails("%script\nprintf 'a\\n'\n%expectv\na \n", &["-a "]);
    fails("%script\nprintf 'a'\n%expectv\na\n", &["ends are not"]);
    fails("%script\necho 12\n%expectv\n{{12}}\n", &["+12"]);
    passes("%script\nprintf 'ab'\n%expectv +2\nab");
    passes("%script\nprintf '\\377\\001'\n%expectv -e\n/wE=\n");
    fails("%script\nprintf '\\377\\002'\n%expectv -e\n/wE=\n", &["@@"]);
}

#[test]
fn expectx_takes_each_line_as_a_pattern() {
    passes("%script\necho abbb\n%expectx\nab+\n");
    passes("%script\necho ABBB\n%expectx -i\nab+\n");
    fails("%script\necho ABBB\n%expectx\nab+\n", &["+ABBB"]);
    fails("%script\necho xabbb\n%expectx\nab+\n", &["+xabbb"]);
}

#[test]
fn one_alternative_is_enough_and_none_is_not() {
    let text = "%script\necho b\n%expect -a\na\n%expect -a\nb\n";
    passes(text);
    fails(&text.replace("echo b", "echo c"), &["-a", "+c"]);
}

#[test]
fn ignored_lines_are_left_out_of_what_came_and_of_nothing_else() {
    let script = "%script\necho keep; echo drop 7; echo drop x\n%expect\nkeep\n";
    passes(&format!("{script}%ignore\ndrop {{{{\\w}}}}\n"));
    passes(&format!("{script}%ignorex\ndrop .\n"));
    passes(&format!("{script}%ignorev stdout\ndrop 7\ndrop x\n"));
    fails(&format!("{script}%ignorev\ndrop 7\n"), &["+drop x"]);
    fails(&format!("{script}%ignorex stderr\ndrop .\n"), &["+drop 7"]);
    fails(&format!("{script}%ignorex\nrop .\n"), &["+drop 7"]);
}

#[test]
fn files_are_written_as_they_stand() {
    passes("%script\ncat a\n%file -d a\n %b\n c\n%expectv\n\\%b\nc\n");
    passes("%script\ncat a\n%file +2 a\n%b%expectv\n\\%b");
    passes("%script\ncat a\n%file -e a\nJWI=\n%expectv +2\n%b");
    passes("%script\ncat\n%stdin\nhere\n%expect\nhere\n");
}

#[test]
fn a_file_may_hold_several_tests_and_what_is_cut_is_not_there() {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let path = folder.path().join("T.clicktest");
    let text = "%script\necho 1\n%expect\n1\n%cut\n%script\nfalse\n%eot\n%script\necho 2\n%expect\n\
                3\n%eof\n%bad\n";
    std::fs::write(
        &path,
        text.replace("%cut\n%script\nfalse\n", "%cut\nfalse\n"),
    )
    .expect("the file can be written");
    let tests = parse(&path).expect("two tests");
    let ended: Vec<_> = tests.iter().map(|test| runner().run(test)).collect();
    assert_eq!(ended.len(), 2);
    assert_eq!(ended[0], Ended::Passed);
    assert!(matches!(ended[1], Ended::Failed(_)));
}

#[test]
fn subtests_are_marks_not_output() {
    passes("%script\nclicktest_subtest one; echo a\n%expect\na\n%stderr\n");
    passes("%script\necho a >d/e\n%expect d/e\na\n");
}
