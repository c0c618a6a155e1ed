//! Looks for uncommitted edits that are gone, and reports them: to the window whose shell line did it, and to theirs.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::Timestamp;

use crate::core::guard::decide::Other;
use crate::core::guard::folder::joined;
use crate::core::guard::loss::{Change, Traces, alike};
use crate::core::guard::shell::{ShellContext, commands};
use crate::core::model::snapshot::ledger::kept::{KeptReason, KeptVersion};
use crate::core::model::snapshot::ledger::{FileMoment, LedgerHolder, LedgerLine, Loss};
use crate::core::model::snapshot::work::git_command::changer;
use crate::core::model::text::hex;
use crate::core::model::text::secret::hidden;
use crate::core::model::{GitCommand, Untrusted};
use crate::guard::keep::NEWEST;
use crate::guard::query::Query;
use crate::present;
use crate::source::os::open::folder::look_at;
use crate::source::os::{clock, host};
use crate::source::own::content::FileContent;
use crate::source::own::git_commands;
use crate::source::own::kept::KeptFiles;
use crate::source::own::ledger::{
    Here, KnownEdit, KnownEdits, Past, Tree, Whose, is_kin, is_since, other_of,
};
use crate::source::repos::objects::{Name, parse_name, short};

/// The most edits of one session and file whose lines are looked for, the last.
const MOST_CHANGES: usize = 6;
/// The most edits that are judged in one look, the newest, and of these the most whose contents have to be compared.
const MOST_JUDGED: usize = 2_048;
const MOST_COMPARED: usize = 64;
/// The most characters of a line that are written down.
const MOST_LINE: usize = 200;
/// The most words of a line that may name the place to which it moved a file.
const MOST_WORDS: usize = 16;

/// What git has in its folder while it is in the middle of something that changes files.
pub(super) const UNDER_WAY: [&str; 8] = [
    "index.lock", "HEAD.lock", "rebase-merge", "rebase-apply", "MERGE_HEAD", "CHERRY_PICK_HEAD",
    "REVERT_HEAD", "sequencer",
];

/// What has become of an edit.
enum Fate {
    /// It is in its file, in a commit, or was written over by another window's tool; or that cannot be determined.
    NotLost,
    /// It has this path now.
    MovedTo(Untrusted),
    Gone {
        /// Whether it was there when its file was kept last.
        was_there: bool,
        /// Its content, if that is kept.
        blob: Option<Untrusted>,
        /// The stash that has it.
        stash: Option<Name>,
    },
}

/// A look at the edits of one working tree.
struct EditLook<'a> {
    query: &'a Query<'a>,
    tree: &'a Tree,
    files: KeptFiles,
    /// The versions of each file that was changed, the oldest first.
    versions: HashMap<Untrusted, Vec<KeptVersion>>,
    /// When each edit was reported last: by session, file and time.
    reports: HashMap<(&'a Untrusted, &'a Untrusted, Timestamp), Timestamp>,
    past: Option<Past>,
    /// Where a line may have moved files: paths that it names.
    moved_to: Vec<String>,
    /// How many more contents may be compared.
    left: usize,
    /// What git has reported of its commands, once that is asked for.
    git: Option<Vec<GitCommand>>,
}

impl Query<'_> {
    /// Looks after a shell line for edits that it has undone; returns what its model is to read.
    pub(super) fn after_line(
        &self,
        line: &str,
        around: &[(Tree, KnownEdits)],
    ) -> anyhow::Result<Option<String>> {
        let mut texts = Vec::new();
        for (tree, known) in around.iter().filter(|(tree, _)| !tree.is_under_way(&UNDER_WAY)) {
            let at = self.machine.by_now();
            let mut look = EditLook::new(self, tree, known, self.named(line));
            let mut cut: Option<Untrusted> = None;
            let mut lost: Vec<(LedgerHolder, Loss)> = Vec::new();
            for edit in known.touched.iter().take(MOST_JUDGED).take_while(|_| self.has_time()) {
                let mut by = || {
                    let cut = cut.get_or_insert_with(|| shortened(line));
                    (self.question.call.clone(), Some(cut.clone()))
                };
                let loss = match look.fate(edit) {
                    Fate::Gone { was_there: true, blob, stash } => {
                        let git = look.seen_git(edit);
                        // Another window's git has done it while the line ran: its owner will hear of that.
                        if git.as_deref().is_some_and(|git| self.is_others(git)) {
                            continue;
                        }
                        Loss { git, ..loss_of(edit, at, by(), (blob, stash)) }
                    }
                    Fate::MovedTo(path) => {
                        Loss { moved_to: Some(path), ..loss_of(edit, at, by(), (None, None)) }
                    }
                    Fate::Gone { was_there: false, .. } | Fate::NotLost => continue,
                };
                lost.push((edit.holder.clone(), loss));
            }
            if lost.is_empty() {
                continue;
            }
            let lines: Vec<LedgerLine> =
                lost.iter().map(|(_, loss)| LedgerLine::Lost(Box::new(loss.clone()))).collect();
            self.note_down(tree, &lines)?;
            // What a window does to its own edits is its own affair.
            lost.retain(|(holder, loss)| !self.is_own(holder) && loss.moved_to.is_none());
            if self.levels(tree).note && !lost.is_empty() {
                let top = tree.text().context("no text")?;
                texts.push(present::guard::lost(&self.by_window(&lost), top));
            }
        }
        Ok((!texts.is_empty()).then(|| texts.join("\n")))
    }

    /// Looks for the window's own edits that are gone, and returns what its model has not read of that.
    pub(super) fn unheard_losses(&self, tree: &Tree) -> anyhow::Result<Option<String>> {
        if !self.scope.keep.files || !self.levels(tree).note || tree.is_under_way(&UNDER_WAY) {
            return Ok(None);
        }
        let session = &self.question.session;
        let known = KnownEdits::read(&self.scope.ledgers, tree, Whose::Session(session), self.now);
        let at = self.machine.by_now();
        let by_others = known.losses.iter().filter(|(holder, loss)| {
            let key = (session.clone(), loss.path.clone(), loss.at);
            loss.of == *session
                && loss.moved_to.is_none()
                && !self.is_own(holder)
                && !known.heard.contains(&key)
        });
        let by_others: Vec<(LedgerHolder, Loss)> = by_others.cloned().collect();
        let mut look = EditLook::new(self, tree, &known, Vec::new());
        let mut unknown = Vec::new();
        for edit in known.touched.iter().take(MOST_JUDGED).take_while(|_| self.has_time()) {
            if let Fate::Gone { blob, stash, .. } = look.fate(edit) {
                let git = look.seen_git(edit);
                if git.as_deref().is_none_or(|git| !self.is_its(git)) {
                    unknown.push(Loss { git, ..loss_of(edit, at, (None, None), (blob, stash)) });
                }
            }
        }
        if by_others.is_empty() && unknown.is_empty() {
            return Ok(None);
        }
        let heard =
            |(_, loss): &(LedgerHolder, Loss)| LedgerLine::Heard(FileMoment::new(loss.path.clone(), loss.at));
        let mut lines: Vec<LedgerLine> = by_others.iter().map(heard).collect();
        lines.extend(unknown.iter().map(|loss| LedgerLine::Lost(Box::new(loss.clone()))));
        self.note_down(tree, &lines)?;
        // What has come back meanwhile, as by `git stash pop`, is no news.
        let is_back = |loss: &Loss| {
            let now = self.content_of(loss.path.raw());
            let name = now.as_ref().and_then(FileContent::name);
            name.is_some_and(|name| loss.blob.as_ref().is_some_and(|blob| blob.raw() == hex(name)))
        };
        let by_others: Vec<_> = by_others.into_iter().filter(|(_, loss)| !is_back(loss)).collect();
        if by_others.is_empty() && unknown.is_empty() {
            return Ok(None);
        }
        let top = tree.text().context("no text")?;
        Ok(Some(present::guard::undone(&self.by_window(&by_others), &self.by_git(unknown), top, self.now)))
    }

    /// Returns whether there is time to look at one more edit.
    fn has_time(&self) -> bool {
        self.scope.losses_until.is_none_or(|until| clock::steady() < until)
    }

    /// Returns whether a ledger belongs to the asking window.
    pub(super) fn is_own(&self, holder: &LedgerHolder) -> bool {
        if holder.session == self.question.session {
            return true;
        }
        let is_kin = || is_kin(holder, &self.own(), &self.machine.here.processes);
        *self.kin.borrow_mut().entry((holder.session.clone(), holder.process)).or_insert_with(is_kin)
    }

    /// Puts losses together by the window in whose name they stand.
    fn by_window(&self, lost: &[(LedgerHolder, Loss)]) -> Vec<(Other, Vec<Loss>)> {
        let mut found: Vec<(Other, Vec<Loss>)> = Vec::new();
        for (holder, loss) in lost {
            match found.iter_mut().find(|(other, _)| other.holder.session == holder.session) {
                Some((_, losses)) => losses.push(loss.clone()),
                None => {
                    let mut other = other_of(holder, &self.machine.here);
                    self.name(&mut other);
                    found.push((other, vec![loss.clone()]));
                }
            }
        }
        found
    }

    /// Returns whether a git command certainly ran below the asking window, or one that works for it.
    fn is_its(&self, git: &GitCommand) -> bool {
        self.window_of(git).is_some_and(|window| self.is_own(&window.holder))
    }

    /// Returns whether a git command certainly did not run below the asking window.
    fn is_others(&self, git: &GitCommand) -> bool {
        git.caller.is_some() && self.machine.process.is_some() && !self.is_its(git)
    }

    /// Puts losses together by the git command that did it, with the window below which that ran.
    fn by_git(&self, losses: Vec<Loss>) -> Vec<(Option<Other>, Vec<Loss>)> {
        let mut found: Vec<(Option<Other>, Vec<Loss>)> = Vec::new();
        let sid = |loss: &Loss| loss.git.as_ref().map(|git| git.sid.clone());
        for loss in losses {
            let is_same =
                |(_, losses): &&mut (Option<Other>, Vec<Loss>)| losses.first().map(sid) == Some(sid(&loss));
            match found.iter_mut().find(is_same) {
                Some((_, losses)) => losses.push(loss),
                None => found.push((loss.git.as_deref().and_then(|git| self.window_of(git)), vec![loss])),
            }
        }
        found
    }

    /// Returns the window below which a git command ran.
    fn window_of(&self, git: &GitCommand) -> Option<Other> {
        let window = git.caller.as_ref()?.window.as_ref()?;
        let Here { host, boot_id, pid_namespace, .. } = &self.machine.here;
        let boot_id =
            boot_id.clone().filter(|now| git.caller.as_ref().is_some_and(|caller| caller.boot_id == *now));
        let holder = LedgerHolder::new(
            (Untrusted::fixed(""), window.agent.clone()),
            (git.tree.clone(), git.tree.clone()),
            Some((window.id, None)),
            (host.clone(), boot_id, *pid_namespace),
        );
        let mut other = other_of(&holder, &self.machine.here);
        self.name(&mut other);
        Some(other)
    }

    /// Returns the paths that a line names.
    fn named(&self, line: &str) -> Vec<String> {
        let place =
            ShellContext { folder: &self.question.cwd, home: self.scope.home.to_str(), top_of: &|_| None };
        let commands = commands(line, &place);
        let words = commands.iter().filter_map(|command| Some((command.folder.as_deref()?, &command.words)));
        let words = words.flat_map(|(folder, words)| words.iter().skip(1).map(move |word| (folder, word)));
        let is_path = |(_, word): &(&str, &String)| !word.starts_with('-');
        words.filter(is_path).take(MOST_WORDS).filter_map(|(folder, word)| joined(folder, word)).collect()
    }
}

fn loss_of(
    edit: &KnownEdit,
    at: Timestamp,
    (call, line): (Option<Untrusted>, Option<Untrusted>),
    (blob, stash): (Option<Untrusted>, Option<Name>),
) -> Loss {
    let (path, of, edited) = (edit.path.clone(), edit.holder.session.clone(), edit.at);
    let (stash, moved_to) = (stash.map(|stash| hex(&stash).into()), None);
    Loss { path, at, of, edited, call, line, blob, stash, moved_to, git: None }
}

/// Returns what is written down of a line.
fn shortened(line: &str) -> Untrusted {
    let cut: String = hidden(line).chars().take(MOST_LINE).collect();
    cut.into()
}

impl<'a> EditLook<'a> {
    fn new(query: &'a Query<'a>, tree: &'a Tree, known: &'a KnownEdits, moved_to: Vec<String>) -> Self {
        let files = KeptFiles::of_tree(&query.scope.kept, tree.text().unwrap_or_default());
        let paths: HashSet<&str> = known.touched.iter().map(|edit| edit.path.raw()).collect();
        let mut versions: HashMap<Untrusted, Vec<KeptVersion>> = HashMap::new();
        let mut past = None;
        if !paths.is_empty() {
            for version in files.newest_of(&paths, NEWEST) {
                versions.entry(version.path.clone()).or_default().push(version);
            }
            past = tree.past(query.now);
        }
        let mut reports = HashMap::new();
        for (_, loss) in &known.losses {
            let at = reports.entry((&loss.of, &loss.path, loss.edited)).or_insert(loss.at);
            *at = loss.at.max(*at);
        }
        Self { query, tree, files, versions, reports, past, moved_to, left: MOST_COMPARED, git: None }
    }

    /// Returns the command of git's that has changed the file of an edit last, as git itself reported.
    fn seen_git(&mut self, edit: &KnownEdit) -> Option<Box<GitCommand>> {
        let file = Path::new(edit.path.raw());
        let meta = look_at(file).or_else(|| look_at(file.parent()?))?;
        let (now, state) = (self.query.now, &self.query.scope.state);
        let commands = self.git.get_or_insert_with(|| git_commands::known(state, &host::host(now), now));
        changer(commands, (&self.tree.top, file), meta.touched_at()).cloned().map(Box::new)
    }

    /// Determines what has become of an edit whose file was changed since.
    fn fate(&mut self, edit: &KnownEdit) -> Fate {
        let path = Path::new(edit.path.raw());
        let Ok(inside) = path.strip_prefix(&self.tree.top) else { return Fate::NotLost };
        // The file is as it was when the loss was reported.
        let is_settled = |at: Timestamp| edit.changed.is_some_and(|changed| !is_since(changed, at));
        if self.query.is_exempt(edit.path.raw(), self.tree) || self.reported(edit).is_some_and(is_settled) {
            return Fate::NotLost;
        }
        let Some(now) = self.query.content_of(edit.path.raw()) else { return Fate::NotLost };
        if matches!(now, FileContent::Unread | FileContent::Large(_)) {
            return Fate::NotLost;
        }
        // It is put back below, as the look needs all of itself.
        let versions = self.versions.remove(&edit.path).unwrap_or_default();
        let fate = self.fate_among(edit, (inside, &now), &versions);
        self.versions.insert(edit.path.clone(), versions);
        fate
    }

    fn fate_among(
        &mut self,
        edit: &KnownEdit,
        (inside, now): (&Path, &FileContent),
        versions: &[KeptVersion],
    ) -> Fate {
        let last = versions.last();
        let of_session = |version: &&KeptVersion| {
            version.session == edit.holder.session && version.why == KeptReason::Edit
        };
        let own = versions.iter().rfind(of_session);
        // It has removed the file itself.
        if own.is_some_and(|own| own.blob.is_none() && own.left_out.is_none()) {
            return Fate::NotLost;
        }
        let begin = own.map_or(edit.at, |own| begin(edit, own, versions));
        let is_last = own.is_some_and(|own| last == Some(own));
        if let Some(own) = own.filter(|_| is_last)
            && let Some(fate) = self.fate_by_whole_name(edit, own, (inside, begin), now)
        {
            return fate;
        }
        let Some(left) = self.left.checked_sub(1) else { return Fate::NotLost };
        self.left = left;
        let traces = own.and_then(|own| self.traces(edit, own, versions, inside));
        let Some((own, traces)) = own.zip(traces) else {
            return self.fate_by_name(edit, now, inside, last);
        };
        if now.bytes().is_some_and(|bytes| traces.is_in(bytes))
            || self.is_written_over(own, &traces, versions)
        {
            return Fate::NotLost;
        }
        let has = |_: &Name, content: &[u8]| traces.is_in(content);
        let place = (inside, begin);
        if self.past.as_mut().is_some_and(|past| past.may_have(place, has)) {
            return Fate::NotLost;
        }
        let there = |version: &KeptVersion| {
            version.left_out.is_some() || self.content(version).is_some_and(|content| traces.is_in(&content))
        };
        let was_there = last.is_some_and(&there);
        let seen = versions.iter().rev().find(|version| there(version));
        let blob = seen.and_then(|seen| seen.blob.clone()).or_else(|| own.blob.clone());
        if self.reported(edit).is_some_and(|at| seen.is_none_or(|seen| at >= seen.at)) {
            return Fate::NotLost;
        }
        if let Some(to) = self.moved_to(edit.path.raw(), &traces).filter(|_| now.bytes().is_none()) {
            return Fate::MovedTo(to);
        }
        let stash = self.past.as_mut().and_then(|past| past.stash(place, has));
        Fate::Gone { was_there, blob, stash }
    }

    /// Decides for a content that is not kept by the beginning of its name alone: it is gone if the file is, or is as
    /// in the commit.
    fn fate_by_name(
        &mut self,
        edit: &KnownEdit,
        now: &FileContent,
        inside: &Path,
        last: Option<&KeptVersion>,
    ) -> Fate {
        let Some(held) = edit.held else { return Fate::NotLost };
        let is_it = |name: &Name| short(name) == held;
        let is_as_committed = match (now.name(), &mut self.past) {
            (Some(name), Some(past)) => past.checked_out(inside) == Some(*name),
            (Some(_), None) => false,
            (None, _) => true,
        };
        let has = |name: &Name, _: &[u8]| is_it(name);
        let is_there = now.name().is_some_and(is_it)
            || !is_as_committed
            || self.past.as_mut().is_some_and(|past| past.may_have((inside, edit.at), has));
        if is_there || self.reported(edit).is_some() {
            return Fate::NotLost;
        }
        let stash = self.past.as_mut().and_then(|past| past.stash((inside, edit.at), has));
        let was_there = last.is_none_or(|last| last.left_out.is_some() || last.at <= edit.at);
        Fate::Gone { was_there, blob: None, stash }
    }

    /// Decides without any content where the last version of a file is the session's own, and the file is gone or as
    /// every commit since has it; `None` if more has to be known.
    fn fate_by_whole_name(
        &mut self,
        edit: &KnownEdit,
        own: &KeptVersion,
        place: (&Path, Timestamp),
        now: &FileContent,
    ) -> Option<Fate> {
        let blob = parse_name(own.blob.as_ref()?.raw().as_bytes())?;
        let is_named = |to: &String| Path::new(to).symlink_metadata().is_ok();
        if now.name().is_none() && self.moved_to.iter().any(is_named) {
            return None;
        }
        let mut stash = None;
        if let Some(past) = &mut self.past {
            let committed = past.checked_out(place.0);
            let is_as_committed = now.name().is_none_or(|name| Some(*name) == committed);
            if !is_as_committed || committed == Some(blob) || !past.has_only(place, committed) {
                return None;
            }
            stash = past.stash_of(place, &blob);
        } else if now.name().is_some() {
            return None;
        }
        let is_reported = self.reported(edit).is_some_and(|at| at >= own.at);
        Some(match is_reported {
            true => Fate::NotLost,
            false => Fate::Gone { was_there: true, blob: own.blob.clone(), stash },
        })
    }

    /// Returns when a window has reported last that an edit is gone.
    fn reported(&self, edit: &KnownEdit) -> Option<Timestamp> {
        self.reports.get(&(&edit.holder.session, &edit.path, edit.at)).copied()
    }

    /// Returns what a session's edits since the last commit of a file have left in its last one.
    fn traces(
        &mut self,
        edit: &KnownEdit,
        own: &KeptVersion,
        versions: &[KeptVersion],
        inside: &Path,
    ) -> Option<Traces> {
        let last = self.content(own)?;
        let mut changes: Vec<Change> = Vec::new();
        let numbers = (0..versions.len()).rev();
        let is_open = |version: &KeptVersion| is_open(version, edit, own);
        let open = numbers.filter(|number| versions.get(*number).is_some_and(is_open)).take(MOST_CHANGES);
        for number in open {
            let Some(version) = versions.get(number) else { continue };
            let Some(after) = self.content(version) else { continue };
            let before = match number.checked_sub(1).and_then(|number| versions.get(number)) {
                Some(before) => self.content(before),
                None => {
                    let before = self.past.as_mut().map(|past| past.contents_before(inside, version.at));
                    before.unwrap_or_default().into_iter().max_by_key(|before| alike(before, &after))
                }
            };
            changes.push((before.unwrap_or_default(), after));
        }
        changes.reverse();
        // Its last content itself has to be among them.
        Traces::of_changes(changes).filter(|traces| traces.is_in(&last))
    }

    /// Returns whether another window's tool has written over an edit.
    fn is_written_over(&self, own: &KeptVersion, traces: &Traces, versions: &[KeptVersion]) -> bool {
        let later = versions.iter().filter(|version| version.at > own.at && version.why == KeptReason::Edit);
        let mut others = later.filter(|version| version.session != own.session);
        others.any(|version| self.content(version).is_none_or(|content| !traces.is_in(&content)))
    }

    /// Returns the path to which a line has moved a file, if it names that.
    fn moved_to(&self, path: &str, traces: &Traces) -> Option<Untrusted> {
        let path = Path::new(path);
        let name = path.file_name()?;
        let mut places: Vec<PathBuf> = Vec::new();
        for to in self.moved_to.iter().map(Path::new) {
            places.extend([to.to_path_buf(), to.join(name)]);
            for from in self.moved_to.iter().map(Path::new).filter(|from| *from != path) {
                let Ok(below) = path.strip_prefix(from) else { continue };
                places.extend(
                    [Some(to.join(below)), from.file_name().map(|folder| to.join(folder).join(below))]
                        .into_iter()
                        .flatten(),
                );
            }
        }
        let has = |place: &&PathBuf| {
            let content = place.to_str().and_then(|place| self.query.content_of(place));
            content.as_ref().and_then(FileContent::bytes).is_some_and(|bytes| traces.is_in(bytes))
        };
        let found = places.iter().filter(|place| *place != path).find(has)?;
        found.to_str().map(Untrusted::from)
    }

    fn content(&self, version: &KeptVersion) -> Option<Vec<u8>> {
        self.files.content(&parse_name(version.blob.as_ref()?.raw().as_bytes())?)
    }
}

/// Returns whether a version is one of a session's edits of a file up to its last, since the file was as committed.
fn is_open(version: &KeptVersion, edit: &KnownEdit, own: &KeptVersion) -> bool {
    version.session == own.session
        && version.why == KeptReason::Edit
        && version.at <= own.at
        && edit.settled.is_none_or(|settled| version.at > settled)
}

/// Returns since when a session's edits of a file are open.
fn begin(edit: &KnownEdit, own: &KeptVersion, versions: &[KeptVersion]) -> Timestamp {
    let first = versions.iter().find(|version| is_open(version, edit, own));
    first.map_or(edit.at, |first| first.at)
}
