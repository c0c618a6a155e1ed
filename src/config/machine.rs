//! Other machines, as the configuration names them.

use serde::Deserialize;
use toml::Spanned;

use crate::core::fleet::order::Allow;
use crate::core::fleet::transport::{Machine, Transport, checked_name};

/// One `[[machine]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MachineKeys {
    name: Spanned<String>,
    ssh: Option<String>,
    docker: Option<String>,
    podman: Option<String>,
    devcontainer: Option<String>,
    kubectl: Option<String>,
    wsl: Option<String>,
    command: Option<Vec<String>>,
    path: Option<String>,
    allow: Option<Allow>,
}

impl MachineKeys {
    /// Returns where it stands in the text.
    pub(super) fn position(&self) -> usize {
        self.name.span().start
    }

    /// Returns the machine that it names.
    ///
    /// # Errors
    /// Its name cannot be one, or it has no transport or several.
    pub(super) fn machine(self) -> Result<Machine, String> {
        let Self { name, ssh, docker, podman, devcontainer, kubectl, wsl, command, path, allow } = self;
        let allow = allow.unwrap_or_default();
        let name = checked_name(name.get_ref())?;
        let transports = [
            ssh.map(Transport::Ssh),
            docker.map(Transport::Docker),
            podman.map(Transport::Podman),
            devcontainer.map(Transport::Devcontainer),
            kubectl.map(Transport::Kubectl),
            wsl.map(Transport::Wsl),
            command.map(Transport::Command),
        ];
        let mut transports = transports.into_iter().flatten();
        match (transports.next(), transports.next()) {
            (Some(transport), None) => Ok(Machine { name, transport: transport.checked()?, path, allow }),
            (None, _) => Err(format!(
                "the machine {name:?} needs a transport: ssh, docker, podman, devcontainer, kubectl, wsl or command"
            )),
            (Some(_), Some(_)) => Err(format!("the machine {name:?} has more than one transport")),
        }
    }
}
