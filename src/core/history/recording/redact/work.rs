//! Redacts the work of sessions, and the hook notes about them.

use std::sync::Arc;

use crate::core::history::recording::redact::Redactor;
use crate::core::model::{
    BoundSession, Call, Doing, Edit, GitCaller, GitCommand, GitReach, NotedWait, Notes, SeenBelow, SubAgent,
    Untrusted, Waiting, Wants, Warning, Work,
};

/// How agents name the tools of MCP servers, before the server's name.
const MCP: &str = "mcp__";

impl Redactor {
    /// Keeps models and the agents' own tools, which identify no person.
    pub(super) fn work(&mut self, work: &mut Work) {
        let Work { format: _, session, path, medium: _, written_at: _, doing, agents, skipped: _, warnings } =
            work;
        for Warning { at: _, of, path, how: _ } in warnings {
            self.untrusted(of);
            path.iter_mut().for_each(|path| self.untrusted(path));
        }
        self.untrusted(session);
        self.file(path);
        let Doing {
            title,
            name,
            compacting: _,
            prompt,
            turn: _,
            calls,
            asks,
            error,
            todo,
            edits,
            edits_since: _,
            is_torn: _,
            taken_ports: _,
            commands,
            model: _,
            context: _,
            version: _,
            mode: _,
            cwd,
            trees,
            removed,
            first_session,
            heard_at: _,
        } = doing;
        *prompt = None;
        title
            .iter_mut()
            .chain(name)
            .chain(error)
            .chain(todo)
            .chain(cwd)
            .chain(first_session)
            .chain(trees)
            .chain(removed)
            .for_each(|text| self.untrusted(text));
        calls.iter_mut().chain(asks).for_each(|call| self.call(call));
        commands.iter_mut().for_each(|command| self.untrusted(&mut command.line));
        for Edit { path, at: _, by, also, fate, from } in edits {
            self.untrusted(path);
            let undone = fate.undone_by.iter_mut().flat_map(|by| [&mut by.session, &mut by.line]);
            fate.stash.iter_mut().chain(undone).for_each(|text| self.untrusted(text));
            by.iter_mut().chain(also).chain(from).for_each(|by| self.untrusted(by));
        }
        for SubAgent { id, task, call, since: _ } in agents {
            self.untrusted(id);
            task.iter_mut().for_each(|task| self.untrusted(task));
            call.iter_mut().for_each(|call| self.call(call));
        }
    }

    /// Keeps what the command reaches, by which it is judged, with other names.
    pub(super) fn git_command(&mut self, command: &mut GitCommand) {
        let GitCommand { sid, pid: _, at: _, ended: _, exit: _, tree, words, reach, above, caller } = command;
        // By its parts, so that children stay known by their parents.
        let parts: Vec<String> = sid.raw().split('/').map(|part| self.0.text(part)).collect();
        *sid = parts.join("/").into();
        words.iter_mut().chain(above).for_each(|word| self.untrusted(word));
        self.untrusted(tree);
        if let Some(GitReach::Paths(paths)) = reach {
            paths.iter_mut().for_each(|path| self.untrusted(path));
        }
        if let Some(GitCaller { boot_id, process: _, window }) = caller {
            self.untrusted(boot_id);
            if let Some(SeenBelow { id: _, agent }) = window {
                self.untrusted(agent);
            }
        }
    }

    fn call(&mut self, call: &mut Call) {
        let Call { id, tool, target, since: _ } = call;
        self.untrusted(id);
        // A person's own server, and the tools it offers.
        if let Some(named) = tool.raw().strip_prefix(MCP) {
            *tool = format!("{MCP}{}", self.0.text(named)).into();
        }
        target.iter_mut().for_each(|target| self.untrusted(target.text_mut()));
    }

    pub(super) fn notes(&mut self, notes: &mut Notes) {
        let Notes { notes, waits, contexts, unreadable, partial, medium: _ } = notes;
        notes.iter_mut().for_each(|note| self.note(Arc::make_mut(note)));
        let size = |(session, size): (&Untrusted, &u64)| (self.0.text(session.raw()).into(), *size);
        *contexts = contexts.iter().map(size).collect();
        waits.iter_mut().for_each(|wait| self.wait(Arc::make_mut(wait)));
        unreadable.iter_mut().for_each(|session| self.untrusted(session));
        partial.iter_mut().for_each(|why| self.string(why));
    }

    fn wait(&mut self, wait: &mut NotedWait) {
        let NotedWait { by, waiting: Waiting { wants, call, since: _ }, sub_agent } = wait;
        self.note(by);
        sub_agent.iter_mut().for_each(|id| self.untrusted(id));
        call.iter_mut().for_each(|call| self.call(call));
        if let Wants::Other(what) = wants {
            self.untrusted(what);
        }
    }

    fn note(&mut self, note: &mut BoundSession) {
        let BoundSession {
            schema: _,
            session_id,
            agent,
            host,
            boot_id,
            pid_namespace: _,
            pid: _,
            start_ticks: _,
            pidfd_inode: _,
            context_id,
            cwd,
            written_at: _,
            since_boot_ms: _,
        } = note;
        let texts = [session_id, agent, host, boot_id, context_id];
        texts.into_iter().chain(cwd).for_each(|text| self.untrusted(text));
    }
}
