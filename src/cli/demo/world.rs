//! The demo's world: its stage, and who plays on it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Context;
use jiff::Timestamp;

use super::cast::Cast;
use super::fill::Truth;
use super::stage::{Stage, make};
use super::story::{DemoWork, File, Repo, Stone, Story, Which};
use super::trees;
use crate::act::fs::system::System;
use crate::act::state::{bind, tombstones};
use crate::cli::args::Options;
use crate::cli::output::failure::Failure;
use crate::cli::settings::environment::Environment;
use crate::cli::settings::{Settings, settings};
use crate::core::judge::tombstone::keeper::Lesson;
use crate::core::model::snapshot::note::ContextSize;
use crate::core::model::{Forecast, Reason, Tombstone};
use crate::source::git::program_in;
use crate::source::os::{clock, host};

/// How long processes run before files are written: more than the ticks of both clocks.
const APART: std::time::Duration = std::time::Duration::from_millis(40);

/// The world while it lasts. The processes end before their folders go.
pub(super) struct World {
    pub(super) cast: Cast,
    pub(super) stage: Stage,
    /// Who was seen dead, and when.
    stones: Vec<(Stone, Timestamp)>,
    pub(super) story: Story,
}

impl World {
    /// Makes it; git is looked for in the folders of programs.
    pub(super) fn make(which: Which, within: &Path, programs: &[PathBuf]) -> anyhow::Result<Self> {
        let story = Story::built_in(which).context("failed to read the demo's story")?;
        let stage = Stage::build(within)?;
        let git = program_in(programs);
        let forecast = |repo: &Repo| {
            let is_it =
                |one: &&Forecast| Path::new(one.repository.raw()) == Path::new(&repo.root).join(".git");
            story.forecasts.iter().find(is_it)
        };
        let by_git = |repo: &Repo| Some((git.clone()?, forecast(repo)?));
        for repo in &story.repos {
            match by_git(repo) {
                // Its processes start in these folders, and git fills them later.
                Some(_) => repo.folders().try_for_each(|folder| make(&stage.place(folder)))?,
                None => stage.repository(repo)?,
            }
        }
        let host = host::host(clock::now());
        let mut cast = Cast::start(&stage, &story)?;
        // Over there they are seen live first: in a container no other process's end can be proven.
        if !matches!(which, Which::There(_)) {
            cast.end_dead(&story);
        }
        // Only a file that is certainly younger than a process can be its own.
        std::thread::sleep(APART);
        let truth = Truth { stage: &stage, cast: &cast, now: clock::now(), machine: &host };
        let transcripts: Vec<_> = story.work.iter().map(DemoWork::transcript).collect();
        let edited: BTreeSet<&String> = story.work.iter().flat_map(|work| &work.uncommitted).collect();
        let edited: Vec<_> = edited.into_iter().map(|path| File::new(path, "")).collect();
        for file in story.files.iter().chain(&transcripts).chain(&edited) {
            truth.write(file).with_context(|| format!("failed to write {}", file.path))?;
        }
        for repo in &story.repos {
            if let Some((git, forecast)) = by_git(repo) {
                trees::repository(&stage, &git, repo, forecast).context("failed to make a repository")?;
            }
        }
        for (path, ago) in story.work.iter().flat_map(|work| &work.gone) {
            let folder = stage.place(path).parent().map(Path::to_path_buf).unwrap_or_default();
            let dated = std::fs::File::open(&folder).and_then(|folder| {
                folder.set_modified(truth.written_at(ago).map_err(std::io::Error::other)?.into())
            });
            dated.with_context(|| format!("failed to date {}", folder.display()))?;
        }
        let seen = |stone: &Stone| Ok((stone.clone(), truth.written_at(&stone.proven)?));
        let stones = story.stones.iter().map(seen).collect::<anyhow::Result<_>>()?;
        Ok(Self { cast, stage, stones, story })
    }

    /// Returns the settings of a person whose whole world this is.
    pub(super) fn settings(&self, options: &Options, environment: Environment) -> Result<Settings, Failure> {
        let stage = &self.stage;
        let roots = vec![stage.home()];
        let own =
            Options { home: Some(stage.home()), tmp: Some(stage.place("/tmp")), roots, ..options.clone() };
        settings(&own, environment)
    }

    /// Writes down the sizes of contexts and the deaths of the story. These are true: the demo was these windows' parent, ended
    /// them and has waited for their end. Only when is moved into the past, as it is with the times of files,
    /// so that what they left counts as left at once; no rule knows of it.
    pub(super) fn remember(&self, settings: &Settings) -> anyhow::Result<()> {
        for (session, tokens) in &self.story.context_size {
            let size = ContextSize::new(session.as_str().into(), i64::try_from(*tokens)?);
            let size = size.context("failed to read the size of a context")?;
            bind::keep_context(&System, &settings.places.bindings, &size)?;
        }
        let Some(path) = settings.places.tombstones() else { return Ok(()) };
        let host = host::host(clock::now());
        let learnt = self.stones.iter().filter_map(|(stone, proven_at)| {
            Some(Tombstone {
                id: self.cast.id(stone.pid).ok()?,
                pidfd_inode: None,
                host: host.name.as_str().into(),
                boot_id: host.boot_id.as_deref()?.into(),
                pid_namespace: host.pid_namespace?,
                time_namespace: host.time_namespace?,
                session_id: Some(stone.session.as_str().into()),
                name: None,
                seen_alive_at: None,
                proven_at: *proven_at,
                proven_tick: None,
                reason: Reason::NoProcess,
            })
        });
        let lesson = Lesson { learnt: learnt.collect(), ..Lesson::default() };
        Ok(tombstones::keep(&System, &path, &lesson, &host)?)
    }

    pub(super) fn end(self) -> anyhow::Result<()> {
        drop(self.cast);
        self.stage.strike()
    }
}

/// Ends what is held, unless that was done before. A second caller waits until it is done.
///
/// # Errors
/// As `ends`.
pub(super) fn end<T>(
    held: &Mutex<Option<T>>,
    ends: impl FnOnce(T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
    held.take().map_or(Ok(()), ends)
}
