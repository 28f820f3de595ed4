//! Servers of files: what stands on the machine, with a configuration of its own in a folder of its
//! own.

use super::path::Path;
use crate::devices::process::Process;
use anyhow::{Context, anyhow};
use std::fs::{self, File, Permissions};
use std::net::Ipv4Addr;
use std::os::unix::fs::PermissionsExt;
use tempfile::TempDir;
use trammel_ground::Unsupported;
use trammel_io::program;

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

    /// Programs that serve it, the best first: name, arguments with `{folder}` and `{address}`,
    /// configuration.
    fn programs(self) -> &'static [(&'static str, &'static [&'static str], &'static str)] {
        match self {
            Protocol::Ftp => &[("vsftpd", &["{folder}/conf"], VSFTPD)],
            Protocol::Http => &[
                ("nginx", &["-c", "{folder}/conf", "-e", "stderr"], NGINX),
                (
                    "python3",
                    &[
                        "-I",
                        "-m",
                        "http.server",
                        "80",
                        "--directory",
                        "{folder}/files",
                    ],
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

/// A folder with the file that is transferred, of a name that nobody knows beforehand; gone when
/// dropped.
#[derive(Debug)]
pub(super) struct Content(TempDir);

impl Content {
    /// A file of `bytes`, all of them zero and none of them on a disk.
    pub(super) fn of(bytes: u64) -> anyhow::Result<Content> {
        let made = tempfile::Builder::new()
            .prefix("trammel-transfer-")
            .tempdir();
        let place = std::env::temp_dir();
        let content =
            made.with_context(|| format!("no folder can be made in `{}`", place.display()))?;
        let folder = content.path();
        let of = || format!("`{}` cannot be made", folder.display());
        // Servers read as somebody else, who may pass through this folder and neither list it nor
        // write to it.
        fs::set_permissions(folder, Permissions::from_mode(0o711)).with_context(of)?;
        for part in ["files", "empty"] {
            let part = folder.join(part);
            fs::create_dir(&part).with_context(of)?;
            // They refuse to serve what they may write.
            fs::set_permissions(&part, Permissions::from_mode(0o555)).with_context(of)?;
        }
        let file = File::create_new(folder.join("files").join(FILE)).with_context(of)?;
        file.set_len(bytes).with_context(of)?;
        Ok(Content(content))
    }

    /// Where it is: what servers and clients run in.
    pub(super) fn folder(&self) -> &std::path::Path {
        self.0.path()
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
        let mut installed = programs
            .iter()
            .filter_map(|of| Some((program::find(of.0)?, of)));
        let Some((file, (program, arguments, configuration))) = installed.next() else {
            let first = programs.first().map_or("", |(program, ..)| program);
            return Err(Unsupported::error(
                &format!("there is no server of {}", protocol.name().to_uppercase()),
                &format!("apt-get install {first}"),
            ));
        };
        let folder = content.folder().display().to_string();
        let conf = content.folder().join("conf");
        let text = configuration.replace("{folder}", &folder);
        fs::write(&conf, text).with_context(|| format!("`{}`", conf.display()))?;
        let arguments = arguments.iter();
        let arguments = arguments.map(|text| text.replace("{folder}", &folder));
        let words: Vec<String> = [file.display().to_string()]
            .into_iter()
            .chain(arguments)
            .collect();
        let process = Process::isolated(path.server(), &words, content.folder());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_of_a_name_that_cannot_be_made_beforehand_and_of_no_use_to_others() {
        let [one, two] = [Content::of(7).unwrap(), Content::of(7).unwrap()];
        assert_ne!(one.folder(), two.folder());
        let name = one
            .folder()
            .file_name()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        assert!(!name.contains(&std::process::id().to_string()), "{name}");
        let mode = |part: &str| {
            let about = fs::symlink_metadata(one.folder().join(part)).unwrap();
            about.permissions().mode() & 0o777
        };
        // Nobody but its owner writes anything in it.
        assert_eq!(["", "files", "empty"].map(mode), [0o711, 0o555, 0o555]);
        assert_eq!(mode("files/file") & 0o022, 0);
        let place = one.folder().to_owned();
        drop(one);
        assert!(!place.exists());
    }
}
