//! Other machines, as the configuration names them.

use serde::Deserialize;
use toml::Spanned;

use crate::core::fleet::way::{Machine, Way, checked_name};

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
}

impl MachineKeys {
    /// Returns where it stands in the text.
    pub(super) fn at(&self) -> usize {
        self.name.span().start
    }

    /// Returns the machine that it names.
    ///
    /// # Errors
    /// Its name cannot be one, or it has no way or several.
    pub(super) fn machine(self) -> Result<Machine, String> {
        let Self { name, ssh, docker, podman, devcontainer, kubectl, wsl, command, path } = self;
        let name = checked_name(name.get_ref())?;
        let ways = [
            ssh.map(Way::Ssh),
            docker.map(Way::Docker),
            podman.map(Way::Podman),
            devcontainer.map(Way::Devcontainer),
            kubectl.map(Way::Kubectl),
            wsl.map(Way::Wsl),
            command.map(Way::Command),
        ];
        let mut ways = ways.into_iter().flatten();
        match (ways.next(), ways.next()) {
            (Some(way), None) => Ok(Machine { name, way: way.checked()?, path }),
            (None, _) => Err(format!(
                "the machine {name:?} needs a way: ssh, docker, podman, devcontainer, kubectl, wsl or command"
            )),
            (Some(_), Some(_)) => Err(format!("the machine {name:?} has more than one way")),
        }
    }
}
