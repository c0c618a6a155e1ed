//! The transports to another machine: each is a program that runs claimtop there and passes its lines on.

pub(crate) mod attach;

use std::ffi::OsString;
use std::fmt;

use serde::Deserialize;

use crate::core::fleet::order::Allow;

/// The program's name there, if no other is given.
const CLAIMTOP: &str = "claimtop";

/// The options of ssh, whatever its configuration: it must never ask a person, hang for long, forward anything, or use
/// a connection that another process has left open.
const SSH: [&str; 11] = [
    "BatchMode=yes", "ConnectTimeout=5", "ServerAliveInterval=5", "ServerAliveCountMax=3",
    "ClearAllForwardings=yes", "ForwardAgent=no", "ForwardX11=no", "PermitLocalCommand=no",
    "RemoteCommand=none", "ControlMaster=no", "EscapeChar=none",
];

/// A machine to watch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    /// Its name here.
    pub(crate) name: String,
    /// How it is reached.
    pub(crate) transport: Transport,
    /// The path of claimtop there, if its shell does not find it.
    pub(crate) path: Option<String>,
    /// What is requested from it.
    pub(crate) allow: Allow,
}

impl Machine {
    /// Parses a machine as written after `--on`.
    ///
    /// # Errors
    /// Returns why it is not a machine.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        Ok(Self {
            name: checked_name(text)?,
            transport: Transport::parse(text)?,
            path: None,
            allow: Allow::Observe,
        })
    }
}

/// Returns a name of a machine, if it is valid: it becomes a part of keys.
///
/// # Errors
/// Returns why it is not valid.
pub(crate) fn checked_name(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_alphanumeric() || "._:/-+".contains(c);
    let is_name = !text.is_empty()
        && text.len() <= LONGEST_NAME
        && text.chars().all(is_plain)
        && !text.starts_with('-');
    if is_name {
        Ok(text.to_owned())
    } else {
        Err(format!(
            "{text:?} cannot be the name of a machine: up to {LONGEST_NAME} letters, digits and . _ : / - +"
        ))
    }
}

/// The most bytes of a machine's name.
const LONGEST_NAME: usize = 64;

/// How a machine is reached.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Transport {
    /// By the user's own OpenSSH, to this host of its configuration.
    Ssh(String),
    /// Into a running Docker container.
    Docker(String),
    /// Into a running Podman container.
    Podman(String),
    /// Into the dev container of this folder.
    Devcontainer(String),
    /// Into a pod, such as `pod` or `namespace/pod`.
    Kubectl(String),
    /// Into a WSL distribution.
    Wsl(String),
    /// By any program, with its arguments; claimtop's own follow.
    Command(Vec<String>),
}

impl Transport {
    /// Parses one as written after `--on`: `devbox`, `docker:web`.
    ///
    /// # Errors
    /// Fails if it names nothing, or something that could be taken for an option.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let transport = match text.split_once(':') {
            Some(("ssh", host)) => Self::Ssh(host.to_owned()),
            Some(("docker", name)) => Self::Docker(name.to_owned()),
            Some(("podman", name)) => Self::Podman(name.to_owned()),
            Some(("devcontainer", folder)) => Self::Devcontainer(folder.to_owned()),
            Some(("kubectl", pod)) => Self::Kubectl(pod.to_owned()),
            Some(("wsl", name)) => Self::Wsl(name.to_owned()),
            Some((other, _)) => {
                return Err(format!(
                    "{other:?} is not a transport; use ssh, docker, podman, devcontainer, kubectl or wsl"
                ));
            }
            None => Self::Ssh(text.to_owned()),
        };
        transport.checked()
    }

    /// Refuses a name that its program would take for an option, or for nothing.
    ///
    /// # Errors
    /// Returns what is wrong.
    pub(crate) fn checked(self) -> Result<Self, String> {
        let target = match &self {
            Self::Ssh(to) | Self::Docker(to) | Self::Podman(to) | Self::Wsl(to) => to.as_str(),
            Self::Devcontainer(to) | Self::Kubectl(to) => to.as_str(),
            Self::Command(words) => words.first().map_or("", String::as_str),
        };
        let is_wrong =
            |part: &str| part.is_empty() || part.starts_with('-') || part.chars().any(char::is_control);
        // Both the namespace and the name of a pod are words of their own.
        let parts: Vec<&str> = match &self {
            Self::Kubectl(pod) => pod.splitn(2, '/').collect(),
            Self::Ssh(_)
            | Self::Docker(_)
            | Self::Podman(_)
            | Self::Devcontainer(_)
            | Self::Wsl(_)
            | Self::Command(_) => vec![target],
        };
        match parts.into_iter().any(is_wrong) {
            true => Err(format!("{target:?} is not a machine name")),
            false => Ok(self),
        }
    }

    /// Returns the program to start and its arguments.
    pub(crate) fn command(&self, path: Option<&str>, allow: Allow) -> Vec<OsString> {
        let path = path.unwrap_or(CLAIMTOP);
        let flag = match allow {
            Allow::Observe => "--observe",
            Allow::Operate => "--operate",
        };
        let there = [path, "stream", flag].map(str::to_owned);
        let words: Vec<String> = match self {
            Self::Ssh(host) => {
                let options = SSH.iter().flat_map(|option| ["-o".to_owned(), (*option).to_owned()]);
                let command = format!("{} stream {flag}", quoted_path(path));
                ["ssh", "-T"]
                    .map(str::to_owned)
                    .into_iter()
                    .chain(options)
                    .chain(["--".to_owned(), host.clone(), command])
                    .collect()
            }
            Self::Docker(name) => words(&["docker", "exec", "-i", name], there),
            Self::Podman(name) => words(&["podman", "exec", "-i", name], there),
            Self::Devcontainer(folder) => {
                words(&["devcontainer", "exec", "--workspace-folder", folder], there)
            }
            Self::Kubectl(pod) => match pod.split_once('/') {
                Some((namespace, pod)) => {
                    words(&["kubectl", "exec", "-i", "-n", namespace, pod, "--"], there)
                }
                None => words(&["kubectl", "exec", "-i", pod, "--"], there),
            },
            Self::Wsl(name) => words(&["wsl.exe", "-d", name, "--"], there),
            Self::Command(command) => command.iter().cloned().chain(there).collect(),
        };
        words.into_iter().map(OsString::from).collect()
    }
}

fn words(before: &[&str], there: [String; 3]) -> Vec<String> {
    before.iter().map(|word| (*word).to_owned()).chain(there).collect()
}

/// Quotes a path for the shell there, in which `~/` is the home.
fn quoted_path(path: &str) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    match path.strip_prefix("~/") {
        Some(rest) => format!("~/{}", quoted(rest)),
        None if path == CLAIMTOP => path.to_owned(),
        None => quoted(path),
    }
}

impl fmt::Display for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ssh(to) => write!(f, "ssh {to}"),
            Self::Docker(to) => write!(f, "docker {to}"),
            Self::Podman(to) => write!(f, "podman {to}"),
            Self::Devcontainer(to) => write!(f, "devcontainer {to}"),
            Self::Kubectl(to) => write!(f, "kubectl {to}"),
            Self::Wsl(to) => write!(f, "wsl {to}"),
            Self::Command(words) => f.write_str(&words.join(" ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(on: &str, path: Option<&str>, expected: &str) {
        let command = Transport::parse(on).unwrap().command(path, Allow::Observe);
        let words: Vec<&str> = command.iter().map(|word| word.to_str().unwrap()).collect();
        assert_eq!(words.join("|"), expected);
    }

    #[test]
    fn each_way_runs_claimtop_there_and_nothing_is_a_shells_word_or_an_option() {
        let ssh = "ssh|-T|-o|BatchMode=yes|-o|ConnectTimeout=5|-o|ServerAliveInterval=5|-o|ServerAliveCountMax=3|\
                   -o|ClearAllForwardings=yes|-o|ForwardAgent=no|-o|ForwardX11=no|-o|PermitLocalCommand=no|\
                   -o|RemoteCommand=none|-o|ControlMaster=no|-o|EscapeChar=none|--";
        check("devbox", None, &format!("{ssh}|devbox|claimtop stream --observe"));
        check(
            "ssh:me@box",
            Some("~/my bin/it's"),
            &format!(r"{ssh}|me@box|~/'my bin/it'\''s' stream --observe"),
        );
        check("box", Some("/opt/$(x)"), &format!("{ssh}|box|'/opt/$(x)' stream --observe"));
        check("docker:web", None, "docker|exec|-i|web|claimtop|stream|--observe");
        check("podman:web", Some("/c t"), "podman|exec|-i|web|/c t|stream|--observe");
        check(
            "devcontainer:/src",
            None,
            "devcontainer|exec|--workspace-folder|/src|claimtop|stream|--observe",
        );
        check("kubectl:pod", None, "kubectl|exec|-i|pod|--|claimtop|stream|--observe");
        check("kubectl:ns/pod", None, "kubectl|exec|-i|-n|ns|pod|--|claimtop|stream|--observe");
        check("wsl:Ubuntu", None, "wsl.exe|-d|Ubuntu|--|claimtop|stream|--observe");
    }

    #[test]
    fn what_could_be_an_option_is_no_machine() {
        for text in [
            "", "-oProxyCommand=x", "ssh:", "ssh:-x", "docker:-v", "kubectl:ns/-x", "kubectl:-n/x",
            "ftp:box", "a\nb",
        ] {
            assert!(Transport::parse(text).is_err(), "{text}");
        }
    }
}
