//! Finds the session files that agents keep of their own windows: names, folders, locks and times, never their
//! content.

pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod gemini;
pub(crate) mod head;
pub(crate) mod listed;
pub(crate) mod look;
pub(crate) mod opencode;
pub(crate) mod per_folder;
pub(crate) mod qwen;
pub(crate) mod sole;

use std::cell::{Cell, OnceCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::Timestamp;

use self::head::Heads;
use crate::core::judge::window::agent::Signatures;
use crate::core::model::{Binding, Format, Holder, Host, Process, SessionFile, Snapshot, SourceHealth};
use crate::format::{self, Base, Reading};
use crate::source::database::sqlite::copies::Copies;
use crate::source::interface::{Hints, Scope, Source};
use crate::source::places::homes::HomeBase;
use crate::source::sessions::look::{Look, SessionTarget};
use crate::source::windows::sessions_of;

/// Looks repeatedly, and remembers the beginnings of the files that it read.
#[derive(Default)]
pub(crate) struct Reader {
    copies: Copies,
    heads: Heads,
    /// The databases of opencode, by home.
    opencode: BTreeMap<PathBuf, opencode::Store>,
    /// The prompts typed in Gemini CLI.
    gemini: gemini::Logs,
    /// The sessions that files state.
    stated: listed::Statements,
    /// Whether a window of Qwen Code runs, whose registry is followed.
    has_qwen: bool,
}

impl Source for Reader {
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>) {
        snapshot.session_files =
            self.read(scope, &wanted(snapshot, &scope.signatures), (&snapshot.host, reading.now));
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        Vec::new()
    }

    fn hints(&self, scope: &Scope, hints: &mut Hints) {
        for folder in scope.homes.folders_of(Base::Home).filter(|_| self.has_qwen) {
            let registry = folder.path.join(qwen::REGISTRY);
            hints.names.entry(registry.clone()).or_default().insert("*.json".to_owned());
            hints.folders.insert(registry);
        }
    }
}

impl Reader {
    /// Creates a reader that keeps its database copies with `copies`.
    pub(crate) fn new(copies: &Copies) -> Self {
        Self { copies: copies.clone(), ..Self::default() }
    }

    /// Finds sessions that may belong to these windows, in the homes that they may use.
    fn read(
        &mut self,
        scope: &Scope,
        wanted: &[SessionTarget],
        (host, now): (&Host, Timestamp),
    ) -> Vec<SessionFile> {
        let Scope { homes, fence, .. } = scope;
        self.has_qwen = wanted.iter().any(|one| one.agent == "qwen");
        if wanted.is_empty() {
            return Vec::new();
        }
        let mut look = Look {
            fence,
            locks: OnceCell::new(),
            heads: &mut self.heads,
            found: Vec::new(),
            is_cut: Cell::new(false),
        };
        for config in homes.folders_of(Base::ClaudeConfig) {
            per_folder::claude(&mut look, &config.path, &of("claude-code", config, wanted));
        }
        let mut before = std::mem::take(&mut self.opencode);
        for folder in homes.folders_of(Base::Home) {
            let (home, of) = (&folder.path, |agent| of(agent, folder, wanted));
            per_folder::qwen(&mut look, home, &of("qwen"));
            qwen::read(&mut look, home, &of("qwen"), host);
            gemini::read(&mut look, home, &of("gemini"), &mut self.gemini);
            sole::noted(&mut look, |look| codex::read(look, home, &of("codex"), now));
            sole::noted(&mut look, |look| copilot::read(look, home, &of("copilot")));
            let mut store = before.remove(home).unwrap_or_default();
            store.read(&mut look, home, &of("opencode"), now, &self.copies);
            self.opencode.insert(home.clone(), store);
            let kept = Format::ALL.into_iter().filter_map(|format| format::spec(format)?.sessions);
            for kept in kept {
                self.stated.read(&mut look, (home, &kept), &of(kept.agent));
            }
        }
        let found = look.found;
        self.heads.keep_used();
        found
    }
}

/// Returns the windows of an agent that may keep their sessions below a folder.
fn of<'a>(agent: &str, folder: &HomeBase, wanted: &'a [SessionTarget]) -> Vec<&'a SessionTarget> {
    wanted.iter().filter(|one| one.agent == agent && one.may_use(folder)).collect()
}

/// Returns the windows whose own session files are looked for: those that no note and no agent's own registry names.
fn wanted(snapshot: &Snapshot, signatures: &Signatures) -> Vec<SessionTarget> {
    let is_registry = |holder: &Holder| holder.binding == Binding::Registry;
    let registries = snapshot.records.iter().filter(|record| record.holder.as_ref().is_some_and(is_registry));
    let noted = snapshot.bound.notes.iter().map(|note| note.pid);
    let named: BTreeSet<u32> = registries.filter_map(|record| record.pid()).chain(noted).collect();
    let wanted = |process: &Process| {
        let (agent, _) = signatures.classify(process)?;
        let details = process.details.as_ref()?;
        Some(SessionTarget {
            agent: agent.name.clone(),
            id: process.id,
            uid: details.uid,
            cwd: details.cwd.clone(),
            homes: details.homes.clone().filter(|_| details.has_certain_homes),
            started_at: snapshot.host.wall_clock(process.id.start_ticks),
        })
    };
    let windows = sessions_of(&snapshot.processes, signatures);
    windows.filter(|process| !named.contains(&process.id.pid)).filter_map(wanted).collect()
}
