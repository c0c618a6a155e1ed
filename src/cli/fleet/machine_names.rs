//! The machines that a person names.

use anyhow::anyhow;

use crate::cli::output::failure::Failure;
use crate::core::fleet::transport::Machine;
use crate::core::fleet::wire::part::is_derived;
use crate::core::model::Key;

/// The name that stands for every machine of the configuration and its fleet.
const ALL: &str = "all";

/// The machines that words name.
#[derive(Clone, Debug, Default)]
pub(crate) struct MachineSet {
    /// Machines of the configuration, or ways to one.
    pub(crate) machines: Vec<Machine>,
    /// Hosts of the fleet's database.
    pub(crate) hosts: Vec<String>,
    /// Whether the whole fleet is named as well.
    pub(crate) is_all: bool,
}

/// One machine that a word names.
#[derive(Clone, Debug)]
pub(crate) enum OneNamed {
    /// A machine of the configuration, or a way to one.
    Machine(Machine),
    /// A host of the fleet's database.
    Host(String),
}

impl OneNamed {
    /// Returns what it is called.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Machine(machine) => &machine.name,
            Self::Host(name) => name,
        }
    }
}

/// Returns the machines that these words name.
///
/// # Errors
/// One of them names none.
pub(crate) fn named(
    words: &[String],
    configured: &[Machine],
    has_database: bool,
) -> Result<MachineSet, Failure> {
    let mut named = MachineSet::default();
    for word in words {
        let is_all = word == ALL && configured.iter().all(|machine| machine.name != ALL);
        if is_all {
            named.is_all = true;
            configured.iter().for_each(|machine| named.add(machine.clone()));
            continue;
        }
        match one(word, configured, has_database).map_err(|why| Failure::usage(anyhow!("--on: {why}")))? {
            OneNamed::Machine(machine) => named.add(machine),
            OneNamed::Host(host) => named.hosts.push(host),
        }
    }
    Ok(named)
}

impl MachineSet {
    fn add(&mut self, machine: Machine) {
        if self.machines.iter().all(|known| known.name != machine.name) {
            self.machines.push(machine);
        }
    }
}

/// Returns the machine in the name of a thing, if it is a key of another machine.
pub(crate) fn machine_of(subject: &str) -> Option<&str> {
    let (key, machine) = subject.split_once('@')?;
    is_derived(&Key::typed(key)).then_some(machine)
}

/// Returns the machine that a word names: one of the configuration, else a host of the fleet where there is one, unless
/// the word begins with a transport, such as `ssh:devbox`.
///
/// # Errors
/// Says why it names none.
pub(crate) fn one(word: &str, configured: &[Machine], has_database: bool) -> Result<OneNamed, String> {
    if let Some(machine) = configured.iter().find(|machine| machine.name == *word) {
        return Ok(OneNamed::Machine(machine.clone()));
    }
    if has_database && !word.is_empty() && !word.contains(':') {
        return Ok(OneNamed::Host(word.to_owned()));
    }
    Machine::parse(word).map(OneNamed::Machine)
}
