//! The machines that a person names.

use anyhow::anyhow;

use super::failure::Failure;
use crate::core::fleet::transport::Machine;

/// The name that stands for every machine of the configuration.
const ALL: &str = "all";

/// What words name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Named {
    /// Machines of the configuration, or ways to one.
    pub(crate) machines: Vec<Machine>,
    /// Hosts of the fleet's database.
    pub(crate) hosts: Vec<String>,
}

/// Returns what these words name. With a database given beside them, one that is no machine of the configuration and
/// says no way to one is a host of it.
///
/// # Errors
/// One of them names none.
pub(crate) fn named(words: &[String], configured: &[Machine], has_database: bool) -> Result<Named, Failure> {
    let mut machines: Vec<Machine> = Vec::new();
    let mut hosts = Vec::new();
    for word in words {
        let found: Vec<Machine> = match configured.iter().find(|machine| machine.name == *word) {
            Some(machine) => vec![machine.clone()],
            None if word == ALL => configured.to_vec(),
            None if has_database && !word.contains(':') => {
                hosts.push(word.clone());
                continue;
            }
            None => {
                let machine = Machine::parse(word).map_err(|why| Failure::usage(anyhow!("--on: {why}")))?;
                vec![machine]
            }
        };
        let is_new = |machine: &Machine| machines.iter().all(|known| known.name != machine.name);
        let new: Vec<Machine> = found.into_iter().filter(is_new).collect();
        machines.extend(new);
    }
    Ok(Named { machines, hosts })
}
