//! What a script's commands set: the few words of a shell that scripts are set up with.
//!
//! Nothing is executed. Statements stand on lines of their own or between `;` and `&&`;
//! redirections and comments go; `$((2*1024))` is a number. Known are `sysctl`, `set_sysctls.py`,
//! files of such statements (`…/defaults.sh`), and what has no effect on a connection in virtual
//! time. Anything else skips the script.

use crate::sysctl;
use trammel_core::time::Span;
use trammel_tcp::stack::{EcnMode, LINUX_RMEM_MAX, Stack};

/// How deep files of commands may name each other.
const DEPTH: u32 = 4;

/// What a script has set before a socket is made.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) stack: Stack,
    /// Congestion control of new sockets.
    pub(crate) congestion_control: &'static str,
    pub(crate) asks_for_ecn: EcnMode,
    pub(crate) grants_ecn: EcnMode,
    /// Send buffer: what a socket begins with, and the most that it grows to, bytes.
    pub(crate) send_buffer: (u64, u64),
}

impl Default for Settings {
    /// Linux 6 with its defaults, on a clock without ticks: a script's time is that of the rule,
    /// and how late a kernel's timers come is not judged.
    fn default() -> Settings {
        Settings {
            stack: Stack {
                nagle: true,
                hz: 0,
                random_timestamps: false,
                receive_buffer: 131_072,
                max_receive_buffer: 6_291_456,
                rmem_max: LINUX_RMEM_MAX,
                min_rto: Span::from_ms(200),
                ..Stack::linux_6()
            },
            congestion_control: "cubic",
            asks_for_ecn: EcnMode::Off,
            grants_ecn: EcnMode::Classic,
            send_buffer: (16_384, 4_194_304),
        }
    }
}

/// Reads a file that a command of a script names; `None` where there is none.
pub type Files<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Carries out the commands in `text`; an error names what is not known.
pub(crate) fn run(settings: &mut Settings, text: &str, files: Files<'_>) -> Result<(), String> {
    statements(settings, text, files, DEPTH)
}

fn statements(
    settings: &mut Settings,
    text: &str,
    files: Files<'_>,
    depth: u32,
) -> Result<(), String> {
    let joined = text.replace("\\\n", " ");
    for line in joined.lines() {
        let words = words(line)?;
        for statement in words.split(|word| matches!(word.as_str(), ";" | "&&")) {
            command(settings, statement, files, depth)?;
        }
    }
    Ok(())
}

fn command(
    settings: &mut Settings,
    words: &[String],
    files: Files<'_>,
    depth: u32,
) -> Result<(), String> {
    let Some((first, arguments)) = words.split_first() else {
        return Ok(());
    };
    let name = first.rsplit('/').next().unwrap_or(first);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let unknown = || format!("the command `{}`", words.join(" "));
    match (name, arguments.as_slice()) {
        ("sysctl" | "set_sysctls.py", assignments) => {
            for assignment in assignments.iter().filter(|word| !word.starts_with('-')) {
                let (name, value) = assignment.split_once('=').ok_or_else(unknown)?;
                let name = name.strip_prefix("/proc/sys/").unwrap_or(name);
                sysctl::set(settings, name, value)?;
            }
            Ok(())
        }
        // No metrics are kept from script to script; the queue in front of the wire holds nothing
        // back; what is on the wire has been segmented whoever did it; settings do not outlive a
        // script.
        ("ip", ["tcp_metrics", "flush", ..])
        // Counters begin at 0.
        | ("nstat", ["-n"])
        | ("tc", ["qdisc", "add" | "replace", "dev", _, "root", "pfifo"])
        | ("ethtool", ["-K", _, ..]) => Ok(()),
        ("tc", ["qdisc", "add" | "replace", "dev", _, "root", "fq"]) => {
            // What it paces are super-segments, each as a whole.
            settings.stack.pacing = true;
            settings.stack.offload = true;
            Ok(())
        }
        _ if name.starts_with("sysctl_restore_") => Ok(()),
        _ if first.contains('/') && arguments.is_empty() && depth > 0 => {
            // A file of commands, by its path.
            let text = files(first)
                .ok_or_else(|| format!("the commands in `{first}`, which cannot be read"))?;
            statements(settings, &text, files, depth - 1)
        }
        _ => Err(unknown()),
    }
}

/// The words of a line, without comment and redirections.
fn words(line: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut characters = line.chars().peekable();
    let mut skips_target = false;
    let mut end = |word: &mut Option<String>| {
        if let Some(word) = word.take()
            && !std::mem::take(&mut skips_target)
        {
            match word.as_str() {
                // A number before a redirection is a descriptor's.
                ">" | "1>" | "2>" | "&>" => skips_target = true,
                _ if word.contains('>') => {}
                _ => words.push(word),
            }
        }
    };
    while let Some(c) = characters.next() {
        match c {
            '#' if quote.is_none() && word.is_none() => break,
            '"' | '\'' if quote.is_none() => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            _ if quote == Some(c) => quote = None,
            '$' if characters.peek() == Some(&'(') && quote != Some('\'') => {
                let rest: String = characters.by_ref().take_while(|c| *c != ')').collect();
                let value = product(rest.trim_start_matches('('))
                    .ok_or_else(|| format!("the substitution `${rest})`"))?;
                characters.next();
                word.get_or_insert_default().push_str(&value.to_string());
            }
            ' ' | '\t' if quote.is_none() => end(&mut word),
            ';' if quote.is_none() => {
                end(&mut word);
                word = Some(";".to_owned());
                end(&mut word);
            }
            _ => word.get_or_insert_default().push(c),
        }
    }
    end(&mut word);
    Ok(words)
}

/// `2*1024*1024`.
fn product(text: &str) -> Option<u64> {
    text.split('*').try_fold(1_u64, |product, factor| {
        product.checked_mul(factor.trim().parse().ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(text: &str) -> Result<Settings, String> {
        let mut settings = Settings::default();
        let files =
            |name: &str| (name == "../a/b.sh").then(|| "sysctl -q net.ipv4.tcp_sack=0".into());
        run(&mut settings, text, &files).map(|()| settings)
    }

    #[test]
    fn what_scripts_are_set_up_with_is_understood() {
        let settings = after(
            "#!/bin/bash\n# a remark; and more\nip tcp_metrics flush all > /dev/null 2>&1\n\
             sysctl -q net.ipv4.tcp_rmem=\"4096 540000 $((15*1024*1024))\" # three\n\
             ../x/set_sysctls.py /proc/sys/net/ipv4/tcp_timestamps=0 \\\n \
             /proc/sys/net/ipv4/tcp_dsack=0\n\
             sysctl -q net.ipv4.tcp_frto=0 net.ipv4.tcp_early_retrans=0 2>/dev/null; ../a/b.sh\n",
        )
        .unwrap();
        let stack = settings.stack;
        assert_eq!(stack.max_receive_buffer, 15 << 20);
        assert!(!stack.timestamps && !stack.dsack && !stack.frto && !stack.tail_loss_probe);
        assert!(!stack.sack);
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, what) in [
            ("rm -r /x", "the command `rm -r /x`"),
            (
                "tc qdisc replace dev tun0 root pfifo limit 0",
                "the command `tc qdisc replace dev tun0 root pfifo limit 0`",
            ),
            (
                "../none.sh",
                "the commands in `../none.sh`, which cannot be read",
            ),
            (
                "sysctl -q net.ipv4.tcp_sack=$((1+1))",
                "the substitution `$((1+1)`",
            ),
            (
                "sysctl net.ipv4.tcp_sack",
                "the command `sysctl net.ipv4.tcp_sack`",
            ),
        ] {
            assert_eq!(after(text).err().as_deref(), Some(what));
        }
    }
}
