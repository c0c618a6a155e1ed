//! The signatures that claimtop ships, without a whole TOML parser: a hook that asks for its
//! context ID would spend most of its own time in one.

use std::str::Lines;

use super::agent::{Pattern, Role, Signature, Signatures};

/// Whose keys are being read.
#[derive(Clone, Copy)]
enum Table {
    Agent,
    Match,
    Role,
}

/// Reads the plain part of TOML in which `assets/agents.toml` is written: tables, and keys with
/// a truth value, a string or a list of strings. `None` for everything else.
pub(super) fn read(text: &str) -> Option<Signatures> {
    let mut agents: Vec<Signature> = Vec::new();
    let mut table = Table::Agent;
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        match line.trim() {
            "" => {}
            line if line.starts_with('#') => {}
            line if line.starts_with('[') => table = open(line, &mut agents)?,
            line => {
                let (key, value) = line.split_once(" = ")?;
                put(agents.last_mut()?, table, key, &whole(value, &mut lines)?)?;
            }
        }
    }
    Some(Signatures { agents })
}

fn open(header: &str, agents: &mut Vec<Signature>) -> Option<Table> {
    Some(match header {
        "[[agent]]" => {
            agents.push(Signature::default());
            Table::Agent
        }
        "[[agent.match]]" => {
            agents.last_mut()?.matches.push(Pattern::default());
            Table::Match
        }
        "[[agent.role]]" => {
            agents.last_mut()?.roles.push(Pattern::default());
            Table::Role
        }
        _ => return None,
    })
}

fn put(agent: &mut Signature, table: Table, key: &str, value: &str) -> Option<()> {
    match table {
        Table::Agent => set(agent, key, value),
        Table::Match => set_pattern(agent.matches.last_mut()?, key, value),
        Table::Role => set_pattern(agent.roles.last_mut()?, key, value),
    }
}

/// Returns a value with the further lines of a list; `None` where it has what is not plain.
fn whole(start: &str, lines: &mut Lines<'_>) -> Option<String> {
    let mut value = start.to_owned();
    while value.starts_with('[') && !value.ends_with(']') {
        value.push_str(lines.next()?.trim());
    }
    (!value.contains(['\\', '#', '\''])).then_some(value)
}

fn set(agent: &mut Signature, key: &str, value: &str) -> Option<()> {
    match key {
        "name" => agent.name = string(value)?.to_owned(),
        "title" => agent.title = string(value)?.to_owned(),
        "leaf" => agent.leaf = value.parse().ok()?,
        _ => return None,
    }
    Some(())
}

fn set_pattern(pattern: &mut Pattern, key: &str, value: &str) -> Option<()> {
    let list = match key {
        "comm" => &mut pattern.comm,
        "exe_contains" => &mut pattern.exe_contains,
        "exe_name" => &mut pattern.exe_name,
        "argv0" => &mut pattern.argv0,
        "script" => &mut pattern.script,
        "argv" => &mut pattern.argv,
        "argv1" => &mut pattern.argv1,
        "role" => {
            pattern.role = role(string(value)?)?;
            return Some(());
        }
        _ => return None,
    };
    let inside = value.strip_prefix('[')?.strip_suffix(']')?;
    list.extend(inside.split('"').skip(1).step_by(2).map(str::to_owned));
    Some(())
}

fn role(name: &str) -> Option<Role> {
    Some(match name {
        "agent" => Role::Agent,
        "launcher" => Role::Launcher,
        "helper" => Role::Helper,
        "daemon" => Role::Daemon,
        "spare" => Role::Spare,
        _ => return None,
    })
}

fn string(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"').filter(|text| !text.contains('"'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::agent::BUILT_IN;

    #[test]
    fn the_shipped_file_is_read_as_a_toml_parser_reads_it() {
        assert_eq!(read(BUILT_IN), Some(toml::from_str(BUILT_IN).unwrap()));
    }

    #[test]
    fn what_is_not_plain_is_left_to_the_toml_parser() {
        for text in [
            "name = \"x\"",
            "[[agent]]\nname = 'x'",
            "[[agent]]\nname = \"x\" # why",
            "[[agent]]\nnick = \"x\"",
            "[[agent]]\n[[agent.match]]\ncomm = \"x\"",
            "[[agent]]\n[[agent.match]]\ncomm = [\"x\",",
            "[[agent]]\n[[agent.match]]\nrole = \"king\"",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn reading_is_total(text in ".*") {
            let _ = read(&text);
        }
    }
}
