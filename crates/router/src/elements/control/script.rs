//! Runs a script that reads and writes handlers.
//!
//! # What it does
//! Each argument is an instruction: `set`, `print`, `read`, `write`, `wait`, `pause`, `label`,
//! `goto`, `return`, `stop` and others. `TYPE` says what makes the script run: the start of the
//! router, its handler `run`, each packet, any handler, the driver's stop events or signals. A
//! packet leaves by the port that the script returns, by 0 where it ends, and is dropped where it
//! exits.
//!
//! # Handlers
//! - `run`: runs the script; its arguments are `$1` and so on, and what it returns is the answer
//! - `step`: lets a script that waits pass so many instructions
//! - `goto`: has the script go on at a label
//! - `get`: the value of a variable
//! - `shift`: takes the first word off a variable and gives it
//!
//! # Example
//! ```click
//! // 0 to 4, and then the end.
//! Script(set x 0, label more, print $x, set x $(add $x 1), goto more $(lt $x 5), stop)
//! ```

use crate::elements::Entry;
use crate::script::Script;
use crate::script::machine::element::PARAMS;

/// The class.
pub static ENTRY: Entry = Entry::new("Script", "runs a script on handlers", || {
    Box::<Script>::default()
})
.ports("-/-", "ah/ah")
.params(PARAMS);

#[cfg(test)]
mod tests {
    use crate::engine::driver::Progress;
    use crate::load::testing::{errors, loaded};

    /// What a configuration prints on standard output and standard error.
    fn prints(config: &str) -> (String, String) {
        let mut run = loaded(config);
        run.run(5.0);
        let memory = run.host.memory();
        (memory.printed.clone(), memory.said.clone())
    }

    #[test]
    fn an_active_script_counts_and_stops() {
        let mut run = loaded(
            "Script(set x 0, label l, print $x, set x $(add $x 1), goto l $(lt $x 3), stop)",
        );
        assert_eq!(run.run(1.0), Progress::Stopped);
        assert_eq!(run.host.memory().printed, "0\n1\n2\n");
    }

    #[test]
    fn quotes_go_only_where_the_instruction_says() {
        let (printed, _) = prints(
            "Idle -> c :: Counter -> Idle; \
             Script(set x \"$(c.count)\", print $x, setq x \"$(c.count)\", print $x, \
             print c.count, print \"c.count\", set y c.count, print $y, print $($y), stop)",
        );
        assert_eq!(printed, "\"0\"\n0\n0\nc.count\nc.count\n0\n");
    }

    #[test]
    fn a_passive_script_answers_with_its_arguments() {
        let (printed, _) = prints(
            "s :: Script(TYPE PASSIVE, return $1-$#-$0-$write); \
             Script(print $(s.run a b c), stop)",
        );
        assert_eq!(printed, "a-3-run-false\n");
    }

    #[test]
    fn a_script_reads_and_writes_itself_and_is_called_back() {
        let (printed, said) = prints(
            "a :: Script(init n 0, write set n 7, print $n, print $(a.get n), print $(b.run), \
             stop); \
             b :: Script(TYPE PASSIVE, return $(a.add 1 2)$(a.get n))",
        );
        assert_eq!((printed.as_str(), said.as_str()), ("7\n7\n37\n", ""));
    }

    #[test]
    fn a_proxy_answers_any_handler_and_tells_its_errors() {
        let (printed, said) = prints(
            "p :: Script(TYPE PROXY, goto other $(ne $0 a), return yes, label other, \
             error bad handler); \
             Script(print p.a, print p.b, write p.c 1, print $?, stop)",
        );
        assert_eq!(printed, "yes\n-1\n");
        assert_eq!(
            said,
            "While executing 'Script@2 :: Script':\n  While calling 'p.b':\n    bad handler\n  \
             While calling 'p.c 1':\n    bad handler\n"
        );
    }

    #[test]
    fn packets_leave_by_the_port_that_is_returned() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 7, STOP true) -> s :: Script(TYPE PACKET, init i 0, set j $i, \
             set i $(mod $(add $i 1) 3), return $j) -> a :: Counter -> Discard; \
             s [1] -> b :: Counter -> Discard; ",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.read("b.count")),
            ("3".into(), "2".into())
        );
        assert_eq!(run.ctx.pool().in_use(), 0);
    }

    #[test]
    fn an_exit_drops_the_packet() {
        let mut run = loaded(
            "InfiniteSource(LIMIT 3, STOP true) -> Script(TYPE PACKET, exit) -> a :: Counter \
             -> Discard",
        );
        run.run(1.0);
        assert_eq!(
            (run.read("a.count"), run.ctx.pool().in_use()),
            ("0".into(), 0)
        );
    }

    #[test]
    fn a_loop_without_a_wait_is_given_up() {
        let (_, said) = prints("s :: Script(label a, goto a); Script(wait 1, stop)");
        assert_eq!(said, "s :: Script: too many jumps, giving up\n");
    }

    #[test]
    fn a_variable_that_doubles_does_not_fill_the_memory() {
        let (printed, said) = prints(
            "s :: Script(set x \"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\", label a, set x $x$x, \
             goto a); \
             Script(wait 1, print $(length $(s.get x)), stop)",
        );
        assert!(
            said.contains("variables come to more than 1048576 bytes"),
            "{}",
            &said[..200]
        );
        let length: usize = printed.trim().parse().expect("a length");
        assert!(length <= 1 << 20, "{length}");
    }

    #[test]
    fn errors_stand_beneath_the_script_that_made_them() {
        let (_, said) = prints(
            "Idle -> c :: Counter -> Idle; Script(print $(foo), write c.bar 1, read c.count x, \
             goto l foo, label l, error gone wrong)",
        );
        assert_eq!(
            said,
            "While executing 'Script@4 :: Script':\n  no 'foo' read handler\n  no 'c.bar' write \
             handler\n  \
             read handler 'c.count' does not take parameters\n  bad condition 'foo'\n  gone wrong\n"
        );
    }

    #[test]
    fn files_are_written_and_read_again() {
        let (printed, _) = prints(
            "Script(print >f \"one\", print >>f \"two\", printn $(cat f), read length \"abc\", \
             stop)",
        );
        assert_eq!(printed, "one\ntwo\n");
    }

    #[test]
    fn exports_are_handlers() {
        let mut run = loaded("s :: Script(TYPE PASSIVE, export x 5, exportq y \"a b\")");
        assert_eq!(
            (run.read("s.x"), run.read("s.y")),
            ("5".into(), "a b".into())
        );
        assert!(
            run.read("s.handlers")
                .starts_with("y\tr\nx\tr\nshift\tr+\n")
        );
    }

    #[test]
    fn configurations_that_cannot_be_are_refused() {
        let text = errors(
            "Script(TYPE SIGNAL FOO); Script(TYPE PACKET); Idle -> Script(TYPE ACTIVE); \
             DriverManager; DriverManager; Script(foo)",
        );
        for line in [
            "bad signal number",
            "PACKET script must have inputs",
            "ports allowed only on PACKET scripts",
            "router has more than one driver script",
            "syntax error at 'foo'",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
    }
}
