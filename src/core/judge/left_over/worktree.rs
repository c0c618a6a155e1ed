//! Working trees that windows leave behind, by the evidence of files.
//!
//! The maker of a tree is named by its lock, or by the entry of a window that worked in it. That all of these are
//! dead does not mean that the tree is unused: a process that works in it, or may, holds it.

use std::path::Path;

use jiff::Timestamp;

use crate::core::judge::git::{lock_of, tree_of};
use crate::core::judge::window::possible_agent::PossibleAgent;
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::text::is_uuid;
use crate::core::model::{
    Binding, Certainty, Evidence, Format, GitLock, JudgedRecord, Key, KeyKind, LeftTree, MadeTree, Repo,
    RepoSort, Trace, TreeSort, Untrusted, VerdictState, WindowView, Worktree,
};

/// The agent that makes working trees of its own.
const CLAUDE: &str = "claude-code";

/// Returns every linked working tree that an agent has made, or whose folder is gone.
pub(crate) fn left_trees(
    world: &World<'_>,
    windows: &[WindowView],
    records: &[JudgedRecord],
) -> Vec<LeftTree> {
    let repos = world.snapshot.repos.iter().filter(|repo| repo.sort == RepoSort::Git);
    let trees = repos.flat_map(|repo| repo.worktrees.iter().map(move |tree| (repo, tree)));
    let linked = trees.filter(|(_, tree)| !tree.id.is_empty());
    let cases = linked.map(|(repo, tree)| Case { world, windows, records, repo, tree });
    let is_told = |case: &Case<'_>| {
        case.tree.made.is_some()
            || case.tree.is_gone
            || case.maker(None).is_some_and(|(maker, _)| !is_alive(maker))
    };
    cases.filter(is_told).map(|case| case.judge()).collect()
}

fn is_alive(judged: &JudgedRecord) -> bool {
    judged.verdict.state == VerdictState::Alive
}

/// A tie between a working tree and the entry of a window.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tie {
    /// Its lock names the window's process.
    Lock,
    /// The window worked in it.
    Folder,
    /// Its path has the window's session in it.
    Path,
    /// The window's transcript has the command that made it.
    Command,
}

impl Tie {
    fn words(self) -> &'static str {
        match self {
            Self::Lock => "linked to its window by its lock",
            Self::Folder => "linked to its window by the folder that it worked in",
            Self::Path => "linked to its window by its path, which names the session",
            Self::Command => "linked to its window by the command that made it, which is in its transcript",
        }
    }
}

/// One working tree and the context it is judged in.
struct Case<'a> {
    world: &'a World<'a>,
    windows: &'a [WindowView],
    records: &'a [JudgedRecord],
    repo: &'a Repo,
    tree: &'a Worktree,
}

/// How sure it is, and why it is not surer.
type Doubt = (Certainty, String);

impl<'a> Case<'a> {
    fn judge(&self) -> LeftTree {
        let lock = self.lock();
        let (maker, tie) = self.maker(lock).unzip();
        let (certainty, why) = match self.weigh(lock, maker.zip(tie)) {
            Ok(()) => (Certainty::Exact, String::new()),
            Err(doubt) => doubt,
        };
        let main = self.repo.worktrees.first().filter(|main| main.id.is_empty());
        let common = self.repo.common_dir.as_os_str().as_encoded_bytes();
        let made = self.tree.made.as_ref();
        let is_dead = |judged: &&JudgedRecord| judged.verdict.state == VerdictState::Dead;
        LeftTree {
            key: Key::of_bytes(KeyKind::LeftTree, &[common, self.tree.id.as_bytes()]),
            path: Untrusted::from_path(&self.tree.path),
            repository: Untrusted::from_path(main.map_or(&self.repo.common_dir, |main| &main.path)),
            branch: self.tree.branch.clone(),
            agent: made.map(|_| CLAUDE.into()).or_else(|| maker.map(|_| CLAUDE.into())),
            window_pid: lock.or(maker).and_then(|judged| judged.pid()),
            window_name: self.name(lock, maker),
            window_ended_at: maker.filter(is_dead).map(|judged| self.ended_at(judged)),
            session: maker.and_then(|judged| judged.session_id.clone()),
            certainty,
            why,
            sort: TreeSort::Linked,
            is_gone: self.tree.is_gone,
            has_no_commit: made.is_some_and(|made| made.has_no_commit),
            merged_into: made.filter(|made| made.is_at_main).and_then(|_| main?.branch.clone()),
            is_locked: self.tree.locked.is_some(),
            releasable_lock: lock.filter(is_dead).map(|judged| judged.key.clone()),
            evidence: self.evidence(made, lock, maker),
        }
    }

    /// Returns when a window was proven dead, else the last sign of life in its entry.
    fn ended_at(&self, maker: &JudgedRecord) -> Timestamp {
        let stone = maker.session_id.as_ref().and_then(|session| self.world.tombstone_of(session));
        stone.map_or_else(|| maker.heartbeat_at.unwrap_or(maker.written_at), |stone| stone.proven_at)
    }

    /// Returns the record of its lock.
    fn lock(&self) -> Option<&'a JudgedRecord> {
        let is_its = |judged: &&JudgedRecord| {
            judged.format == Format::Git
                && lock_of(judged) == GitLock::Worktree
                && tree_of(judged, std::slice::from_ref(self.repo))
                    .is_some_and(|tree| tree.id == self.tree.id)
        };
        self.records.iter().find(is_its)
    }

    /// Returns the entry in the registry of the window that made it: of the PID that its lock names,
    /// else of the last that worked in it. One that lives comes first.
    fn maker(&self, lock: Option<&JudgedRecord>) -> Option<(&'a JudgedRecord, Tie)> {
        let entries = self.records.iter().filter(|judged| is_entry(judged));
        let is_its = |judged: &JudgedRecord| match lock {
            Some(lock) => {
                let is_it =
                    judged.pid().is_some() && judged.pid() == lock.pid() && has_its_start(judged, lock);
                is_it.then_some(Tie::Lock)
            }
            None => self.tie(judged),
        };
        let is_dead = |judged: &JudgedRecord| judged.verdict.state == VerdictState::Dead;
        let tied = entries.filter_map(|judged| Some((judged, is_its(judged)?)));
        tied.max_by_key(|(judged, _)| (!is_dead(judged), judged.written_at))
    }

    /// Returns how it is tied to the entry of a window.
    fn tie(&self, judged: &JudgedRecord) -> Option<Tie> {
        let path = &self.tree.path;
        if judged.cwd.as_deref().is_some_and(|cwd| cwd.starts_with(path)) {
            return Some(Tie::Folder);
        }
        let session = judged.session_id.as_ref().filter(|session| is_uuid(session.raw()))?;
        if path.iter().any(|part| part == session.raw()) {
            return Some(Tie::Path);
        }
        let mut works = self.world.snapshot.work.iter().filter(|work| work.session == *session);
        let is_made = |tree: &Untrusted| Path::new(tree.raw()) == path;
        works.any(|work| work.doing.trees.iter().any(is_made)).then_some(Tie::Command)
    }

    /// Returns the name of its window: from its entry, else from its lock.
    fn name(&self, lock: Option<&JudgedRecord>, maker: Option<&JudgedRecord>) -> Option<Untrusted> {
        let reason = || {
            let reason = self.tree.locked.as_ref()?.raw().strip_prefix("claude session ")?;
            Some(reason.rsplit_once(" (pid ")?.0.into())
        };
        maker.map(|judged| judged.title.clone()).or_else(|| lock.and_then(|_| reason()))
    }

    fn evidence(
        &self,
        made: Option<&MadeTree>,
        lock: Option<&JudgedRecord>,
        maker: Option<&JudgedRecord>,
    ) -> Vec<Evidence> {
        let own = self.repo.common_dir.join("worktrees").join(&self.tree.id);
        let at = |name: &str| Untrusted::from_path(&own.join(name));
        let locked =
            self.tree.locked.as_ref().map(|reason| Evidence::new("lock", reason.clone(), at("locked")));
        let gone = self.tree.is_gone.then(|| Evidence::new("folder", "it is gone", at("gitdir")));
        let commits = made.filter(|made| made.has_no_commit);
        let commits = commits.map(|_| Evidence::new("commits", "its head never moved", at("logs/HEAD")));
        let merged = made.filter(|made| made.is_at_main);
        let merged =
            merged.map(|_| Evidence::new("commits", "its head is that of the main tree", at("HEAD")));
        let judged = [lock, maker].into_iter().flatten();
        let verdicts = judged.flat_map(|judged| judged.verdict.evidence.iter().cloned());
        [locked, gone, commits, merged].into_iter().flatten().chain(verdicts).collect()
    }

    /// Weighs the facts, those against it first.
    fn weigh(&self, lock: Option<&JudgedRecord>, tied: Option<(&JudgedRecord, Tie)>) -> Result<(), Doubt> {
        let (maker, tie) = tied.unzip();
        self.is_held(lock, maker)?;
        self.cannot_be_told(lock, maker)?;
        let guess = |why: &str| Err((Certainty::Guess, why.to_owned()));
        let Some(made) = self.tree.made.as_ref() else {
            return guess(&match tie {
                Some(tie) => format!("{}; could not determine who is working in it", tie.words()),
                None => "there is no sign that an agent made it".to_owned(),
            });
        };
        let Some(users) = made.users.as_ref().filter(|_| self.tree.exists || self.tree.is_gone) else {
            return guess("could not determine who is working in it");
        };
        if let Some(pid) = users.unread.first() {
            return guess(&format!("PID {pid} cannot be inspected and may be working in it"));
        }
        match (lock, tie) {
            (Some(_), _) => Ok(()),
            (None, Some(tie)) => Err((Certainty::Strong, tie.words().to_owned())),
            (None, None) => guess("it is not known which window made it"),
        }
    }

    /// Returns the living process that it belongs to, or that works in it.
    fn is_held(&self, lock: Option<&JudgedRecord>, maker: Option<&JudgedRecord>) -> Result<(), Doubt> {
        let held = |why: String| Err((Certainty::Held, why));
        let mut judged = [lock, maker].into_iter().flatten();
        if let Some(alive) = judged.find(|judged| judged.verdict.state == VerdictState::Alive) {
            let pid = alive.window_pid.or(alive.pid()).map(|pid| format!(", PID {pid},")).unwrap_or_default();
            return held(format!("its window{pid} is alive"));
        }
        let session = maker.and_then(|judged| judged.session_id.as_ref());
        let runs_on = |window: &&WindowView| {
            session.is_some() && window.session.as_ref().map(|session| &session.id) == session
        };
        if let Some(window) = self.windows.iter().find(runs_on) {
            return held(format!("its session continues as PID {}", window.pid));
        }
        match self.inside().next() {
            Some(pid) => held(format!("PID {pid} works in it")),
            None => Ok(()),
        }
    }

    /// Returns every living process that is known to work in it.
    fn inside(&self) -> impl Iterator<Item = u32> + '_ {
        let table = &self.world.snapshot.processes;
        let is_in = |cwd: &Untrusted| Path::new(cwd.raw()).starts_with(&self.tree.path);
        let of_details = table.by_pid.values().filter(move |process| {
            let cwd = process.details.as_ref().and_then(|details| details.cwd.as_ref());
            cwd.is_some_and(is_in)
        });
        let works = move |trace: &&Trace| trace.cwd.as_ref().is_some_and(is_in);
        let of_traces = self.world.snapshot.traces.iter().filter(works).map(|trace| trace.id.pid);
        let users = self.tree.made.iter().flat_map(|made| &made.users).flat_map(|users| &users.pids).copied();
        let all = of_details.map(|process| process.id.pid).chain(of_traces).chain(users);
        all.filter(|pid| {
            table.get(*pid).map_or_else(|| table.listed.contains(pid), |process| !has_exited(process))
        })
    }

    /// Returns why it cannot be judged at all.
    fn cannot_be_told(&self, lock: Option<&JudgedRecord>, maker: Option<&JudgedRecord>) -> Result<(), Doubt> {
        let unknown = |why: String| Err((Certainty::Unknown, why));
        if self.tree.locked.is_some() && lock.is_none_or(|lock| lock.verdict.state != VerdictState::Dead) {
            return unknown("the process that locked it may be alive".to_owned());
        }
        if maker.is_some_and(|maker| maker.verdict.state != VerdictState::Dead) {
            return unknown("it is not known whether its window is alive".to_owned());
        }
        if self.world.snapshot.processes.partial.is_some() {
            return unknown("not all processes were seen".to_owned());
        }
        let is_open = |agent: &&PossibleAgent<'_>| self.may_hold(agent);
        let agents = self.world.possible_agents.iter().map(|(agent, _)| agent);
        match agents.into_iter().find(is_open) {
            Some(agent) => unknown(format!("{} may run its session or work in it", agent.name())),
            None => Ok(()),
        }
    }

    /// Returns whether an agent could work in it, or run its session elsewhere, for all that is known.
    fn may_hold(&self, agent: &PossibleAgent<'_>) -> bool {
        let (process, is_claudes) = match agent {
            PossibleAgent::Hidden(_) => return true,
            PossibleAgent::Known(process, name) => (process, *name == CLAUDE),
            PossibleAgent::Unproven(process) => (process, true),
        };
        let window = self.windows.iter().find(|window| window.pid == process.id.pid);
        let has_session = window.is_some_and(|window| window.session.is_some());
        let has_folder = process.details.as_ref().is_some_and(|details| details.cwd.is_some());
        !has_folder || (is_claudes && !has_session)
    }
}

/// Returns whether a record is the entry of an agent's own registry.
pub(crate) fn is_entry(judged: &JudgedRecord) -> bool {
    judged.holder.as_ref().is_some_and(|holder| holder.binding == Binding::Registry)
}

/// Returns whether two records name one start, or one of them names none.
fn has_its_start(judged: &JudgedRecord, lock: &JudgedRecord) -> bool {
    let start = |judged: &JudgedRecord| judged.holder.as_ref().and_then(|holder| holder.start_ticks);
    start(judged).zip(start(lock)).is_none_or(|(one, other)| one == other)
}
