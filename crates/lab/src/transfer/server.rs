//! Servers of files: what stands on the machine, with a configuration of its own in a folder of its own.

use super::path::Path;
use crate::bench::beds::process::Process;
use crate::engine::Lacks;
use anyhow::{Context, anyhow};
use std::fs::{self, File, Permissions};
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// How a file is transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// RFC 959, passive.
    Ftp,
    /// RFC 9112.
    Http,
}

/// The protocols by their names.
const PROTOCOLS: [(&str, Protocol); 2] = [("ftp", Protocol::Ftp), ("http", Protocol::Http)];

/// The file's name.
const FILE: &str = "file";

impl Protocol {
    /// The protocol called `name`.
    pub fn named(name: &str) -> Option<Protocol> {
        let found = PROTOCOLS.iter().find(|(known, _)| *known == name);
        found.map(|(_, protocol)| *protocol)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let found = PROTOCOLS.iter().find(|(_, protocol)| *protocol == self);
        found.map_or("", |(name, _)| name)
    }

    /// Where its server listens; the namespace has no other.
    pub(super) fn port(self) -> u16 {
        match self {
            Protocol::Ftp => 21,
            Protocol::Http => 80,
        }
    }

    pub(super) fn url(self, server: Ipv4Addr) -> String {
        format!("{}://{server}/{FILE}", self.name())
    }

    /// Programs that serve it, the best first: name, arguments with `{folder}` and `{address}`, configuration.
    fn programs(self) -> &'static [(&'static str, &'static [&'static str], &'static str)] {
        match self {
            Protocol::Ftp => &[("vsftpd", &["{folder}/conf"], VSFTPD)],
            Protocol::Http => &[
                ("nginx", &["-c", "{folder}/conf", "-e", "stderr"], NGINX),
                (
                    "python3",
                    &["-m", "http.server", "80", "--directory", "{folder}/files"],
                    "",
                ),
            ],
        }
    }
}

const VSFTPD: &str = "\
listen=YES
listen_ipv6=NO
background=NO
anonymous_enable=YES
local_enable=NO
anon_root={folder}/files
no_anon_password=YES
secure_chroot_dir={folder}/empty
seccomp_sandbox=NO
isolate_network=NO
xferlog_enable=NO
use_sendfile=YES
";

const NGINX: &str = "\
daemon off;
master_process off;
pid {folder}/pid;
error_log stderr crit;
events { }
http {
  access_log off;
  sendfile on;
  client_body_temp_path {folder}/empty;
  proxy_temp_path {folder}/empty;
  fastcgi_temp_path {folder}/empty;
  uwsgi_temp_path {folder}/empty;
  scgi_temp_path {folder}/empty;
  server { listen 80; root {folder}/files; }
}
";

/// A folder with the file that is transferred; gone when dropped.
#[derive(Debug)]
pub(super) struct Content(PathBuf);

impl Content {
    /// A file of `bytes`, all of them zero and none of them on a disk.
    pub(super) fn of(bytes: u64) -> anyhow::Result<Content> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("trammel-transfer-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let of = || format!("`{}` cannot be made", folder.display());
        let content = Content(folder.clone());
        for part in ["files", "empty"] {
            let part = folder.join(part);
            fs::create_dir_all(&part).with_context(of)?;
            // Servers read as somebody else, and refuse to serve what that one may write.
            fs::set_permissions(&part, Permissions::from_mode(0o555)).with_context(of)?;
        }
        let file = File::create(folder.join("files").join(FILE)).with_context(of)?;
        file.set_len(bytes).with_context(of)?;
        Ok(content)
    }
}

impl Drop for Content {
    fn drop(&mut self) {
        // Nothing can be done about a folder that stays.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server at work; it ends when dropped, and with this process however that ends.
#[derive(Debug)]
pub(super) struct Server {
    program: &'static str,
    process: Process,
}

impl Server {
    /// The first program for `protocol` that is installed.
    pub(super) fn start(
        path: &Path,
        protocol: Protocol,
        content: &Content,
    ) -> anyhow::Result<Server> {
        let programs = protocol.programs();
        let found = programs.iter().find(|(program, ..)| is_installed(program));
        let Some((program, arguments, configuration)) = found else {
            let first = programs.first().map_or("", |(program, ..)| program);
            return Err(Lacks::error(
                &format!("there is no server of {}", protocol.name().to_uppercase()),
                &format!("apt-get install {first}"),
            ));
        };
        let folder = content.0.display().to_string();
        let conf = content.0.join("conf");
        let text = configuration.replace("{folder}", &folder);
        fs::write(&conf, text).with_context(|| format!("`{}`", conf.display()))?;
        let arguments = arguments.iter();
        let arguments = arguments.map(|text| text.replace("{folder}", &folder));
        let words: Vec<String> = [(*program).to_owned()]
            .into_iter()
            .chain(arguments)
            .collect();
        let process = Process::start(path.server(), &words);
        Ok(Server {
            program,
            process: process.with_context(|| format!("`{program}`"))?,
        })
    }

    pub(super) fn program(&self) -> &'static str {
        self.program
    }

    /// The error is why it serves no more.
    pub(super) fn check(&mut self) -> anyhow::Result<()> {
        match self.process.ended() {
            Some(why) => Err(anyhow!("the server `{}` {why}", self.program)),
            None => Ok(()),
        }
    }
}

/// Whether a shell would find `program`.
fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| {
        let found = fs::metadata(folder.join(program));
        found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
    })
}
