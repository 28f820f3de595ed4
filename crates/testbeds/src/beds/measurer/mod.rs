//! Another program as the tester: it is told a load and a duration, and tells what it sent and what
//! came back.
//!
//! ```text
//! trammel ── {"trial":1,"load_fps":1e6,"duration_s":10,…} ──> program ══ frames ══> device
//!         <── {"trial":1,"sent":10000000,"received":9999990,"effective_duration_s":10} ──┘
//! ```
//! The messages are in `protocol`, the program's life is in `program`. What it says is checked as
//! far as it can be: what was not sent cannot have come.

mod program;
mod protocol;

use program::Program;
use protocol::{Hello, Reply, Request};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use trammel_bench::testbed::{Observation, Plan, Testbed, Traffic, Unable};
use trammel_bench::trial::{Failure, Load};
use trammel_core::label::Label;

/// For how long a program may be silent before it says who it is, and after a trial is over.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A device behind another program.
#[derive(Debug)]
pub struct Measurer {
    program: Program,
    hello: Hello,
    /// Bits a second, where the program does not say.
    rate: f64,
    /// Trials that were asked for.
    asked: u64,
}

impl Measurer {
    /// Starts `command`, a line for the shell, and hears who it is.
    pub fn start(
        command: &str,
        rate: f64,
        patience: Duration,
        interrupted: &Arc<AtomicBool>,
    ) -> Result<Measurer, Failure> {
        let mut program = Program::start(command, interrupted)?;
        let line = program.read(patience)?;
        let hello = Hello::read(&line).map_err(|why| program.fault(&why))?;
        Ok(Measurer {
            program,
            hello,
            rate,
            asked: 0,
        })
    }

    fn ask(&mut self, traffic: &Traffic, load: Load) -> Result<Observation, Failure> {
        self.asked += 1;
        let request = Request::of(self.asked, traffic, load);
        self.program.write(&request.line())?;
        let patience = PATIENCE + Duration::from_secs_f64(load.duration().as_secs_f64());
        let line = self.program.read(patience)?;
        let sources = self.hello.sources(traffic);
        let reply = Reply::read(&line, self.asked, load, sources);
        match reply.map_err(|why| self.program.fault(&why))? {
            Reply::Done(observed) => Ok(*observed),
            Reply::Unable(why) => Err(Unable(why).into()),
            Reply::Failed(why) => Err(self.program.fault(&why)),
        }
    }
}

impl Testbed for Measurer {
    fn label(&self) -> Label {
        Label::Measured
    }

    fn device(&self) -> String {
        self.hello.device.clone()
    }

    fn line_fps(&self, traffic: &Traffic) -> f64 {
        let rate = self.hello.line_rate_bps.unwrap_or(self.rate);
        let ways = self.hello.sources(traffic);
        f64::from(ways) * traffic.sizes.line_fps(rate)
    }

    fn sources(&self, traffic: &Traffic) -> u32 {
        self.hello.sources(traffic)
    }

    fn offer(&mut self, traffic: &Traffic, plan: &Plan) -> Result<Observation, Failure> {
        let [load] = plan.loads[..] else {
            return Err(Unable("a measurer offers one load at a time".to_owned()).into());
        };
        if plan.reset.is_some() {
            return Err(Unable("a measurer resets nothing".to_owned()).into());
        }
        self.ask(traffic, load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use trammel_bench::frames::Sizes;
    use trammel_core::Span;

    const HELLO: &str = r#"printf '%s\n' '{"measurer":1,"device":"a mock","line_rate_bps":1e9}'; "#;

    fn start(script: &str) -> Result<Measurer, Failure> {
        let interrupted = Arc::new(AtomicBool::new(false));
        Measurer::start(script, 1e10, Duration::from_secs(30), &interrupted)
    }

    fn offer(script: &str) -> Result<Observation, Failure> {
        let mut measurer = start(&format!("{HELLO}{script}"))?;
        let traffic = Traffic::of(Sizes::of(64).unwrap());
        let load = Load::new(1000.0, Span::from_ms(100)).unwrap();
        measurer.offer(&traffic, &Plan::of(&[load]))
    }

    #[test]
    fn what_it_says_is_what_was_observed() {
        let observed = offer(
            r#"read line; printf '%s\n' '{"trial":1,"sent":100,"received":90,"effective_duration_s":0.1,"latency_us":[[10,80],[20.5,10]],"reordered":2,"duplicated":1}'"#,
        )
        .unwrap();
        let outcome = &observed.outcome;
        assert_eq!((outcome.offered, outcome.forwarded), (100, 90));
        assert_eq!(outcome.effective, Span::from_ms(100));
        let latency = outcome.latency.as_ref().unwrap();
        assert_eq!(latency.count(), 90);
        assert_eq!(latency.quantile_time(0.5).unwrap().as_us(), 10);
        assert_eq!(
            (observed.faults.reordered, observed.faults.duplicated),
            (2, 1)
        );
    }

    #[test]
    fn a_frame_more_for_each_sender_and_a_hundredth_are_no_fault() {
        let sent = |hello: &str, sent: u64| {
            let answer =
                format!(r#"{{"trial":1,"sent":{sent},"received":90,"effective_duration_s":0.1}}"#);
            let script = format!("printf '%s\\n' '{hello}'; read line; echo '{answer}'");
            let traffic = Traffic::of(Sizes::of(64).unwrap());
            let load = Load::new(1000.0, Span::from_ms(100)).unwrap();
            start(&script).unwrap().offer(&traffic, &Plan::of(&[load]))
        };
        let one = r#"{"measurer":1,"device":"a mock"}"#;
        let four = r#"{"measurer":1,"device":"a mock","sources":4}"#;
        for (hello, most) in [(one, 102), (four, 105)] {
            assert_eq!(sent(hello, most).unwrap().outcome.offered, most);
            let said = sent(hello, most + 1).unwrap_err().to_string();
            assert_eq!(said.lines().count(), 1);
            assert!(said.contains("100 were requested"), "{said}");
        }
    }

    #[test]
    fn its_line_is_its_own_or_that_of_the_command() {
        let traffic = Traffic::of(Sizes::of(64).unwrap());
        let measurer = start(&format!("{HELLO}cat")).unwrap();
        assert_eq!(measurer.device(), "a mock");
        assert!((measurer.line_fps(&traffic) * 672.0 / 1e9 - 1.0).abs() < 1e-12);
        let measurer = start(r#"echo '{"measurer":1,"device":"x"}'; cat"#).unwrap();
        assert!((measurer.line_fps(&traffic) * 672.0 / 1e10 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn each_way_to_be_wrong_has_its_message() {
        let cases = [
            ("exit 3", "ended (exit status: 3) before it answered"),
            (
                "read line; echo hello",
                "sent `hello`, which is not an answer: ",
            ),
            (
                r#"read line; echo '{"trial":7,"sent":1,"received":1,"effective_duration_s":1}'"#,
                "answered trial 7; trial 1 was requested",
            ),
            (
                r#"read line; echo '{"trial":1,"sent":10,"received":11,"effective_duration_s":1}'"#,
                "11 of 10 frames were received",
            ),
            (
                r#"read line; echo '{"trial":1,"sent":103,"received":90,"effective_duration_s":0.1}'"#,
                "103 frames were sent, and 100 were requested",
            ),
            (
                r#"read line; echo '{"trial":1,"sent":10,"received":10,"effective_duration_s":-1}'"#,
                "`effective_duration_s` is -1",
            ),
            (
                r#"read line; echo '{"trial":1,"sent":10,"received":5,"effective_duration_s":1,"latency_us":[[1,6]]}'"#,
                "latencies of 6 frames, and 5 came",
            ),
            (
                r#"read line; echo '{"trial":1,"error":"port 1 is down"}'"#,
                "port 1 is down",
            ),
            (
                r#"read line; echo '{"trial":1}'"#,
                "neither counts nor an error",
            ),
            (
                r"read line; head -c 2000000 /dev/zero | tr '\0' x",
                "longer than 1048576 bytes",
            ),
        ];
        for (script, what) in cases {
            let said = offer(script).unwrap_err().to_string();
            assert!(said.contains(what), "{said}");
        }
        let unable = offer(r#"read line; echo '{"trial":1,"unable":"no IPv6"}'"#).unwrap_err();
        assert_eq!(unable.downcast::<Unable>().unwrap().0, "no IPv6");
        for (script, what) in [
            ("true", "ended (exit status: 0) before it answered"),
            (r#"echo '{"measurer":2,"device":"x"}'"#, "speaks version 2"),
            (r#"echo '{"measurer":1,"device":""}'"#, "`device` is empty"),
            (
                r#"echo '{"measurer":1,"device":"x","line_rate_bps":0}'"#,
                "`line_rate_bps` is 0",
            ),
        ] {
            let said = start(script).unwrap_err().to_string();
            assert!(said.contains(what), "{said}");
        }
    }

    #[test]
    fn one_that_is_silent_is_ended_in_time_or_when_the_user_interrupts() {
        let interrupted = Arc::new(AtomicBool::new(false));
        let silent = Measurer::start("sleep 1000", 1e9, Duration::from_millis(50), &interrupted);
        let said = silent.unwrap_err().to_string();
        assert!(said.contains("said nothing for"), "{said}");
        interrupted.store(true, std::sync::atomic::Ordering::SeqCst);
        let silent = Measurer::start("sleep 1000", 1e9, PATIENCE, &interrupted);
        assert_eq!(silent.unwrap_err().to_string(), "interrupted");
    }
}
