//! Findings about edits whose bytes are in no file, commit, index or stash entry any more.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::edited::certain_work;
use crate::core::judge::rules::facts::{Facts, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::model::{
    Code, Edit, Evidence, Finding, Key, LostWork, Remedy, Sentence, ShellCommand, Untrusted, WindowView, Work,
};

/// The most files of one finding that are evidence.
const MOST_TOLD: usize = 8;

/// For how long a change of files may be in progress, such as a rebase: 2 s.
const IN_PROGRESS: SignedDuration = SignedDuration::from_secs(2);

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
    /// The command of another window that ran then.
    pub(crate) by: Option<(&'a WindowView, &'a ShellCommand)>,
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
            .filter(|(_, since)| now.duration_since(*since) >= IN_PROGRESS)
            .collect();
        gone.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.path.cmp(&other.0.path)));
        for (edit, since) in gone {
            let by = match culprit(&owner, edit, since, facts) {
                Culprit::Itself => continue,
                Culprit::Window(by, command) => Some((by, command)),
                Culprit::NotKnown if owner.window.is_none() => continue,
                Culprit::NotKnown => None,
            };
            let key = |by: &Option<(&'a WindowView, &'a ShellCommand)>| by.map(|(by, _)| &by.key);
            let is_same = |loss: &&mut Loss<'a>| loss.owner.key == owner.key && key(&loss.by) == key(&by);
            match losses.iter_mut().find(is_same) {
                Some(loss) => loss.edits.push(edit),
                None => losses.push(Loss { owner: owner.clone(), edits: vec![edit], by }),
            }
        }
    }
    losses
}

/// What has changed a file.
enum Culprit<'a> {
    /// A command of the same window.
    Itself,
    /// A command of another window, as far as times show.
    Window(&'a WindowView, &'a ShellCommand),
    /// A person, a script, or a command that no session file has.
    NotKnown,
}

/// Returns what may have changed a file at a moment: a command in its working tree that ran then, rather one that git
/// lets reach into files.
fn culprit<'a>(owner: &Owner<'a>, edit: &Edit, since: Timestamp, facts: &'a Facts<'a>) -> Culprit<'a> {
    let tree = |path: &Path| facts.world.worktree_of(path).map(|(_, tree)| tree.path.as_path());
    let of_file = tree(Path::new(edit.path.raw()));
    let is_here = |window: &&WindowView| {
        let here = window.cwd.as_ref().and_then(|cwd| tree(Path::new(cwd.raw())));
        window.key != *owner.key && of_file.is_some() && here == of_file
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
        Some((None, _)) => Culprit::Itself,
        Some((Some(window), command)) => Culprit::Window(window, command),
        None => Culprit::NotKnown,
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
    evidence.extend(by.iter().map(|(by, _)| window_evidence(by)));
    evidence.extend(by.iter().filter_map(|by| command_evidence(*by)));
    for edit in edits.iter().take(MOST_TOLD) {
        evidence.push(owner.edit_evidence(edit));
        evidence.push(gone_evidence(edit));
    }
    let by = by.iter().map(|(by, _)| by.key.clone());
    let subjects: Vec<_> = std::iter::once(owner.key.clone()).chain(by).collect();
    let message = Sentence::from(says);
    Finding::new(Code::LostEdits, subjects, message, evidence, Remedy::Rescue)
}

/// Says what is lost.
pub(crate) fn what(loss: &Loss<'_>, facts: &Facts<'_>) -> String {
    let path = loss.edits.first().map(|edit| Path::new(edit.path.raw())).unwrap_or(Path::new(""));
    let tree = facts.world.worktree_of(path).map(|(_, tree)| tree.path.as_path());
    let inside = tree.and_then(|tree| path.strip_prefix(tree).ok()).unwrap_or(path);
    let more = match loss.edits.len() {
        0 | 1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    let file = Untrusted::from_path(inside);
    format!("edits of {} in {file}{more} are gone, in no commit or stash", loss.owner.name)
}

/// Says what ran then.
pub(crate) fn who(loss: &Loss<'_>) -> String {
    match loss.by {
        Some((by, command)) => format!("{} ran `{}` then", window_name(by), command.line),
        None => "a person or a script changed the files, or a command that is not known".to_owned(),
    }
}

/// States that an edit is gone.
pub(crate) fn gone_evidence(edit: &Edit) -> Evidence {
    let value =
        format!("{} does not have the edit, nor has a commit since, the index or a stash entry", edit.path);
    Evidence::new("gone", value, "the file and git's own files").dated(edit.fate.since)
}

/// States that a window ran a command.
pub(crate) fn command_evidence((window, command): (&WindowView, &ShellCommand)) -> Option<Evidence> {
    let source = certain_work(window)?.path.text().clone();
    let value = format!("{} ran `{}`", window_name(window), command.line);
    Some(Evidence::new("command", value, source).dated(Some(command.at)))
}
