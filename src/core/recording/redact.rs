//! Redaction: paths, prompts and names are replaced, each by the same word everywhere.
//!
//! Whatever verdicts rest on stays: PIDs, ticks, times, the words that systems use for their
//! files and states, UUIDs, and the equality of names. Every other word is replaced.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::core::agent::Signatures;
use crate::core::list::List;
use crate::core::process::Details;
use crate::core::record::{Location, Record, Row, StatedClaim};
use crate::core::session::Tie;
use crate::core::snapshot::{BrokenFile, Repo, Snapshot, Worktree};
use crate::core::text::Untrusted;
use crate::core::work::WorkItem;

/// The words of systems' file names, states and our own badges, none of which tells of a person.
const WORDS: &str = "blame cat credential ein fsmonitor gix jj lazygit log show sl tig upload a absent active ago agent agents alive and are at background bare bash bin branch branches \
    busy by cache cc ci claude claimed code codebase codex common compact config context copilot correlation current \
    daemon dead default denied detached directories directory ended entire env error etc fallback false file \
    files fish for found from gemini git global gone has head heads held holds home host id identity idle in \
    interactive is it its js json label lib local lock locks main marker markers markdown master md model mode \
    modules names namespace next no node none not npm null of ok on one only opencode opt or out partial permission \
    pid pids pipe pointer port pre process processes project projects prompt proc pts python qf read records refs \
    registry resume root rows run sd sbin session sessions sh share shared shell sleep sqlite src sse startup state \
    states status stopped swarm systemd tasks ted text the there tick tmp tmux to true tty txt unknown unlocked user usr var \
    version versions vscode waiting was watch win with working worktree worktrees zsh maia leo obra observability learning legacy \
    last type tool spawn live checkpoint checkpoints checkouts repo repos repository repositories looked";

/// The facts whose values are a system's own words or numbers.
const PLAIN_FACTS: [&str; 12] = [
    "status",
    "source",
    "phase",
    "kind",
    "terminal ID",
    "stale when",
    "watches itself",
    "tick pid",
    "version",
    "colour",
    "entrypoint",
    "last start",
];

/// Replaces words, the same by the same.
#[derive(Debug)]
pub struct Redactor {
    plain: BTreeSet<String>,
    names: BTreeMap<String, String>,
    /// The number of each word, whatever its case.
    numbers: BTreeMap<String, usize>,
    /// The words that were replaced since somebody last asked.
    fresh: Vec<(String, String)>,
}

impl Redactor {
    /// Makes one that leaves the words of these signatures alone.
    pub fn new(signatures: &Signatures) -> Self {
        let own = serde_json::to_string(signatures).unwrap_or_default();
        let plain = pieces(WORDS).chain(pieces(&own)).filter(|piece| is_word(piece)).map(str::to_lowercase);
        Self { plain: plain.collect(), names: BTreeMap::new(), numbers: BTreeMap::new(), fresh: Vec::new() }
    }

    /// Returns the words that were replaced since the last call, with what stands for them.
    pub fn fresh(&mut self) -> Vec<(String, String)> {
        std::mem::take(&mut self.fresh)
    }

    /// Returns a look in which every word that could tell of a person is replaced.
    pub fn look(&mut self, snapshot: &Snapshot) -> Snapshot {
        let mut look = snapshot.clone();
        look.host.name = self.text(&look.host.name);
        look.host.machine_id = look.host.machine_id.take().map(|id| self.word(&id));
        for process in look.processes.by_pid.values_mut() {
            process.comm = self.outside(&process.comm);
            if let Some(details) = &mut process.details {
                self.details(details);
            }
        }
        look.repos.iter_mut().for_each(|repo| self.repo(repo));
        look.records = look.records.iter().map(|record| Arc::new(self.record(record))).collect();
        look.broken.iter_mut().for_each(|broken| self.broken(broken));
        for database in &mut look.databases {
            database.name = self.outside(&database.name);
            database.work = database.work.iter().map(|item| self.item(item)).collect::<Vec<_>>().into();
        }
        for note in &mut look.bound.notes {
            let note = Arc::make_mut(note);
            note.host = self.outside(&note.host);
            note.context_id = self.outside(&note.context_id);
            note.session_id = self.outside(&note.session_id);
            note.cwd = note.cwd.take().map(|cwd| self.outside(&cwd));
        }
        look.bound.unreadable.iter_mut().for_each(|session| *session = self.outside(session));
        look.bound.partial = look.bound.partial.take().map(|why| self.text(&why));
        for file in &mut look.session_files {
            file.session = self.outside(&file.session);
            file.path = PathBuf::from(self.text(file.path.text().raw())).into();
            if let Tie::Folder(folder) = &mut file.tie {
                *folder = self.outside(folder);
            }
        }
        look.homes.iter_mut().for_each(|folder| folder.path = self.path(&folder.path));
        for source in &mut look.sources {
            source.id = self.text(&source.id);
            source.detail = self.outside(&source.detail);
        }
        look
    }

    fn details(&mut self, details: &mut Details) {
        details.exe = details.exe.take().map(|exe| self.outside(&exe));
        details.cwd = details.cwd.take().map(|cwd| self.outside(&cwd));
        details.argv = details.argv.iter().map(|argument| self.outside(argument)).collect();
        details.env.values_mut().for_each(|value| *value = self.outside(value));
    }

    fn item(&mut self, item: &WorkItem) -> WorkItem {
        let mut item = item.clone();
        item.key = self.outside(&item.key);
        item.owner = item.owner.take().map(|owner| self.outside(&owner));
        item.mirrors = item.mirrors.iter().map(|mirror| self.outside(mirror)).collect();
        item.parent = item.parent.take().map(|parent| self.outside(&parent));
        item
    }

    fn repo(&mut self, repo: &mut Repo) {
        repo.common_dir = self.path(&repo.common_dir);
        repo.worktrees.iter_mut().for_each(|tree| self.tree(tree));
        repo.entire_refs.iter_mut().for_each(|name| *name = self.text(name));
    }

    fn tree(&mut self, tree: &mut Worktree) {
        tree.path = self.path(&tree.path);
        tree.id = self.text(&tree.id);
        tree.branch = tree.branch.take().map(|branch| self.outside(&branch));
        tree.locked = tree.locked.take().map(|why| self.outside(&why));
    }

    fn record(&mut self, record: &Record) -> Record {
        let mut record = record.clone();
        record.location = match &record.location {
            Location::File(path) => Location::File(PathBuf::from(self.text(path.text().raw())).into()),
            Location::Row(row) => {
                let (database, id) = (self.outside(&row.database), self.outside(&row.id));
                Location::Row(Row::new(database, row.table, id).into())
            }
        };
        record.title = self.outside(&record.title);
        for text in [&mut record.session_id, &mut record.context_id] {
            *text = text.take().map(|text| self.outside(&text));
        }
        record.terminal_id = record.terminal_id.take().map(|id| self.outside(&id).into());
        if let Some(names) = record.holder.as_mut().and_then(|holder| holder.names.as_mut()) {
            names.host = names.host.take().map(|host| self.outside(&host));
            // It is made of the host name alone, and tells one machine from another.
            names.machine_id = names.machine_id.take().map(|id| self.word(id.raw()).into());
            names.name = names.name.take().map(|name| self.outside(&name));
        }
        record.claims.iter_mut().for_each(|claim: &mut StatedClaim| {
            claim.resource.id = self.outside(&claim.resource.id);
        });
        record.cwd = record.cwd.take().map(|cwd| self.path(&cwd).into());
        record.files = record.files.iter().map(|file| self.outside(file)).collect();
        record.problems.iter_mut().for_each(|problem| problem.message = left_out().into());
        record.facts = self.facts(&record.facts);
        record
    }

    fn facts(&mut self, facts: &[(&'static str, Untrusted)]) -> List<(&'static str, Untrusted)> {
        let plain = |name: &str| PLAIN_FACTS.contains(&name);
        let redacted = |(name, value): &(&'static str, Untrusted)| {
            (*name, if plain(name) { value.clone() } else { self.outside(value) })
        };
        facts.iter().map(redacted).collect()
    }

    fn broken(&mut self, broken: &mut BrokenFile) {
        broken.path = PathBuf::from(self.text(broken.path.text().raw())).into();
        broken.problem.message = left_out().into();
    }

    fn path(&mut self, path: &Path) -> PathBuf {
        self.text(Untrusted::from_path(path).raw()).into()
    }

    fn outside(&mut self, text: &Untrusted) -> Untrusted {
        self.text(text.raw()).into()
    }

    /// Replaces every word of a text that is not one of the systems' own.
    fn text(&mut self, text: &str) -> String {
        pieces(text).map(|piece| if is_word(piece) { self.word(piece) } else { piece.to_owned() }).collect()
    }

    fn word(&mut self, word: &str) -> String {
        let is_letter = word.chars().nth(1).is_none();
        if is_letter || self.plain.contains(&word.to_lowercase()) {
            return word.to_owned();
        }
        if let Some(known) = self.names.get(word) {
            return known.clone();
        }
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(word.to_lowercase()).or_insert(next);
        let name = format!("{}{number}", in_case_of(word));
        self.fresh.push((word.to_owned(), name.clone()));
        self.names.insert(word.to_owned(), name.clone());
        name
    }
}

/// Returns the letters of a replacement, so that words which differ only in case still do, and
/// only in that.
fn in_case_of(word: &str) -> &'static str {
    let mut letters = word.chars();
    let first = letters.next().is_some_and(char::is_uppercase);
    let rest = letters.as_str();
    match (first, rest.contains(char::is_uppercase), rest.contains(char::is_lowercase)) {
        (false, false, _) => "wd",
        (true, false, _) => "Wd",
        (true, true, false) => "WD",
        (_, true, _) => "wD",
    }
}

/// What stands for a sentence that can quote a file.
fn left_out() -> String {
    "what is wrong with it is left out".to_owned()
}

/// Splits a text into words, UUIDs and what stands between them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let end = if is_uuid(rest) {
            36
        } else {
            let sort = first.is_alphabetic();
            rest.find(|c: char| c.is_alphabetic() != sort).unwrap_or(rest.len())
        };
        let between = if first.is_alphabetic() || is_uuid(rest) { end } else { up_to_uuid(rest, end) };
        let (piece, after) = rest.split_at_checked(between)?;
        rest = after;
        Some(piece)
    })
}

/// Returns where a UUID begins within the first `end` bytes, or `end`.
fn up_to_uuid(text: &str, end: usize) -> usize {
    let starts = text.char_indices().map(|(at, _)| at).take_while(|at| *at < end).skip(1);
    starts.into_iter().find(|at| text.get(*at..).is_some_and(is_uuid)).unwrap_or(end)
}

/// Returns whether a text begins with a UUID.
fn is_uuid(text: &str) -> bool {
    text.as_bytes().get(..36).is_some_and(|bytes| {
        bytes.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
    })
}

fn is_word(piece: &str) -> bool {
    piece.starts_with(char::is_alphabetic) && !is_uuid(piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: &[&str]) {
        let mut redactor = Redactor::new(&Signatures::built_in().unwrap());
        let redacted: Vec<String> = texts.iter().map(|text| redactor.text(text)).collect();
        assert_eq!(redacted, expected);
    }

    #[test]
    fn the_same_word_becomes_the_same_everywhere() {
        check(
            &["/home/anna/Shop/.git", "Shop", "shop, for anna", "/usr/bin/claude"],
            &["/home/wd1/Wd2/.git", "Wd2", "wd2, for wd1", "/usr/bin/claude"],
        );
    }

    #[test]
    fn numbers_and_uuids_stay() {
        check(
            &["swarm_session_4711.json", "pid-95fe798d-3725-4649-974a-0dec79220193.json", "wd7"],
            &["swarm_session_4711.json", "pid-95fe798d-3725-4649-974a-0dec79220193.json", "wd17"],
        );
    }

    #[test]
    fn pieces_lose_nothing() {
        for text in ["", "Ünï 12-ab", "x95fe798d-3725-4649-974a-0dec79220193y", "日本/7"] {
            assert_eq!(pieces(text).collect::<String>(), text);
        }
    }
}
