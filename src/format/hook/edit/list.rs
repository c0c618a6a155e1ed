//! Lists claimtop's entries in settings, wherever in them they are and however they are written.

use crate::core::model::{HookEntries, HookForm, Wiring};
use crate::format::hook::edit::lines;
use crate::format::hook::edit::own::{SERVER, command_of, is_own_hook, is_own_server, own_command};
use crate::format::hook::edit::scan::{Item, Node, scan};

/// Returns claimtop's entries in some settings, in an order that does not depend on theirs; `None` if they cannot be
/// read, or the whole file is claimtop's.
pub(crate) fn own_entries(text: &[u8], wiring: &Wiring) -> Option<Vec<String>> {
    match wiring {
        Wiring::Hooks(entries) => own_members(text, entries),
        Wiring::Lines(lines) => lines::own_lines(text, lines),
        Wiring::Plugin(_) | Wiring::Skill(_) => None,
    }
}

fn own_members(text: &[u8], entries: &HookEntries) -> Option<Vec<String>> {
    let scanned = scan(text).ok()?;
    let Some(root) = &scanned.root else { return Some(Vec::new()) };
    let mut found = Vec::new();
    for event in root.get("hooks").map_or(&[][..], Node::items) {
        for group in event.node.items() {
            let matcher = group.node.get("matcher").and_then(Node::text).unwrap_or_default();
            let commands = hooks_of(group, entries.form).iter().filter_map(|hook| {
                command_of(&hook.node, entries.form).and_then(Node::text).filter(|line| is_own_hook(line))
            });
            found.extend(commands.map(|line| format!("{}\n{matcher}\n{line}", event.key)));
        }
    }
    let line = root.get("statusLine").and_then(|line| line.get("command")).and_then(Node::text);
    let line = line.filter(|line| own_command(line) == Some("statusline"));
    found.extend(line.map(|line| format!("status line\n{line}")));
    let server = entries.server.as_ref().and_then(|server| root.get(&server.list)?.get(SERVER));
    let words = server.filter(|server| is_own_server(server)).map(words);
    found.extend(words.map(|words| format!("server\n{words}")));
    found.sort();
    Some(found)
}

/// Returns the words of a value, however it is laid out.
fn words(node: &Node) -> String {
    let own = node.text().unwrap_or_default();
    let inner = node.items().iter().map(|item| format!("{} {}", item.key, words(&item.node)));
    std::iter::once(own.to_owned()).chain(inner).collect::<Vec<_>>().join("\n")
}

/// Returns the hooks of a group.
pub(super) fn hooks_of(group: &Item, form: HookForm) -> &[Item] {
    match form {
        HookForm::Groups => group.node.get("hooks").map_or(&[][..], Node::items),
        HookForm::Flat => std::slice::from_ref(group),
    }
}
