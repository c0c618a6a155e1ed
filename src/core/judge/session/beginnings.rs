//! Which of several windows in one folder can have begun which session, by when both began.

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::session::arguments::{forks, named, resumes};
use crate::core::judge::window::Window;
use crate::core::judge::world::World;
use crate::core::model::{SessionFile, Untrusted};

/// The most windows of one folder among which it is guessed.
pub(super) const MOST: usize = 16;

/// The agents that begin a session when they start.
const BEGIN_AT_START: [&str; 3] = ["codex", "pi", "cline"];

/// The agents whose processes overwrite their arguments, so that `--session` cannot be seen.
const HIDE_ARGUMENTS: [&str; 2] = ["kimi", "pi"];

/// How long after its start such an agent begins its session: 0.4 to 5 s were seen (Codex 0.171.0).
const STARTS: SignedDuration = SignedDuration::from_secs(10);

/// The windows of one agent in one folder, and its sessions.
pub(super) struct Beginnings<'a, 'w> {
    pub(super) windows: &'a [&'a Window<'w>],
    pub(super) files: Vec<&'a SessionFile>,
    pub(super) world: &'a World<'w>,
}

impl<'a> Beginnings<'a, '_> {
    /// Returns the session that only this window can run: the newest of those that it alone can have begun, unless it can
    /// have begun one that another one can have begun as well.
    pub(super) fn only(&self, window: &Window<'_>) -> Option<&'a SessionFile> {
        let mut owned: Vec<(&SessionFile, Vec<u32>)> =
            self.files.iter().map(|file| (*file, self.owners(file))).collect();
        if has_one_each(window.agent) {
            // A window that began one with its first line has begun no other.
            let sole = |(file, owners): &(&SessionFile, Vec<u32>)| match owners.as_slice() {
                [pid] if file.beginning.at.is_some() => Some(*pid),
                _ => None,
            };
            let settled: Vec<u32> = owned.iter().filter_map(sole).collect();
            for (_, owners) in owned.iter_mut().filter(|(_, owners)| owners.len() > 1) {
                owners.retain(|pid| !settled.contains(pid));
            }
        }
        let pid = window.process.id.pid;
        let mine = owned.into_iter().filter(|(_, owners)| owners.contains(&pid));
        let (sole, shared): (Vec<_>, Vec<_>) = mine.partition(|(_, owners)| owners.len() == 1);
        let is_certain = shared.is_empty() && (sole.len() == 1 || !has_one_each(window.agent));
        sole.into_iter().map(|(file, _)| file).filter(|_| is_certain).max_by_key(|file| file.written_at)
    }

    /// Returns the sessions that this window can run, if it can run one that another one can run as well.
    pub(super) fn any(&self, window: &Window<'_>) -> Vec<Untrusted> {
        let pid = window.process.id.pid;
        let owned = self.files.iter().map(|file| (*file, self.owners(file)));
        let mine: Vec<_> = owned.filter(|(_, owners)| owners.contains(&pid)).collect();
        if mine.iter().all(|(_, owners)| owners.len() == 1) {
            return Vec::new();
        }
        mine.into_iter().map(|(file, _)| file.session.clone()).collect()
    }

    /// Returns the windows that can run a session.
    fn owners(&self, file: &SessionFile) -> Vec<u32> {
        let pids = |windows: &[&&Window<'_>]| windows.iter().map(|window| window.process.id.pid).collect();
        let is_named =
            |window: &&&Window<'_>| named(window.agent, argv(window)).as_ref() == Some(&file.session);
        let named: Vec<_> = self.windows.iter().filter(is_named).collect();
        if !named.is_empty() {
            return pids(&named);
        }
        let started_by = |at: Timestamp| {
            let is_by = |window: &&&Window<'_>| {
                self.world.started_at(window.process).is_none_or(|started_at| started_at <= at)
            };
            self.windows.iter().filter(is_by).collect::<Vec<_>>()
        };
        let Some(began_at) = file.beginning.at else { return pids(&started_by(file.written_at)) };
        let has_just_started = |window: &&&Window<'_>| {
            let started_at = self.world.started_at(window.process);
            let since = started_at.map(|started_at| began_at.duration_since(started_at));
            BEGIN_AT_START.contains(&window.agent)
                && since.is_some_and(|since| (SignedDuration::ZERO..STARTS).contains(&since))
        };
        let just_started: Vec<_> = self.windows.iter().filter(has_just_started).collect();
        if let [_] = just_started.as_slice() {
            return pids(&just_started);
        }
        let mut able = started_by(began_at);
        if able.is_empty() {
            // A session from before all of them: any of them may continue it, and one that hides its arguments may
            // have been started for it and have written nothing yet.
            let hides = |window: &&&Window<'_>| HIDE_ARGUMENTS.contains(&window.agent);
            let able = |window: &&&Window<'_>| {
                hides(window) || self.world.started_at(window.process).is_none_or(|at| at <= file.written_at)
            };
            return pids(&self.windows.iter().filter(able).collect::<Vec<_>>());
        }
        if file.beginning.is_fork {
            let forking: Vec<_> = able.iter().copied().filter(|window| forks(argv(window))).collect();
            if let [_] = forking.as_slice() {
                return pids(&forking);
            }
        }
        if has_one_each(self.windows.first().map_or("", |window| window.agent)) {
            able.retain(|window| !resumes(argv(window)));
            let last = able.iter().filter_map(|window| self.world.started_at(window.process)).max();
            able.retain(|window| self.world.started_at(window.process) == last);
        }
        pids(&able)
    }
}

fn argv<'a>(window: &Window<'a>) -> &'a [Untrusted] {
    window.process.details.as_ref().map_or(&[], |details| &details.argv)
}

/// Whether an agent's windows begin a session each when they start, and not with the first prompt.
fn has_one_each(agent: &str) -> bool {
    agent == "gemini"
}
