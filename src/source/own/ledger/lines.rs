//! Finds in a ledger the few lines that one question needs, without parsing the others.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;

use bstr::{ByteSlice, Finder};
use jiff::Timestamp;
use rustix::process::geteuid;

use crate::core::guard::decide::PastHoldUp;
use crate::core::model::Untrusted;
use crate::core::model::snapshot::ledger::{
    Digest16, Encounter, FileMoment, LedgerHolder, LedgerLine, Reversion, parse,
};
use crate::core::model::text::json;
use crate::source::os::open::plain::{open_plain, read_into};
use crate::source::own::ledger::story::{EditEvent, Edits, Stories};
use crate::source::repos::objects::{Short, parse_name};

/// The most bytes of one ledger that are read: more than one is ever given.
pub(super) const MOST: usize = 1 << 20;

/// The most paths that one session can reserve.
pub(crate) const MOST_HOLDS: usize = 64;

/// The beginnings of lines about an edit, its end and its return, and about what a session reserves or frees.
const EDITED: &[u8] = br#"{"edited"#;
const SETTLED: &[u8] = br#"{"settled"#;
const RETURNED: &[u8] = br#"{"returned"#;
const HOLDS: &[u8] = br#"{"holds"#;
const FREES: &[u8] = br#"{"frees"#;

/// Returns whether this is the name of a ledger, `{session}.{pid}.{start}.jsonl` or an older part of one.
pub(crate) fn is_ledger(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.ends_with(".jsonl") || name.ends_with(".jsonl.1"))
}

/// What was written for a session in a working tree.
#[derive(Default)]
pub(crate) struct OwnLines {
    pub(crate) briefed: Option<Digest16>,
    pub(crate) held_up: Vec<PastHoldUp>,
    /// The encounters of edits that have not ended yet, by file; of the files that are asked about.
    pub(crate) met: HashMap<String, Encounter>,
    /// Whether only processes other than the asking one have run it here.
    pub(crate) by_others_only: bool,
    /// When it last edited these files itself.
    pub(crate) edited: HashMap<String, Timestamp>,
    /// The files that its process has reserved by its own word.
    pub(crate) holds: Vec<FileMoment>,
}

/// The lines about edits that are asked for.
pub(super) enum AskedLines {
    All,
    /// Those about the end or the return of an edit.
    Ends,
    /// Those that name one of these files.
    Naming(Vec<PathTarget>),
}

/// A file that is looked for by its name: its folder's path stands in nearly every line.
pub(super) struct PathTarget {
    /// Its whole path, as it stands in a ledger.
    path: Vec<u8>,
    /// The end of that, from the last slash on.
    name: Finder<'static>,
}

impl PathTarget {
    fn new(file: &str) -> Option<Self> {
        let path = json::to_line(&file).ok()?.into_bytes();
        let name = path.get(path.rfind_byte(b'/').unwrap_or(0)..)?;
        Some(Self { name: Finder::new(name).into_owned(), path })
    }

    /// Returns where the file's path begins in a text for the first time.
    fn place(&self, text: &[u8]) -> Option<usize> {
        let mut from = 0;
        loop {
            let end = from + self.name.find(text.get(from..)?)? + self.name.needle().len();
            if text.get(..end)?.ends_with(&self.path) {
                return end.checked_sub(self.path.len());
            }
            from = end;
        }
    }
}

impl AskedLines {
    pub(super) fn naming(files: &[String]) -> Self {
        Self::Naming(files.iter().filter_map(|file| PathTarget::new(file)).collect())
    }

    /// Returns the edits of each file, and adds when they ended and returned.
    pub(super) fn edits_of(&self, text: &[u8], stories: &mut Stories) -> Edits {
        let mut found = Edits::new();
        let name = |text: Option<Untrusted>| parse_name(text?.raw().as_bytes());
        let mut take = |line: &[u8]| {
            let line = parse(line);
            if let Some(LedgerLine::Edited(FileMoment { path, at, upon, held })) = line {
                let held = held.and_then(|held| Short::from_str_radix(held.raw(), 16).ok());
                found.entry(path).or_default().push(EditEvent { at, upon: name(upon), held });
            } else if let Some(LedgerLine::Settled(FileMoment { path, at, .. })) = line {
                stories.0.entry(path).or_default().settled.push(at);
            } else if let Some(LedgerLine::Returned(Reversion { path, at, to })) = line {
                stories.0.entry(path).or_default().returned.push((at, to));
            }
        };
        match self {
            Self::All => text.lines().filter(|line| is_about_edits(line)).for_each(take),
            Self::Ends => {
                let is_end = |line: &&[u8]| is_about_edits(line) && !line.starts_with(EDITED);
                text.lines().filter(is_end).for_each(take);
            }
            Self::Naming(files) => {
                for file in files {
                    lines_with(text, file).filter(|line| is_about_edits(line)).for_each(&mut take);
                }
            }
        }
        found
    }

    /// Adds what was written for a session, from its own ledger.
    pub(super) fn read_own(&self, text: &[u8], own: &mut OwnLines) {
        let is_asked = |line: &&[u8]| match self {
            Self::Naming(files) if line.starts_with(EDITED) => {
                files.iter().any(|file| file.place(line).is_some())
            }
            Self::Naming(_) => true,
            Self::All | Self::Ends => !line.starts_with(EDITED),
        };
        for line in text.lines().filter(is_asked).filter_map(parse) {
            match line {
                LedgerLine::Briefed(brief) => own.briefed = Some(brief.digest),
                LedgerLine::HeldUp(held_up) => own.held_up.push(PastHoldUp::new(held_up)),
                LedgerLine::Overrode(overrode) => {
                    own.held_up.iter_mut().for_each(|past| past.note_override(&overrode));
                }
                LedgerLine::Met(met) => drop(own.met.insert(met.path.raw().to_owned(), met)),
                LedgerLine::Edited(FileMoment { path, at, .. }) => {
                    own.met.remove(path.raw());
                    // The last line written, whatever the clock was set to since.
                    own.edited.insert(path.raw().to_owned(), at);
                }
                LedgerLine::Holder(_)
                | LedgerLine::Settled(_)
                | LedgerLine::Returned(_)
                | LedgerLine::Noted(_)
                | LedgerLine::Holds(_)
                | LedgerLine::Frees(_)
                | LedgerLine::Lost(_)
                | LedgerLine::Heard(_)
                | LedgerLine::Stash(_) => {}
            }
        }
    }
}

/// Returns whether a line is about an edit, its end or its return.
pub(super) fn is_about_edits(line: &[u8]) -> bool {
    [EDITED, SETTLED, RETURNED].iter().any(|begin| line.starts_with(begin))
}

/// Returns the lines that contain a path, each as often as it occurs.
fn lines_with<'a>(text: &'a [u8], wanted: &PathTarget) -> impl Iterator<Item = &'a [u8]> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (before, from) = rest.split_at_checked(wanted.place(rest)?)?;
        let begin = before.rfind_byte(b'\n').map_or(0, |end| end + 1);
        let end = from.find_byte(b'\n').unwrap_or(from.len());
        let line = rest.get(begin..before.len() + end)?;
        rest = from.get(end..)?;
        Some(line)
    })
}

/// Reads the end of a plain file of one's own user.
pub(crate) fn end_of(path: &Path, most: usize) -> Option<String> {
    let mut text = Vec::new();
    read_end(path, most, &mut text)?;
    Some(
        String::from_utf8(text)
            .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()),
    )
}

/// Reads the same into a buffer, replacing its content.
pub(super) fn read_end(path: &Path, most: usize, into: &mut Vec<u8>) -> Option<()> {
    let (fd, meta) = open_plain(path).ok().filter(|(_, meta)| meta.ownership.uid == geteuid().as_raw())?;
    let from = meta.size.saturating_sub(u64::try_from(most).ok()?);
    into.clear();
    read_into(&fd, from, (most.min(usize::try_from(meta.size).ok()?), 1), into).ok()
}

pub(super) fn holder_of(text: &[u8]) -> Option<LedgerHolder> {
    let holder = |line| if let LedgerLine::Holder(holder) = parse(line)? { Some(*holder) } else { None };
    text.lines().take(4).find_map(holder)
}

/// Adds what a session reserves to its earlier reservations, the oldest first.
pub(crate) fn holds_of(text: &[u8], mut holds: Vec<FileMoment>) -> Vec<FileMoment> {
    // Without the brace with which every line begins.
    let has = |begin: &[u8]| begin.get(1..).is_some_and(|word| text.find(word).is_some());
    if !has(HOLDS) && (holds.is_empty() || !has(FREES)) {
        return holds;
    }
    let is_asked = |line: &&[u8]| line.starts_with(HOLDS) || line.starts_with(FREES);
    for line in text.lines().filter(is_asked).filter_map(parse) {
        if let LedgerLine::Frees(freed) = line {
            holds.retain(|held| held.path != freed.path);
        } else if let LedgerLine::Holds(held) = line {
            let is_known = holds.iter().any(|other| other.path == held.path);
            if !is_known && holds.len() < MOST_HOLDS {
                holds.push(held);
            }
        }
    }
    holds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::snapshot::ledger::Harm;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn touched(path: &str, second: i64) -> FileMoment {
        FileMoment::new(path.into(), at(second))
    }

    fn met(second: i64) -> Encounter {
        Encounter { path: "/w/a".into(), others: Vec::new(), at: at(second), upon: None, call: None }
    }

    /// Writes a ledger whose line of `/w/b` was torn.
    fn ledger(lines: &[LedgerLine]) -> Vec<u8> {
        let text: Vec<String> = lines.iter().map(|line| json::to_line(line).unwrap()).collect();
        format!("\n{{\"edited\":{{\"path\":\"/w/b\n{}", text.join("\n")).into_bytes()
    }

    #[test]
    fn lines_about_a_file_are_found_as_parsing_all_would_find_them() {
        let text = ledger(&[
            LedgerLine::Edited(touched("/w/a", 7)),
            LedgerLine::Edited(touched("/w/a", 5)),
            LedgerLine::Edited(touched("/w/a.rs", 8)),
            LedgerLine::Edited(touched("/v/w/a", 8)),
            LedgerLine::Edited(touched("/w/b/a", 4)),
            LedgerLine::Edited(touched("/w/\"ü\u{202e}", 3)),
            LedgerLine::Met(met(9)),
            LedgerLine::Settled(touched("/w/a", 6)),
        ]);
        let mut stories = Stories::default();
        let all = AskedLines::All.edits_of(&text, &mut stories);
        let settled =
            |stories: &Stories, key: &Untrusted| stories.0.get(key).map(|story| story.settled.clone());
        assert_eq!(all.len(), 5);
        for file in ["/w/a", "/w/a.rs", "/v/w/a", "/w/b/a", "/w/\"ü\u{202e}", "/w/b", "/w", "/a"] {
            let mut own = Stories::default();
            let found = AskedLines::naming(&[file.to_owned()]).edits_of(&text, &mut own);
            let key = Untrusted::from(file);
            assert_eq!(found.get(&key), all.get(&key), "{file}");
            assert_eq!(found.len(), usize::from(all.contains_key(&key)), "{file}");
            assert_eq!(settled(&own, &key), settled(&stories, &key), "{file}");
        }
    }

    #[test]
    fn what_oneself_was_told_is_read_whatever_file_is_asked_about() {
        let text = ledger(&[
            LedgerLine::HeldUp(crate::core::model::snapshot::ledger::HeldUp {
                others: Vec::new(),
                at: at(1),
                call: None,
                sub_agent: None,
                about: Vec::new(),
                harm: Harm::Kept,
            }),
            LedgerLine::Met(met(2)),
            LedgerLine::Edited(touched("/w/a", 9)),
            LedgerLine::Edited(touched("/w/a", 3)),
            LedgerLine::Edited(touched("/w/c", 4)),
        ]);
        let told = |asked: &AskedLines| {
            let mut told = OwnLines::default();
            asked.read_own(&text, &mut told);
            (told.held_up.len(), told.met.len(), told.edited.into_iter().collect::<Vec<_>>())
        };
        assert_eq!(told(&AskedLines::naming(&["/w/a".to_owned()])), (1, 0, vec![("/w/a".to_owned(), at(3))]));
        assert_eq!(told(&AskedLines::All), (1, 1, Vec::new()));
    }
}
