//! One agent's settings, before anything is planned.

use std::path::Path;

use rustix::io::Errno;

use crate::cli::hook::Agent;
use crate::cli::hook::check::MOST;
use crate::cli::hook::files::{AgentFile, files, folder};
use crate::cli::settings::Settings;
use crate::core::model::{Request, SettingsEdit, SetupWay, Untrusted, Wiring};
use crate::format::hook::edit::{ExtraKind, SettingsChange, beyond_json, edited};
use crate::source::os::open::plain::small;

/// One file of an agent's settings, and what becomes of it.
pub(super) struct AgentSetup {
    pub(super) agent: Agent,
    pub(super) edit: SettingsEdit,
    pub(super) state: SetupState,
    /// What a person should know of it.
    pub(super) notes: Vec<String>,
}

/// What becomes of an agent's settings.
pub(super) enum SetupState {
    /// The agent is not installed, as far as its settings folder shows.
    NotThere,
    /// Nothing is missing, or nothing is there to be removed.
    Same,
    /// It would be done: how the file differs.
    Planned { done: String, diff: Vec<String> },
    /// It was done.
    Done(String),
    /// It is not done: why.
    Refused(String),
}

impl AgentSetup {
    /// Looks at the files of an agent, before anything is planned; of one that is not installed at the first.
    pub(super) fn all(agent: Agent, settings: &Settings, way: SetupWay, is_named: bool) -> Vec<Self> {
        let folder = folder(agent, settings);
        let home = settings.places.home.as_path();
        let mut setups: Vec<Self> = files(agent, settings)
            .into_iter()
            .map(|AgentFile { path, wiring }| {
                let base = if path.starts_with(home) { home } else { folder.as_path() };
                let (agent_name, base) = (agent.title().to_owned(), base.into());
                let edit = SettingsEdit { agent: agent_name, path: path.into(), base, wiring, way };
                Self { agent, edit, state: SetupState::NotThere, notes: Vec::new() }
            })
            .collect();
        if is_named || folder.symlink_metadata().is_ok() {
            setups.iter_mut().for_each(Self::look);
        } else {
            setups.truncate(1);
            let note = format!("no folder {}", Untrusted::from_path(&folder));
            setups.iter_mut().for_each(|setup| setup.notes.push(note.clone()));
        }
        setups
    }

    fn look(&mut self) {
        let path: &Path = &self.edit.path.clone();
        let text = match small(path, MOST) {
            Ok(text) => Some(text),
            Err(Errno::NOENT | Errno::NOTDIR) => None,
            // Whatever it is, the plan says why it is not touched.
            Err(_) => {
                self.state = SetupState::Planned { done: String::new(), diff: Vec::new() };
                return;
            }
        };
        if let Some(fault) = text.as_deref().and_then(|text| beyond_json(text, |kind| self.takes(kind)))
            && matches!(self.edit.wiring, Wiring::Hooks(_))
        {
            self.notes.push(format!("{} cannot read the file: {fault}", self.edit.agent));
        }
        self.state = match edited(text.as_deref(), &self.edit.wiring, self.edit.way) {
            Err(fault) => SetupState::Refused(format!("{}, {fault}", Untrusted::from_path(path))),
            Ok(edited) => {
                self.notes.extend(edited.notes);
                match edited.change {
                    SettingsChange::Same => SetupState::Same,
                    SettingsChange::New(_) | SettingsChange::Gone => {
                        SetupState::Planned { done: edited.done, diff: Vec::new() }
                    }
                }
            }
        };
        let has_hooks = matches!(&self.edit.wiring, Wiring::Hooks(entries) if !entries.hooks.is_empty());
        let advice = self.agent.advice(self.edit.way).filter(|_| has_hooks && self.is_planned());
        self.notes.extend(advice.map(str::to_owned));
    }

    /// Returns whether the agent reads settings with something that is not JSON.
    fn takes(&self, kind: ExtraKind) -> bool {
        match kind {
            ExtraKind::Bom => self.agent.takes_bom(),
            ExtraKind::LineComment | ExtraKind::BlockComment => self.agent.takes_comments(),
            ExtraKind::TrailingComma => false,
        }
    }

    pub(super) fn is_planned(&self) -> bool {
        matches!(self.state, SetupState::Planned { .. })
    }

    pub(super) fn request(&self) -> Request {
        Request::Setup { files: vec![self.edit.clone()] }
    }
}

impl Agent {
    /// Says what a person has to do so that a change has an effect.
    fn advice(self, way: SetupWay) -> Option<&'static str> {
        match (self, way) {
            (Self::Codex, SetupWay::Add) => {
                Some("Codex asks once, when it starts, whether you trust the hooks")
            }
            (Self::Codex, SetupWay::Remove) => {
                Some("Codex asks again about hooks that came after these in the same event")
            }
            (Self::Gemini, SetupWay::Add) => Some("Gemini CLI runs hooks in folders that you trust"),
            (Self::ClaudeCode | Self::Gemini | Self::Qwen | Self::Copilot | Self::Opencode, _) => None,
        }
    }
}
