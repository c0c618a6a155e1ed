//! Adds claimtop's entries to settings.

use crate::core::model::{HookEntries, HookEntry, HookForm, ServerEntry};
use crate::format::hook::edit::list::hooks_of;
use crate::format::hook::edit::own::{
    Count, EditedSettings, SERVER, command_of, is_own_server, object, own_command, renewed, unique,
};
use crate::format::hook::edit::scan::{Item, Node, SettingsFault, Value, fault_at, scan};
use crate::format::hook::edit::splice::{Layout, Splice, applied};

/// The matchers that earlier versions of claimtop had.
const EARLIER_MATCHERS: [&str; 5] = [
    "Write|Edit|NotebookEdit|Bash",
    "Write|Edit|NotebookEdit",
    "Write|Edit|NotebookEdit|mcp__.*",
    "write_file|replace",
    "write_file|edit",
];

/// Adds what is missing.
///
/// # Errors
/// The settings cannot be read, or are not what settings are.
pub(super) fn added(text: Option<&[u8]>, entries: &HookEntries) -> Result<EditedSettings, SettingsFault> {
    let bytes = text.unwrap_or_default();
    let scanned = scan(bytes)?;
    let known = String::from_utf8_lossy(bytes);
    let mut adding = Adding {
        layout: Layout::new(&known, &scanned),
        entries,
        splices: Vec::new(),
        notes: Vec::new(),
        added: Count::default(),
        updated: 0,
    };
    match &scanned.root {
        Some(root) => {
            adding.extend_root(object(&known, root, "what is here")?)?;
            adding.finished()
        }
        None => {
            let new = adding.made(text.is_some());
            let done = format!("add {}", Count::of_all(entries).text());
            EditedSettings::checked((known.into_owned() + &new).into_bytes(), done, Vec::new())
        }
    }
}

struct Adding<'a> {
    layout: Layout<'a>,
    entries: &'a HookEntries,
    splices: Vec<Splice>,
    notes: Vec<String>,
    added: Count,
    updated: usize,
}

impl Adding<'_> {
    /// Returns the settings of a file that is not there, or has nothing in it.
    ///
    /// Two spaces say that the file was there; three, that its last line had no end.
    fn made(&self, is_there: bool) -> String {
        let (nl, unit) = (self.layout.line_end, self.layout.unit.as_str());
        let version = (self.entries.form == HookForm::Flat).then(|| r#""version": 1"#.to_owned());
        let hooks = (!self.entries.hooks.is_empty()).then(|| self.made_hooks(unit));
        let line = self.entries.status_line.as_deref().map(status_line);
        let server = self.entries.server.as_ref().map(|server| self.made_servers(server, unit));
        let members: Vec<String> = version.into_iter().chain(hooks).chain(line).chain(server).collect();
        let members = members.join(&format!(",{nl}{unit}"));
        if !is_there {
            return format!("{{{nl}{unit}{members}{nl}}}{nl}");
        }
        match self.layout.ends_in_comment() {
            true => format!("{nl}{{   {members}}}"),
            false => format!("{{  {members}}}"),
        }
    }

    fn extend_root(&mut self, root: &Node) -> Result<(), SettingsFault> {
        let text = self.layout.text;
        let mut members = Vec::new();
        match unique(text, root, "hooks")? {
            _ if self.entries.hooks.is_empty() => {}
            Some(hooks) => self.extend_hooks(object(text, hooks, "`hooks`")?)?,
            None => {
                self.added.hooks = self.entries.hooks.len();
                members.push(self.made_hooks(&self.layout.item_indent(root)));
            }
        }
        if let Some(command) = &self.entries.status_line {
            match root.get("statusLine") {
                None => {
                    self.added.has_line = true;
                    members.push(status_line(command));
                }
                Some(own) => self.keep_line(own, command),
            }
        }
        if root.get("disableAllHooks").is_some_and(|off| off.value == Value::Switch(true)) {
            self.notes.push("`disableAllHooks` is true in it, so no hook runs".to_owned());
        }
        if let Some(server) = &self.entries.server {
            match unique(text, root, &server.list)? {
                Some(servers) => {
                    self.extend_servers(object(text, servers, &format!("`{}`", server.list))?, server);
                }
                None => {
                    self.added.has_server = true;
                    members.push(self.made_servers(server, &self.layout.item_indent(root)));
                }
            }
        }
        if !members.is_empty() {
            self.splices.extend(self.layout.append(root, &members));
        }
        Ok(())
    }

    fn extend_servers(&mut self, servers: &Node, server: &ServerEntry) {
        match servers.get(SERVER) {
            None => {
                self.added.has_server = true;
                self.splices.extend(self.layout.append(servers, &[server_text(server)]));
            }
            Some(own) if !is_own_server(own) => {
                self.notes.push(format!("its own server `{SERVER}` stays"));
            }
            Some(_) => {}
        }
    }

    /// Leaves a status line as it is, and says what its owner can do.
    fn keep_line(&mut self, own: &Node, command: &str) {
        let line = own.get("command").and_then(Node::text).unwrap_or_default();
        if own_command(line) != Some("statusline") {
            self.notes.push(format!("its own status line stays; `{command}` prints claimtop's"));
        }
    }

    fn extend_hooks(&mut self, hooks: &Node) -> Result<(), SettingsFault> {
        let text = self.layout.text;
        let mut members = Vec::new();
        for (event, entries) in by_event(&self.entries.hooks) {
            let Some(groups) = unique(text, hooks, event)? else {
                self.added.hooks += entries.len();
                members.push(self.made_event(event, &entries, &self.layout.item_indent(hooks)));
                continue;
            };
            let Value::Array(known) = &groups.value else {
                let what = format!("`{event}` is not an array");
                return Err(fault_at(text.as_bytes(), groups.span.start, what));
            };
            let missing: Vec<_> = entries.into_iter().filter(|entry| !self.is_there(known, entry)).collect();
            let missing: Vec<String> =
                missing.into_iter().map(|entry| entry_text(self.entries.form, entry)).collect();
            if !missing.is_empty() {
                self.added.hooks += missing.len();
                self.splices.extend(self.layout.append(groups, &missing));
            }
        }
        if !members.is_empty() {
            self.splices.extend(self.layout.append(hooks, &members));
        }
        Ok(())
    }

    /// Returns whether a hook is there, and gives it its present form.
    fn is_there(&mut self, groups: &[Item], entry: &HookEntry) -> bool {
        let form = self.entries.form;
        let wanted = own_command(&entry.command);
        let is_it = |hook: &Node| {
            command_of(hook, form).and_then(Node::text).is_some_and(|line| own_command(line) == wanted)
        };
        let in_group = |group: &Item| -> Option<(Node, Node)> {
            let hook = hooks_of(group, form).iter().find(|hook| is_it(&hook.node))?;
            Some((group.node.clone(), hook.node.clone()))
        };
        let Some((group, hook)) = groups.iter().find_map(in_group) else { return false };
        let before = self.splices.len();
        if let Some(line) = command_of(&hook, form)
            && let Some(new) = renewed(line.text().unwrap_or_default(), &entry.command)
        {
            self.splices.push((line.span.clone(), quoted(&new)));
        }
        self.renew_matcher(&group, entry);
        self.updated += usize::from(self.splices.len() > before);
        true
    }

    /// Gives a group that only has this hook the present matcher, if it has an earlier one.
    fn renew_matcher(&mut self, group: &Node, entry: &HookEntry) {
        let (Some(matcher), false) = (group.get("matcher"), entry.matcher.is_empty()) else { return };
        let own = matcher.text().unwrap_or_default();
        let is_alone = group.get("hooks").is_some_and(|hooks| hooks.items().len() == 1);
        if own == entry.matcher {
            return;
        }
        if is_alone && EARLIER_MATCHERS.contains(&own) {
            self.splices.push((matcher.span.clone(), quoted(&entry.matcher)));
        } else {
            let (event, wanted) = (&entry.event, &entry.matcher);
            self.notes.push(format!("its matcher of {event} stays; claimtop's is `{wanted}`"));
        }
    }

    fn made_hooks(&self, indent: &str) -> String {
        let (nl, inner) = (self.layout.line_end, format!("{indent}{}", self.layout.unit));
        let events: Vec<String> = by_event(&self.entries.hooks)
            .iter()
            .map(|(event, entries)| format!("{inner}{}", self.made_event(event, entries, &inner)))
            .collect();
        format!(r#""hooks": {{{nl}{}{nl}{indent}}}"#, events.join(&format!(",{nl}")))
    }

    fn made_servers(&self, server: &ServerEntry, indent: &str) -> String {
        let (nl, unit) = (self.layout.line_end, &self.layout.unit);
        let list = quoted(&server.list);
        format!("{list}: {{{nl}{indent}{unit}{}{nl}{indent}}}", server_text(server))
    }

    fn made_event(&self, event: &str, entries: &[&HookEntry], indent: &str) -> String {
        let (nl, unit) = (self.layout.line_end, &self.layout.unit);
        let entries: Vec<String> = entries
            .iter()
            .map(|entry| format!("{indent}{unit}{}", entry_text(self.entries.form, entry)))
            .collect();
        format!("{}: [{nl}{}{nl}{indent}]", quoted(event), entries.join(&format!(",{nl}")))
    }

    fn finished(self) -> Result<EditedSettings, SettingsFault> {
        if self.splices.is_empty() {
            return Ok(EditedSettings::same(self.notes));
        }
        let updated = Count { hooks: self.updated, ..Count::default() };
        let updated = (self.updated > 0).then(|| format!("update {}", updated.text()));
        let added = (!self.added.is_empty()).then(|| format!("add {}", self.added.text()));
        let done = added.into_iter().chain(updated).collect::<Vec<_>>().join(", ");
        EditedSettings::checked(applied(self.layout.text, self.splices).into_bytes(), done, self.notes)
    }
}

fn server_text(server: &ServerEntry) -> String {
    format!("{}: {}", quoted(SERVER), server.value)
}

/// Returns a hook's entry as it stands below its event.
pub(crate) fn entry_text(form: HookForm, entry: &HookEntry) -> String {
    let command = quoted(&entry.command);
    if form == HookForm::Flat {
        return format!(r#"{{ "type": "command", "bash": {command}, "timeoutSec": 5 }}"#);
    }
    let matcher = match entry.matcher.as_str() {
        "" => String::new(),
        matcher => format!(r#""matcher": {}, "#, quoted(matcher)),
    };
    format!(r#"{{ {matcher}"hooks": [{{ "type": "command", "command": {command} }}] }}"#)
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn status_line(command: &str) -> String {
    format!(r#""statusLine": {{ "type": "command", "command": {} }}"#, quoted(command))
}

/// Returns the hooks by their events, in the order in which the events first come.
pub(crate) fn by_event(hooks: &[HookEntry]) -> Vec<(&str, Vec<&HookEntry>)> {
    let mut events: Vec<(&str, Vec<&HookEntry>)> = Vec::new();
    for hook in hooks {
        match events.iter_mut().find(|(event, _)| *event == hook.event) {
            Some((_, entries)) => entries.push(hook),
            None => events.push((&hook.event, vec![hook])),
        }
    }
    events
}
