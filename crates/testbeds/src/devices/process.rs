//! A program that is the device under test, or a host beside it: in its namespace, and gone with
//! the bench, however that ends.
//!
//! A shell stands between: it starts the program, and when the pipe to it closes it kills the
//! process group that both are in. The kernel closes that pipe even where this process is killed.
//!
//! What a user gives as the device runs in the user's folder and environment; programs that we
//! choose run isolated ([`trammel_io::program`]).

use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use trammel_io::netns::Namespace;
use trammel_io::{program, signals};

/// Starts the program that its arguments are, and kills the group once nobody holds the pipe.
const KEEPER: &str = r#"exec 3<&0
"$@" </dev/null 3<&- & program=$!
(read -r nothing <&3; kill -KILL -$$) >/dev/null 2>&1 &
wait $program"#;
/// What is kept of what it says.
const SAID_BYTES: usize = 4096;

/// A running program.
#[derive(Debug)]
pub(crate) struct Process {
    words: Vec<String>,
    /// The folder that it runs isolated in, where it does.
    folder: Option<PathBuf>,
    child: Child,
    said: Arc<Mutex<Vec<u8>>>,
    listener: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts `words`, which a user gave, in `namespace`.
    pub(crate) fn start(namespace: &Namespace, words: &[String]) -> io::Result<Process> {
        Process::start_in(namespace, words, None)
    }

    /// Starts `words`, of which the first is the path of a program, isolated in `folder`.
    pub(crate) fn isolated(
        namespace: &Namespace,
        words: &[String],
        folder: &Path,
    ) -> io::Result<Process> {
        Process::start_in(namespace, words, Some(folder))
    }

    fn start_in(
        namespace: &Namespace,
        words: &[String],
        folder: Option<&Path>,
    ) -> io::Result<Process> {
        let mut shell = Command::new(program::SHELL);
        if let Some(folder) = folder {
            program::isolate(&mut shell, folder);
        }
        shell
            .args(["-c", KEEPER, "sh"])
            .args(words)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .process_group(0);
        let mut child = namespace.run(|| shell.spawn())?;
        let said = Arc::new(Mutex::new(Vec::new()));
        let listener = child.stderr.take().map(|mut pipe| {
            let said = Arc::clone(&said);
            std::thread::spawn(move || {
                let mut bytes = [0; 1024];
                while let Ok(count @ 1..) = pipe.read(&mut bytes) {
                    let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
                    said.extend_from_slice(&bytes[..count]);
                    let too_much = said.len().saturating_sub(SAID_BYTES);
                    said.drain(..too_much);
                }
            })
        });
        Ok(Process {
            words: words.to_vec(),
            folder: folder.map(Path::to_owned),
            child,
            said,
            listener,
        })
    }

    /// Why it runs no more, if it does not, as the end of a sentence about it.
    pub(crate) fn ended(&mut self) -> Option<String> {
        let status = match self.child.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => status.to_string(),
            Err(error) => error.to_string(),
        };
        self.end();
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let said = String::from_utf8_lossy(&said);
        Some(format!("has ended ({status}): {}", said.trim()))
    }

    /// Kills it and starts it anew.
    pub(crate) fn restart(&mut self, namespace: &Namespace) -> io::Result<()> {
        self.end();
        *self = Process::start_in(namespace, &self.words, self.folder.as_deref())?;
        Ok(())
    }

    /// Kills the group and waits for what was started to be gone.
    fn end(&mut self) {
        if let Ok(group) = i32::try_from(self.child.id()) {
            // There is none where all have ended.
            let _ = signals::send(-group, signals::KILL);
        }
        self.child.stdin = None;
        let _ = self.child.wait();
        if let Some(listener) = self.listener.take() {
            // Its pipe is closed: nobody is left to write.
            let _ = listener.join();
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}
