//! The statements of agents about themselves in a world: the hook notes, and session files.

use std::path::PathBuf;
use std::sync::Arc;

use claimtop::core::model::{
    Beginning, BoundSession, CommitState, EditFate, EditState, Format, Medium, NotedWait, Notes, ProcessId,
    SessionFile, Tie, UndoneBy, Untrusted, Warning, Work,
};
use claimtop::testing::format::{doing, noted_wait};

use super::WorldFile;
use super::spec::{BindingSpec, SessionFileSpec, WarningSpec, WorkSpec};

impl WorldFile {
    pub(super) fn work(&self, spec: &WorkSpec) -> Work {
        let format = Format::ALL.into_iter().find(|format| format.name() == spec.format).expect("a format");
        let text = self.filled(&spec.text);
        // The work in a database is given as Claude Code would write it.
        let mut doing = doing(format, &text).or_else(|| doing(Format::ClaudeCode, &text)).expect("a form");
        for edit in &mut doing.edits {
            let is_in = |paths: &[String]| paths.iter().any(|path| path == edit.path.raw());
            let mut by = spec.sub_agents.get(edit.path.raw()).into_iter().flatten();
            edit.by = by.next().map(|id| id.as_str().into());
            edit.also = by.map(|id| id.as_str().into()).collect();
            if let Some(since) = spec.gone.get(edit.path.raw()) {
                let (committed, state) = (CommitState::No, EditState::Gone);
                let at = self.at(since);
                let undone_by = spec.undone_by.get(edit.path.raw()).map(|[session, line]| UndoneBy {
                    session: session.as_str().into(),
                    line: line.as_str().into(),
                    at,
                });
                edit.fate = EditFate { committed, state, since: Some(at), undone_by, ..EditFate::default() };
                continue;
            }
            if let Some([commit, since]) = spec.stashed.get(edit.path.raw()) {
                let (committed, state) = (CommitState::No, EditState::Stashed);
                let (since, stash) = (Some(self.at(since)), Some(commit.as_str().into()));
                edit.fate = EditFate { committed, state, since, stash, ..EditFate::default() };
                continue;
            }
            edit.fate.committed = match (is_in(&spec.committed), is_in(&spec.uncommitted)) {
                (true, _) => CommitState::Yes,
                (false, true) => CommitState::No,
                (false, false) => CommitState::Unknown,
            };
        }
        for taken in &mut doing.taken_ports {
            let listener = spec.listeners.get(&taken.port.to_string());
            taken.by = listener.map(|pid| {
                let process = self.process.iter().find(|process| process.pid == *pid).expect("its process");
                ProcessId { pid: *pid, start_ticks: self.ticks(&process.started) }
            });
        }
        Work {
            format,
            session: spec.session.as_str().into(),
            path: PathBuf::from(format!("/home/dev/{}.jsonl", spec.session)).into(),
            medium: Medium::Local,
            written_at: self.at(&spec.written),
            doing,
            agents: Vec::new(),
            warnings: spec.warned.iter().map(|warned| self.warning(warned)).collect(),
            skipped: 0,
        }
    }

    fn warning(&self, spec: &WarningSpec) -> Warning {
        let path = spec.path.as_deref().map(Untrusted::from);
        Warning { at: self.at(&spec.at), of: spec.of.as_str().into(), path, how: spec.how }
    }

    pub(super) fn session_file(&self, spec: &SessionFileSpec) -> SessionFile {
        let ties = [
            spec.locked_by.map(Tie::Locked),
            spec.names.map(Tie::Named),
            spec.opened_by.map(Tie::Opened),
            spec.stated_by.map(|pid| Tie::Stated(self.stated(pid, spec.stated_start.as_ref()))),
            spec.folder.as_deref().map(|folder| Tie::Folder(folder.into())),
        ];
        SessionFile {
            agent: [
                "claude-code", "cline", "codex", "continue", "copilot", "gemini", "kimi", "opencode", "pi",
                "qwen",
            ]
            .into_iter()
            .find(|name| *name == spec.agent)
            .unwrap_or_else(|| panic!("no session files of {}", spec.agent)),
            session: spec.session.as_str().into(),
            tie: ties.into_iter().flatten().next().expect("what ties it"),
            written_at: self.at(&spec.written),
            path: PathBuf::from(format!("/home/dev/{}", spec.session)).into(),
            medium: spec.medium,
            others: spec.others,
            beginning: Beginning {
                at: spec.began.as_ref().map(|at| self.at(at)),
                is_fork: spec.fork,
                cleared: None,
            },
        }
    }

    fn stated(&self, pid: u32, start: Option<&String>) -> ProcessId {
        let process = || self.process.iter().find(|process| process.pid == pid).expect("its process");
        ProcessId { pid, start_ticks: self.ticks(start.unwrap_or_else(|| &process().started)) }
    }

    pub(super) fn notes(&self) -> Notes {
        let (waits, bindings): (Vec<_>, Vec<_>) = self.binding.iter().partition(|spec| spec.hook.is_some());
        let (broken, sound): (Vec<_>, Vec<_>) = bindings.into_iter().partition(|spec| spec.broken);
        Notes {
            notes: sound.into_iter().map(|spec| Arc::new(self.note(spec))).collect(),
            contexts: self.context_size.iter().map(|(id, size)| (id.as_str().into(), *size)).collect(),
            waits: waits.into_iter().map(|spec| Arc::new(self.wait(spec))).collect(),
            unreadable: broken.into_iter().map(|spec| spec.session.as_str().into()).collect(),
            partial: None,
            medium: self.binding.first().map_or(Medium::Mapped, |spec| spec.medium),
        }
    }

    fn wait(&self, spec: &BindingSpec) -> NotedWait {
        let hook = self.filled(spec.hook.as_deref().expect("a hook"));
        let told: serde_json::Value = serde_json::from_str(&hook).expect("a hook's input");
        let cwd = told["cwd"].as_str().map(Untrusted::from);
        let by = BoundSession { cwd, ..self.note(spec) };
        noted_wait(by, hook.as_bytes()).expect("a hook that says that its session waits")
    }

    fn note(&self, spec: &BindingSpec) -> BoundSession {
        let written_at = self.at(&spec.written);
        let since_boot = written_at.duration_since(self.booted_at()).as_millis();
        BoundSession {
            schema: claimtop::testing::core::NOTE_SCHEMA.into(),
            session_id: spec.session.as_str().into(),
            agent: spec.agent.as_deref().unwrap_or("claude-code").into(),
            host: spec.host.as_ref().unwrap_or(&self.host.name).as_str().into(),
            boot_id: spec.boot_id.as_ref().unwrap_or(&self.host.boot_id).as_str().into(),
            pid_namespace: spec.pid_namespace.unwrap_or(self.host.pid_namespace),
            pid: spec.pid,
            start_ticks: self.ticks(&spec.started),
            pidfd_inode: spec.pidfd_inode,
            context_id: spec.pid.to_string().into(),
            cwd: None,
            written_at,
            since_boot_ms: u64::try_from(since_boot).unwrap_or_default(),
        }
    }
}
