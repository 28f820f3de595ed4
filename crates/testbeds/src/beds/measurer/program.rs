//! A program that is spoken to line by line. It ends with the bench: when its standard input
//! closes, or by force.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use trammel_bench::trial::Failure;
use trammel_io::program::SHELL;
use trammel_io::signals;

/// The longest line that is read.
const LINE_BYTES: u64 = 1 << 20;
/// How often it is asked whether the user has interrupted.
const LOOK: Duration = Duration::from_millis(50);
/// For how long it may put its things in order once its input is closed.
const GRACE: Duration = Duration::from_secs(5);

/// A running program.
#[derive(Debug)]
pub(super) struct Program {
    command: String,
    child: Child,
    input: Option<ChildStdin>,
    /// Its lines; an error where one cannot be one. Closed where it has ended.
    lines: Receiver<Result<String, String>>,
    interrupted: Arc<AtomicBool>,
}

impl Program {
    /// Starts `command`, a line for the shell, in a process group of its own: what the user sends
    /// to ours does not reach it in the middle of a trial.
    pub(super) fn start(command: &str, interrupted: &Arc<AtomicBool>) -> Result<Program, Failure> {
        let mut child = Command::new(SHELL)
            .args(["-c", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| format!("`{command}` cannot be started: {error}"))?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let (sender, lines) = channel();
        if let Some(output) = output {
            // It ends with the pipe, or when nobody listens any more.
            std::thread::spawn(move || {
                let mut output = BufReader::new(output);
                while let Some(line) = next(&mut output) {
                    let is_last = line.is_err();
                    if sender.send(line).is_err() || is_last {
                        break;
                    }
                }
            });
        }
        Ok(Program {
            command: command.to_owned(),
            child,
            input,
            lines,
            interrupted: Arc::clone(interrupted),
        })
    }

    /// What is wrong with it, in a line.
    pub(super) fn fault(&self, why: &str) -> Failure {
        format!("the measurer `{}`: {why}", self.command).into()
    }

    /// Says `line`, which has its end.
    pub(super) fn write(&mut self, line: &str) -> Result<(), Failure> {
        let Some(input) = &mut self.input else {
            return Err(self.fault("its input is closed"));
        };
        match input
            .write_all(line.as_bytes())
            .and_then(|()| input.flush())
        {
            Ok(()) => Ok(()),
            // What it said last is worth more than that it is gone.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(self.fault(&error.to_string())),
        }
    }

    /// Its next line, for which it has so long.
    pub(super) fn read(&mut self, patience: Duration) -> Result<String, Failure> {
        let until = Instant::now() + patience;
        loop {
            if self.interrupted.load(Ordering::SeqCst) {
                return Err("interrupted".into());
            }
            let left = until.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(LOOK)) {
                Ok(Ok(line)) => return Ok(line),
                Ok(Err(why)) => return Err(self.fault(&why)),
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(RecvTimeoutError::Timeout) => {
                    let seconds = patience.as_secs_f64();
                    return Err(self.fault(&format!("said nothing for {seconds} s")));
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.end();
                    return Err(self.fault(&format!("ended ({status}) before it answered")));
                }
            }
        }
    }

    /// Closes its input, waits a while, and ends by force what is left of it; how it ended.
    fn end(&mut self) -> String {
        self.input = None;
        // After an interruption nobody waits for a trial to end.
        let is_asked = self.interrupted.load(Ordering::SeqCst);
        let until = Instant::now() + if is_asked { LOOK } else { GRACE };
        while let Ok(None) = self.child.try_wait() {
            if Instant::now() > until {
                // The shell and what it started.
                if let Ok(group) = i32::try_from(self.child.id()) {
                    let _ = signals::send(-group, signals::KILL);
                }
                break;
            }
            // What it still says is let go, so that it does not wait for a reader.
            if self.lines.recv_timeout(LOOK).is_err() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        match self.child.wait() {
            Ok(status) => status.to_string(),
            Err(error) => error.to_string(),
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.end();
    }
}

/// The next line without its end; the error is why it is none. None at the end.
fn next(output: &mut impl BufRead) -> Option<Result<String, String>> {
    let mut line = Vec::new();
    match output.take(LINE_BYTES).read_until(b'\n', &mut line) {
        Ok(0) => None,
        Ok(_) if line.len() as u64 == LINE_BYTES => {
            Some(Err(format!("sent a line longer than {LINE_BYTES} bytes")))
        }
        Ok(_) => {
            let text = String::from_utf8_lossy(&line);
            Some(Ok(text.trim_end().to_owned()))
        }
        Err(error) => Some(Err(error.to_string())),
    }
}
