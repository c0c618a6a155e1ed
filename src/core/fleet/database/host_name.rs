//! The possible names of the hosts of a fleet's database.

#[cfg(feature = "postgres")]
use std::sync::Arc;

#[cfg(feature = "postgres")]
use crate::core::fleet::database::host_row::POSTGRES;
use crate::core::fleet::merge::remote_machine::FarMachine;
#[cfg(feature = "postgres")]
use crate::core::fleet::transport::checked_name;
#[cfg(feature = "postgres")]
use crate::core::model::{MachineState, MachineView, Untrusted};

/// How much of a host's ID follows its name if that alone is ambiguous, in characters; finally all of it.
#[cfg(feature = "postgres")]
const MARKS: [usize; 4] = [8, 13, 18, 36];

/// How much of its name precedes that, in characters.
const BEFORE_MARK: usize = 20;

/// Returns the possible names of the host with this name and ID, the shortest first.
#[cfg(feature = "postgres")]
pub(crate) fn possible_names(name: &str, id: &str) -> Vec<String> {
    let plain: String =
        name.chars().map(|c| if c.is_alphanumeric() || "._-".contains(c) { c } else { '-' }).collect();
    let short: String = plain.trim_start_matches('-').chars().take(32).collect();
    let name = checked_name(&short).unwrap_or_else(|_| "host".to_owned());
    let before = before_mark(&name);
    let marked = MARKS.map(|length| format!("{before}-{}", id.chars().take(length).collect::<String>()));
    let mut all: Vec<String> = [name].into_iter().chain(marked).collect();
    all.dedup();
    all
}

/// Returns whether a host with the name `longer` could have the name `name` if no other host had that too.
pub(crate) fn is_longer_name(longer: &str, name: &str) -> bool {
    longer.strip_prefix(&before_mark(name)).is_some_and(|mark| mark.starts_with('-'))
}

/// Returns why there is no host of this name, and which of these there are if several have it.
pub(crate) fn no_host(name: &str, hosts: &[FarMachine]) -> String {
    let names: Vec<&str> = hosts.iter().map(|one| one.view.name.as_str()).collect();
    let longer: Vec<&str> = names.into_iter().filter(|longer| is_longer_name(longer, name)).collect();
    match (longer.as_slice(), hosts) {
        // An unreadable database represents all of its hosts.
        ([], [all]) if all.hello.is_none() && !all.view.detail.is_empty() => all.view.detail.shown(),
        ([], _) => format!("your login sees no such host in the fleet; an SSH host is ssh:{name}"),
        (longer, _) => format!("no host has exactly this name; similar: {}", longer.join(", ")),
    }
}

/// Keeps the hosts of these names. A name without a host becomes a host that cannot be reached, with the reason.
#[cfg(feature = "postgres")]
pub(crate) fn only_named(hosts: &[FarMachine], names: &[String]) -> Vec<FarMachine> {
    let named = |name: &String| {
        let found = hosts.iter().find(|host| host.view.name == *name).cloned();
        found.unwrap_or_else(|| {
            let detail = Untrusted::new(no_host(name, hosts));
            let view = MachineView::new(name, POSTGRES.to_owned());
            let view = MachineView { state: MachineState::Unreached, detail, ..view };
            FarMachine { view, hello: None, report: None, tombstones: Arc::default() }
        })
    };
    names.iter().map(named).collect()
}

fn before_mark(name: &str) -> String {
    name.chars().take(BEFORE_MARK).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::{MachineView, Untrusted};

    #[test]
    fn a_name_that_several_hosts_have_is_answered_with_theirs() {
        let host = |name: &str, why: &str| {
            let detail = Untrusted::new(why);
            let view = MachineView { detail, ..MachineView::new(name, "postgres".to_owned()) };
            FarMachine { view, hello: None, report: None, tombstones: [].into() }
        };
        let seen = [host("db", ""), host("web-1a2b3c4d", "late"), host("web-99887766", "")];
        let told = "no host has exactly this name; similar: web-1a2b3c4d, web-99887766";
        assert_eq!(no_host("web", &seen), told);
        let unknown = "your login sees no such host in the fleet; an SSH host is ssh:we";
        assert_eq!(no_host("we", &seen), unknown);
        assert_eq!(no_host("web", &[host("fleet", "it does not answer")]), "it does not answer");
    }
}
