//! The machines that a person names.

use anyhow::anyhow;

use super::failure::Failure;
use crate::core::fleet::transport::Machine;

/// The name that stands for every machine of the configuration.
const ALL: &str = "all";

/// Returns the machines that these words name: of the configuration, or ways to one.
///
/// # Errors
/// One of them names none.
pub(crate) fn named(words: &[String], configured: &[Machine]) -> Result<Vec<Machine>, Failure> {
    let mut machines: Vec<Machine> = Vec::new();
    for word in words {
        let found: Vec<Machine> = match configured.iter().find(|machine| machine.name == *word) {
            Some(machine) => vec![machine.clone()],
            None if word == ALL => configured.to_vec(),
            None => {
                let machine = Machine::parse(word).map_err(|why| Failure::usage(anyhow!("--on: {why}")))?;
                vec![machine]
            }
        };
        let is_new = |machine: &Machine| machines.iter().all(|known| known.name != machine.name);
        let new: Vec<Machine> = found.into_iter().filter(is_new).collect();
        machines.extend(new);
    }
    Ok(machines)
}
