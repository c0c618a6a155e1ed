//! Answers requests, by the same parts as `explain`, `alive`, `guard check`, `hold` and `rescue`.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};

use super::request::Request;
use crate::cli::alive;
use crate::cli::args::AliveSubject;
use crate::cli::guard::{HoldChange, HolderKind, file_holders, machine, take};
use crate::cli::rescue::select::{Candidate, find};
use crate::cli::settings::Settings;
use crate::core::assess::assess;
use crate::core::guard::decide::Exempt;
use crate::core::model::{ProcessId, Report, Untrusted};
use crate::observe::Observer;
use crate::present::answer::AgentAnswer;
use crate::present::answer::changes::{unknown_token, what_changed};
use crate::present::answer::edits::{hold, may_i_edit};
use crate::present::answer::subject;
use crate::present::answer::versions::{VersionLine, rescue_list};
use crate::present::answer::windows::who_is_here;
use crate::present::versions::source_words;
use crate::source::os::clock;
use crate::source::os::fence::resolve;
use crate::source::own::ledger::Tree;

/// How many looks are remembered for `what_changed_since`.
const MOST_LOOKS: usize = 32;

/// Where requests are answered: it has looked, and remembers its last looks.
pub(super) struct Desk {
    settings: Arc<Settings>,
    observer: Observer,
    looks: Looks,
}

/// The last looks, each under a token that no other server gives.
#[derive(Default)]
struct Looks {
    /// What this server's tokens begin with.
    name: Option<String>,
    next: u64,
    reports: VecDeque<(u64, Arc<Report>)>,
}

impl Looks {
    /// Remembers a look, and returns its token; none without a source of random names.
    fn remember(&mut self, report: Arc<Report>) -> Option<String> {
        let name = match &self.name {
            Some(name) => name.clone(),
            None => {
                let mut bytes = [0; 6];
                getrandom::fill(&mut bytes).ok()?;
                let name: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                self.name.insert(name).clone()
            }
        };
        self.next += 1;
        self.reports.push_back((self.next, report));
        if self.reports.len() > MOST_LOOKS {
            self.reports.pop_front();
        }
        Some(format!("{name}-{}", self.next))
    }

    fn find(&self, token: &str) -> Option<Arc<Report>> {
        let (name, number) = token.rsplit_once('-')?;
        let number: u64 = number.parse().ok().filter(|_| self.name.as_deref() == Some(name))?;
        let found = self.reports.iter().find(|(one, _)| *one == number);
        found.map(|(_, report)| Arc::clone(report))
    }
}

impl Desk {
    pub(super) fn new(settings: Arc<Settings>, observer: Observer) -> Self {
        Self { settings, observer, looks: Looks::default() }
    }

    /// Answers a request.
    ///
    /// # Errors
    /// What it needs cannot be read, or a hold cannot be written down.
    pub(super) fn answer(&mut self, request: &Request) -> anyhow::Result<AgentAnswer> {
        match request {
            Request::WhoIsHere(path) => {
                let own = self.own()?;
                Ok(self.with_token(|report| who_is_here(report, &resolve(path), own)))
            }
            Request::MayIEdit(paths) => self.may_i_edit(paths),
            Request::Hold { paths, is_release } => self.hold(paths, *is_release),
            Request::Why(key) => Ok(self.with_token(|report| subject::why(report, key, Path::new(key)))),
            Request::Alive(subject) => self.alive(subject),
            Request::WhatChangedSince(token) => Ok(self.what_changed_since(token)),
            Request::RescueList(path) => self.rescue_list(path),
        }
    }

    /// Looks, answers, and remembers the look.
    fn with_token(&mut self, answer: impl FnOnce(&Report) -> AgentAnswer) -> AgentAnswer {
        // Prompts are passed on to no other agent.
        let report = Arc::new(self.observer.observe().without_prompts());
        let answer = answer(&report);
        AgentAnswer { token: self.looks.remember(report), ..answer }
    }

    /// Returns the agent's process above this one.
    fn own(&self) -> anyhow::Result<Option<ProcessId>> {
        Ok(machine(&self.settings, clock::now())?.process)
    }

    fn may_i_edit(&mut self, paths: &[PathBuf]) -> anyhow::Result<AgentAnswer> {
        let (own, guarded) = (self.own()?, file_holders(&self.settings, paths)?);
        let exempt = Exempt { names: self.settings.effective.config.guard.exempt.clone() };
        let paths: Vec<PathBuf> = paths.iter().map(|path| resolve(path)).collect();
        let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
        Ok(self.with_token(|report| may_i_edit(report, &paths, own, guarded, &exempt)))
    }

    fn hold(&self, paths: &[PathBuf], is_release: bool) -> anyhow::Result<AgentAnswer> {
        let report = take(&self.settings, paths, is_release, HolderKind::Window)?;
        let state = |change| match change {
            HoldChange::Taken => "held",
            HoldChange::Released => "released",
            HoldChange::Absent => "was-not-held",
        };
        let done: Vec<(String, &'static str)> =
            report.done.into_iter().map(|(path, change)| (path, state(change))).collect();
        let tool = if is_release { "release_hold" } else { "hold" };
        Ok(hold(tool, clock::now(), &done, report.refused.as_deref()))
    }

    fn alive(&mut self, asked: &AliveSubject) -> anyhow::Result<AgentAnswer> {
        let answer = alive::judge(asked, None, &mut self.observer).context("nothing was named")?;
        let (taken_at, verdict, pid) = answer.judged();
        Ok(subject::alive(taken_at, verdict, pid))
    }

    fn what_changed_since(&mut self, token: &str) -> AgentAnswer {
        let before = self.looks.find(token);
        self.with_token(|report| {
            before.map_or_else(|| unknown_token(report.taken_at), |before| what_changed(&before, report))
        })
    }

    fn rescue_list(&mut self, path: &Path) -> anyhow::Result<AgentAnswer> {
        let snapshot = self.observer.look();
        let report = assess(&snapshot, self.observer.policy());
        let place = resolve(path);
        let is_folder = place.is_dir();
        let word = path.to_str().context("the path's name is not UTF-8")?;
        let words = if is_folder { Vec::new() } else { vec![word.to_owned()] };
        // Sessions begin in working trees, above what is asked about.
        let top = Tree::find(&place).map(|tree| tree.top);
        let trees: Vec<PathBuf> = [place.clone()].into_iter().chain(top).collect();
        let selected = find(&self.settings, (&snapshot, &report), &words, &trees);
        let (selected, _) = selected.map_err(|failure| anyhow!(failure.lines().join("; ")))?;
        let line = |Candidate { version, label, fate }: &Candidate| VersionLine {
            path: Untrusted::from_path(&version.path),
            who: label.text(&version.session),
            at: version.at,
            state: fate.state,
            from: source_words(version.from.word(), version.sure),
        };
        let is_asked = |one: &&Candidate| !is_folder || one.version.path.starts_with(&place);
        let versions: Vec<VersionLine> = selected.versions.iter().filter(is_asked).map(line).collect();
        Ok(rescue_list(report.taken_at, &versions, &selected.unread))
    }
}
