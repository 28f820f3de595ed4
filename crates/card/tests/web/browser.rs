//! A Chromium that is driven by its remote debugging protocol over a pipe.
//!
//! `--remote-debugging-pipe`: the browser reads commands at descriptor 3 and writes answers to 4,
//! each a JSON object and a zero byte.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// How long a browser may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Browser {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    session: String,
    number: u64,
    _profile: tempfile::TempDir,
}

fn program() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    names
        .iter()
        .find_map(|name| trammel_io::program::find(name))
}

impl Browser {
    /// Starts one; without it, the reason is printed.
    pub(crate) fn start() -> Option<Browser> {
        let Some(program) = program() else {
            println!("skipped: no Chromium on the PATH");
            return None;
        };
        let profile = tempfile::tempdir().expect("a temporary folder can be made");
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null"])
            .arg(&program)
            .args(["--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--no-first-run", "--disable-background-networking"])
            .args([
                "--disable-component-update",
                "--disable-sync",
                "--disable-quic",
            ])
            .args(["--hide-scrollbars", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("there is a shell");
        let commands = child.stdin.take().expect("it is piped");
        let output = BufReader::new(child.stdout.take().expect("it is piped"));
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            for answer in output.split(0) {
                let answer = answer
                    .ok()
                    .and_then(|bytes| serde_json::from_slice(&bytes).ok());
                if answer.is_none_or(|answer| sender.send(answer).is_err()) {
                    break;
                }
            }
        });
        let mut browser = Browser {
            child,
            commands,
            answers,
            session: String::new(),
            number: 0,
            _profile: profile,
        };
        let target = browser.try_call("Target.createTarget", &json!({ "url": "about:blank" }));
        let Some(target) = target else {
            println!("skipped: {} does not run here", program.display());
            return None;
        };
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.call("Target.attachToTarget", &attach);
        browser.session = attached["sessionId"].as_str().expect("a name").to_owned();
        browser.call("Page.enable", &json!({}));
        // Errors from the first script on.
        let early = "window.faults = []; \
            addEventListener('error', (e) => faults.push(e.message)); \
            addEventListener('unhandledrejection', (e) => faults.push(String(e.reason))); \
            addEventListener('securitypolicyviolation', (e) => faults.push(e.violatedDirective)); \
            console.error = (...all) => faults.push(all.join(' '))";
        let early = json!({ "source": early });
        browser.call("Page.addScriptToEvaluateOnNewDocument", &early);
        Some(browser)
    }

    fn try_call(&mut self, method: &str, parameters: &Value) -> Option<Value> {
        self.number += 1;
        let mut command = json!({ "id": self.number, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = self.session.as_str().into();
        }
        self.commands
            .write_all(format!("{command}\0").as_bytes())
            .ok()?;
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let answer = self.answers.recv_timeout(left).ok()?;
            if answer["id"] == self.number {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return Some(answer["result"].clone());
            }
        }
    }

    /// What a command of the protocol gives.
    pub(crate) fn call(&mut self, method: &str, parameters: &Value) -> Value {
        let answer = self.try_call(method, parameters);
        answer.unwrap_or_else(|| panic!("{method}: the browser does not answer"))
    }

    /// The value of an expression in the page, awaited.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({
            "expression": expression, "awaitPromise": true, "returnByValue": true,
        });
        let result = self.call("Runtime.evaluate", &parameters);
        let fault = &result["exceptionDetails"];
        assert!(fault.is_null(), "{expression}: {fault}");
        result["result"]["value"].clone()
    }

    /// Waits until an expression gives `wanted`.
    pub(crate) fn until(&mut self, expression: &str, wanted: &Value) {
        let until = Instant::now() + PATIENCE;
        loop {
            let value = self.value(expression);
            if value == *wanted {
                return;
            }
            if Instant::now() >= until {
                let faults = self.value("String(window.faults)");
                panic!("{expression}: {value}, not {wanted}; faults: {faults}");
            }
            std::thread::yield_now();
        }
    }

    /// Opens a page as wide as a screen of `width`, in light or in dark.
    pub(crate) fn open(&mut self, address: &str, width: u32, is_dark: bool) {
        let metrics = json!({
            "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false,
        });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let scheme = if is_dark { "dark" } else { "light" };
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({ "features": [feature] }),
        );
        self.call("Page.navigate", &json!({ "url": "about:blank" }));
        self.call("Page.navigate", &json!({ "url": address }));
        let alive = "document.getElementById('alive')?.textContent";
        self.until(alive, &json!("live"));
    }

    /// Types text into what has the focus.
    pub(crate) fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({ "text": text }));
    }

    /// Presses a key.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        let text = if key == "Enter" { "\r" } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let parameters = json!({
                "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code, "text": text,
            });
            self.call("Input.dispatchKeyEvent", &parameters);
        }
    }

    /// A picture of the whole page, as PNG in base 64.
    pub(crate) fn picture(&mut self) -> String {
        let parameters = json!({ "captureBeyondViewport": true, "format": "png" });
        let picture = self.call("Page.captureScreenshot", &parameters);
        picture["data"].as_str().expect("a picture").to_owned()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
