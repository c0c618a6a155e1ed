//! Findings about edits whose bytes are in no file, commit, index or stash entry any more.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::edited::certain_work;
use crate::core::judge::rules::facts::{Facts, count, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::judge::rules::place::seen_git::{GitDoer, SeenGit, seen_git};
use crate::core::model::report::is_in_progress;
use crate::core::model::{
    Code, Edit, Evidence, Finding, Key, LostWork, Remedy, Sentence, ShellCommand, UndoneBy, Untrusted,
    WindowView, Work,
};

/// The most files of one finding that are evidence.
const MOST_TOLD: usize = 8;

/// The most commands of one finding that are told.
const MOST_DOERS: usize = 2;

/// How far the times of a session file and of a file system may differ: 1 s.
const SLACK: SignedDuration = SignedDuration::from_secs(1);

/// Whose edits they are.
#[derive(Clone)]
pub(crate) struct Owner<'a> {
    /// The window, or the newest record of a dead one.
    pub(crate) key: &'a Key,
    /// The window, if it lives.
    pub(crate) window: Option<&'a WindowView>,
    /// Its name in a sentence.
    pub(crate) name: String,
    work: &'a Work,
}

impl<'a> Owner<'a> {
    fn living(window: &'a WindowView) -> Option<Self> {
        let work = certain_work(window)?;
        Some(Self { key: &window.key, window: Some(window), name: window_name(window), work })
    }

    fn dead(lost: &'a LostWork) -> Self {
        Self {
            key: &lost.key,
            window: None,
            name: format!("{}, which has died,", lost.name),
            work: &lost.work,
        }
    }

    /// States that it made an edit.
    pub(crate) fn edit_evidence(&self, edit: &Edit) -> Evidence {
        let value = format!("{} edited {}", self.name, edit.path);
        Evidence::new("edit", value, self.work.path.text().clone()).dated(edit.at)
    }
}

/// Edits of a window that are gone, and what ran when its files were changed.
pub(crate) struct Loss<'a> {
    pub(crate) owner: Owner<'a>,
    /// The edits, the one whose file was changed last first.
    pub(crate) edits: Vec<&'a Edit>,
    /// What did it: commands of one window, or of none.
    pub(crate) by: Vec<Doer<'a>>,
}

impl<'a> Loss<'a> {
    /// Returns the other window that did it.
    pub(crate) fn culprit(&self) -> Option<&'a WindowView> {
        self.by.first()?.window()
    }
}

/// What has undone edits.
#[derive(Clone, Copy)]
pub(crate) enum Doer<'a> {
    /// A command of another window, as far as times show.
    Command(&'a WindowView, &'a ShellCommand),
    /// A line of another window, as the hook around it has found.
    Hook(&'a WindowView, &'a UndoneBy),
    /// A command of git's own, for certain.
    Git(SeenGit<'a>),
    /// A person, a script, or a command that no session file has.
    NotKnown,
}

impl<'a> Doer<'a> {
    /// Returns the window that did it.
    pub(crate) fn window(&self) -> Option<&'a WindowView> {
        match self {
            Self::Command(window, _) | Self::Hook(window, _) => Some(window),
            Self::Git(seen) => seen.window(),
            Self::NotKnown => None,
        }
    }

    /// Returns whether both are one command, or commands of one window as far as times show.
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Git(one), Self::Git(other)) => one.command.sid == other.command.sid,
            (Self::Hook(_, one), Self::Hook(_, other)) => one.line == other.line,
            (Self::Command(..), Self::Command(..)) | (Self::NotKnown, Self::NotKnown) => true,
            (_, _) => false,
        }
    }

    /// Says what ran, and when.
    pub(crate) fn ran(&self) -> Option<(Timestamp, String)> {
        match self {
            Self::Command(window, command) => Some((command.at, ran(window, &command.line))),
            Self::Hook(window, by) => Some((by.at, ran(window, &by.line))),
            Self::Git(seen) => Some((seen.command.at, seen.sentence())),
            Self::NotKnown => None,
        }
    }

    /// States what it ran.
    pub(crate) fn evidence(&self) -> Option<Evidence> {
        match self {
            Self::Command(window, command) => command_evidence((window, command)),
            Self::Hook(window, by) => {
                let value = format!("the hook around `{}` of {} found it gone", by.line, window_name(window));
                Some(Evidence::new("hook", value, "the guard's ledger").dated(Some(by.at)))
            }
            Self::Git(seen) => Some(seen.evidence()),
            Self::NotKnown => None,
        }
    }
}

/// Finds edits that are gone.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    found.extend(losses(facts).iter().map(|loss| finding(loss, facts)));
}

/// Returns what windows have lost; those of one command together. A window's own command is no loss, and of a dead
/// window only a command of another window takes anything: a person may discard what it left.
pub(crate) fn losses<'a>(facts: &'a Facts<'a>) -> Vec<Loss<'a>> {
    let now = facts.world.snapshot.taken_at;
    let mut losses: Vec<Loss<'a>> = Vec::new();
    let owners = facts.windows.iter().filter_map(Owner::living);
    for owner in owners.chain(facts.lost.iter().map(Owner::dead)) {
        let edits = owner.work.doing.edits.iter();
        let mut gone: Vec<(&Edit, Timestamp)> = edits
            .filter(|edit| edit.is_gone())
            .filter_map(|edit| Some((edit, edit.fate.since?)))
            .filter(|(_, since)| !is_in_progress(*since, now))
            .collect();
        gone.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.path.cmp(&other.0.path)));
        for (edit, since) in gone {
            let Some(by) = culprit(&owner, edit, since, facts) else { continue };
            // A person may also discard a whole working tree.
            let is_tree_there =
                facts.world.worktree_of(Path::new(edit.path.raw())).is_none_or(|(_, tree)| !tree.is_gone);
            if by.window().is_none() && (owner.window.is_none() || !is_tree_there) {
                continue;
            }
            let key = |window: Option<&'a WindowView>| window.map(|window| &window.key);
            let is_same =
                |loss: &&mut Loss<'a>| loss.owner.key == owner.key && key(loss.culprit()) == key(by.window());
            match losses.iter_mut().find(is_same) {
                Some(loss) => {
                    loss.edits.push(edit);
                    if !loss.by.iter().any(|one| one.is_same(&by)) {
                        loss.by.push(by);
                    }
                }
                None => losses.push(Loss { owner: owner.clone(), edits: vec![edit], by: vec![by] }),
            }
        }
    }
    losses
}

/// Returns what has changed a file of a window at a moment; `None` if that was the window itself.
fn culprit<'a>(
    owner: &Owner<'a>,
    edit: &'a Edit,
    since: Timestamp,
    facts: &'a Facts<'a>,
) -> Option<Doer<'a>> {
    let file = Path::new(edit.path.raw());
    let tree = facts.world.worktree_of(file).map(|(_, tree)| tree.path.as_path());
    let seen = tree.and_then(|tree| seen_git((tree, file), since, facts));
    let by_hook = edit.fate.undone_by.as_ref().and_then(|by| {
        let runs = |window: &&WindowView| window.session_id.as_ref() == Some(&by.session);
        Some((facts.windows.iter().find(runs)?, by))
    });
    match seen {
        Some(SeenGit { by: GitDoer::Window(window), .. }) if window.key == *owner.key => None,
        // Hooks and times may tell more than git's own word.
        Some(SeenGit { by: GitDoer::NotSeen, .. }) | None if by_hook.is_some() => {
            let (window, by) = by_hook.filter(|(window, _)| window.key != *owner.key)?;
            Some(Doer::Hook(window, by))
        }
        Some(SeenGit { by: GitDoer::NotSeen, .. }) | None => {
            let by = by_times(owner, file, since, facts)?;
            Some(if let (Doer::NotKnown, Some(seen)) = (by, seen) { Doer::Git(seen) } else { by })
        }
        Some(seen) => Some(Doer::Git(seen)),
    }
}

/// Returns what may have changed a file at a moment: a command in its working tree that ran then, rather one that git
/// lets reach into files; `None` if that is the window's own.
fn by_times<'a>(owner: &Owner<'a>, file: &Path, since: Timestamp, facts: &'a Facts<'a>) -> Option<Doer<'a>> {
    let is_here = |window: &&WindowView| {
        let cwd = window.cwd.as_ref().map(|cwd| Path::new(cwd.raw()));
        window.key != *owner.key && cwd.is_some_and(|cwd| works_at(cwd, file, facts))
    };
    let ran = |work: &'a Work| {
        let ran = work.doing.commands.iter().filter(|command| ran_at(command, since));
        ran.max_by_key(|command| (command.reaches_files, command.at))
    };
    let own = ran(owner.work).map(|command| (None, command));
    let others = facts.windows.iter().filter(is_here);
    let others = others.filter_map(|window| Some((Some(window), ran(certain_work(window)?)?)));
    let all = own.into_iter().chain(others);
    match all.min_by_key(|(window, command)| (!command.reaches_files, window.is_some())) {
        Some((None, _)) => None,
        Some((Some(window), command)) => Some(Doer::Command(window, command)),
        None => Some(Doer::NotKnown),
    }
}

/// Returns whether a folder is where a command can be expected to change a file: in the same working tree, in the same
/// repository if that working tree is gone, or in the same folder without one.
fn works_at(folder: &Path, file: &Path, facts: &Facts<'_>) -> bool {
    match (facts.world.worktree_of(file), facts.world.worktree_of(folder)) {
        (Some((of_file, tree)), Some((here, _))) if tree.is_gone => of_file.common_dir == here.common_dir,
        (Some((_, tree)), Some((_, here))) => tree.path == here.path,
        (None, None) => {
            let is_plain =
                facts.world.snapshot.plain_folders.iter().any(|plain| Path::new(plain.raw()) == folder);
            is_plain
                && (file.starts_with(folder) || file.parent().is_some_and(|above| folder.starts_with(above)))
        }
        (Some(_), None) | (None, Some(_)) => false,
    }
}

/// Returns whether a command ran at a moment.
fn ran_at(command: &ShellCommand, at: Timestamp) -> bool {
    let ended = command.ended.is_none_or(|ended| at.duration_since(ended) <= SLACK);
    ended && command.at.duration_since(at) <= SLACK
}

fn finding(loss: &Loss<'_>, facts: &Facts<'_>) -> Finding {
    let Loss { owner, edits, by } = loss;
    let says = format!("{}: {}", what(loss, facts), who(loss));
    let mut evidence: Vec<Evidence> = owner.window.map(window_evidence).into_iter().collect();
    evidence.extend(loss.culprit().map(window_evidence));
    evidence.extend(by.iter().filter_map(Doer::evidence));
    for edit in edits.iter().take(MOST_TOLD) {
        evidence.push(owner.edit_evidence(edit));
        evidence.push(gone_evidence(edit));
    }
    let by = loss.culprit().map(|by| by.key.clone());
    let subjects: Vec<_> = std::iter::once(owner.key.clone()).chain(by).collect();
    let message = Sentence::from(says);
    Finding::new(Code::LostEdits, subjects, message, evidence, Remedy::Rescue)
}

/// Returns the files that a finding about lost edits is about, each in its working tree, the one that was changed last
/// first.
pub(crate) fn lost_files(finding: &Finding, facts: &Facts<'_>) -> Vec<Untrusted> {
    let is_its = |loss: &&Loss<'_>| {
        let by = loss.culprit().map(|by| &by.key);
        finding.subjects.iter().eq([loss.owner.key].into_iter().chain(by))
    };
    let losses = losses(facts);
    let edits = losses.iter().find(is_its).into_iter().flat_map(|loss| &loss.edits);
    edits.map(|edit| Untrusted::from_path(in_tree(edit, facts))).collect()
}

/// Returns the path of an edited file in its working tree, or in the outermost folder of a window that it lies in.
fn in_tree<'a>(edit: &'a Edit, facts: &Facts<'_>) -> &'a Path {
    let path = Path::new(edit.path.raw());
    if let Some((_, tree)) = facts.world.worktree_of(path) {
        return path.strip_prefix(&tree.path).unwrap_or(path);
    }
    let plain = facts.world.snapshot.plain_folders.iter();
    let inside = plain.filter_map(|folder| path.strip_prefix(folder.raw()).ok());
    inside.max_by_key(|inside| inside.as_os_str().len()).unwrap_or(path)
}

/// Says what is lost.
pub(crate) fn what(loss: &Loss<'_>, facts: &Facts<'_>) -> String {
    let inside = loss.edits.first().map_or(Path::new(""), |edit| in_tree(edit, facts));
    let more = match loss.edits.len() {
        0 | 1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    let file = Untrusted::from_path(inside);
    format!("edits of {} in {file}{more} are gone, in no commit or stash", loss.owner.name)
}

/// Says what ran then.
pub(crate) fn who(loss: &Loss<'_>) -> String {
    let told = |by: &Doer<'_>| match by {
        Doer::Command(by, command) => format!("{} then", ran(by, &command.line)),
        Doer::Hook(window, by) => format!("{} then", ran(window, &by.line)),
        Doer::Git(seen) => seen.sentence(),
        Doer::NotKnown => "a person or a script changed the files, or a command that is not known".to_owned(),
    };
    let more = loss.by.len().saturating_sub(MOST_DOERS);
    let more = (more > 0).then(|| format!("and {}", count(more, "more command")));
    loss.by.iter().take(MOST_DOERS).map(told).chain(more).collect::<Vec<_>>().join("; ")
}

fn ran(window: &WindowView, line: &Untrusted) -> String {
    format!("{} ran `{line}`", window_name(window))
}

/// States that an edit is gone.
pub(crate) fn gone_evidence(edit: &Edit) -> Evidence {
    let value =
        format!("{} does not have the edit, nor has a commit since, the index or a stash entry", edit.path);
    Evidence::new("gone", value, "the file and git's own files").dated(edit.fate.since)
}

/// States that a window ran a command.
fn command_evidence((window, command): (&WindowView, &ShellCommand)) -> Option<Evidence> {
    let source = certain_work(window)?.path.text().clone();
    Some(Evidence::new("command", ran(window, &command.line), source).dated(Some(command.at)))
}
