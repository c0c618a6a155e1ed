//! Removes claimtop's entries from settings.

use crate::core::model::{HookEntries, HookForm};
use crate::format::hook::edit::list::hooks_of;
use crate::format::hook::edit::own::{
    Count, EditedSettings, SERVER, SettingsChange, command_of, is_own_hook, is_own_server, object,
    own_command, unique,
};
use crate::format::hook::edit::scan::{Item, Node, SettingsFault, Value, scan};
use crate::format::hook::edit::splice::{Layout, ListOrigin, Splice, applied};

/// Removes all that is claimtop's.
///
/// # Errors
/// The settings cannot be read, or are not what settings are.
pub(super) fn removed(bytes: &[u8], entries: &HookEntries) -> Result<EditedSettings, SettingsFault> {
    let scanned = scan(bytes)?;
    let text = String::from_utf8_lossy(bytes);
    let Some(root) = &scanned.root else { return Ok(EditedSettings::same(Vec::new())) };
    let root = object(&text, root, "what is here")?;
    let layout = Layout::new(&text, &scanned);
    let mut removing = Removing { layout, form: entries.form, splices: Vec::new(), hooks: 0 };
    let mut gone = Vec::new();
    if let Some(hooks) = unique(&text, root, "hooks")?
        && matches!(hooks.value, Value::Object(_))
        && removing.strip_hooks(hooks)
    {
        gone.extend(root.items().iter().position(|member| member.key == "hooks"));
    }
    let is_line = |member: &Item| {
        let line = member.node.get("command").and_then(Node::text).and_then(own_command);
        entries.status_line.is_some() && member.key == "statusLine" && line == Some("statusline")
    };
    let line = root.items().iter().position(is_line);
    gone.extend(line);
    let has_server = match &entries.server {
        Some(server) => removing.strip_server(&text, root, &server.list, &mut gone)?,
        None => false,
    };
    let count = Count { hooks: removing.hooks, has_line: line.is_some(), has_server };
    if count.is_empty() {
        return Ok(EditedSettings::same(Vec::new()));
    }
    let done = format!("remove {}", count.text());
    if removing.is_own_file(root, &gone) {
        return Ok(EditedSettings { change: SettingsChange::Gone, done, notes: Vec::new() });
    }
    if !gone.is_empty() {
        removing.strip_root(root, &gone);
    }
    EditedSettings::checked(applied(&text, removing.splices).into_bytes(), done, Vec::new())
}

struct Removing<'a> {
    layout: Layout<'a>,
    form: HookForm,
    splices: Vec<Splice>,
    /// How many hooks are removed.
    hooks: usize,
}

impl Removing<'_> {
    /// Removes the hooks of all events; returns whether the whole object goes.
    fn strip_hooks(&mut self, hooks: &Node) -> bool {
        let mut gone = Vec::new();
        for (index, event) in hooks.items().iter().enumerate() {
            if matches!(event.node.value, Value::Array(_)) && self.strip_event(&event.node) {
                gone.push(index);
            }
        }
        self.cut(hooks, &gone)
    }

    /// Removes the server; returns whether it was there, and adds the whole list to what goes from the root if it goes.
    fn strip_server(
        &mut self,
        text: &str,
        root: &Node,
        list: &str,
        gone: &mut Vec<usize>,
    ) -> Result<bool, SettingsFault> {
        let Some(servers) = unique(text, root, list)? else { return Ok(false) };
        let is_own = |item: &Item| item.key == SERVER && is_own_server(&item.node);
        let Some(own) = servers.items().iter().position(is_own) else { return Ok(false) };
        if self.cut(servers, &[own]) {
            gone.extend(root.items().iter().position(|member| member.key == list));
        }
        Ok(true)
    }

    /// Removes the hooks of an event; returns whether the event goes.
    fn strip_event(&mut self, groups: &Node) -> bool {
        let mut gone = Vec::new();
        for (index, group) in groups.items().iter().enumerate() {
            let own = self.own_hooks(group);
            let count = match self.form {
                HookForm::Groups => group.node.get("hooks").map_or(0, |hooks| hooks.items().len()),
                HookForm::Flat => 1,
            };
            self.hooks += own.len();
            if !own.is_empty() && own.len() == count {
                gone.push(index);
            } else if let Some(hooks) = group.node.get("hooks").filter(|_| !own.is_empty()) {
                self.splices.extend(self.layout.cut(hooks, &own));
            }
        }
        self.cut(groups, &gone)
    }

    /// Returns which hooks of a group are claimtop's.
    fn own_hooks(&self, group: &Item) -> Vec<usize> {
        let hooks = hooks_of(group, self.form);
        let is_own = |(_, hook): &(usize, &Item)| {
            command_of(&hook.node, self.form).and_then(Node::text).is_some_and(is_own_hook)
        };
        hooks.iter().enumerate().filter(is_own).map(|(index, _)| index).collect()
    }

    /// Cuts items out of a list; returns instead whether the whole list goes.
    fn cut(&mut self, list: &Node, gone: &[usize]) -> bool {
        if gone.is_empty() {
            return false;
        }
        if self.layout.emptied(list, gone) == ListOrigin::Whole {
            self.splices.retain(|(span, _)| span.end <= list.span.start || span.start >= list.span.end);
            return true;
        }
        let items = list.items();
        let is_in = |item: &Item, at: usize| item.start <= at && at <= item.end();
        let inside =
            |at: usize| gone.iter().any(|index| items.get(*index).is_some_and(|item| is_in(item, at)));
        self.splices.retain(|(span, _)| !inside(span.start));
        self.splices.extend(self.layout.cut(list, gone));
        false
    }

    /// Returns whether something of others is left in the root.
    fn has_others(&self, root: &Node, gone: &[usize]) -> bool {
        root.items().iter().enumerate().any(|(index, member)| {
            let is_version = self.form == HookForm::Flat && member.key == "version";
            !is_version && !gone.contains(&index)
        })
    }

    /// Returns whether claimtop has made the file, and nothing else is in it.
    fn is_own_file(&self, root: &Node, gone: &[usize]) -> bool {
        let text = self.layout.text;
        let around = (text.get(..root.span.start), text.get(root.span.end..));
        let all: Vec<usize> = (0..root.items().len()).collect();
        matches!(around, (Some(""), Some("" | "\n" | "\r\n")))
            && !self.has_others(root, gone)
            && self.layout.emptied(root, &all) == ListOrigin::Whole
            && self.layout.gap(root).is_some_and(|gap| gap.contains('\n'))
    }

    /// Removes members of the root, or the root itself if the file had nothing in it.
    fn strip_root(&mut self, root: &Node, gone: &[usize]) {
        let text = self.layout.text;
        let is_all = !self.has_others(root, gone);
        let start = match self.layout.gap(root).filter(|_| is_all) {
            Some("  ") => Some(root.span.start),
            Some("   ") => {
                let before = text.get(..root.span.start).unwrap_or_default();
                Some(before.strip_suffix(self.layout.line_end).unwrap_or(before).len())
            }
            Some(_) | None => None,
        };
        match start {
            Some(start) => self.splices = vec![(start..root.span.end, String::new())],
            None => self.splices.extend(self.layout.cut(root, gone)),
        }
    }
}
