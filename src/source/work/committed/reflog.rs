//! Where a working tree's head has been, by the end of git's own log.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use rustix::io::Errno;

use crate::format::git::log::LogLine;
use crate::source::os::open::folder::look_at;
use crate::source::os::open::medium::medium_at;
use crate::source::os::open::plain::{open_plain, read_at};
use crate::source::repos::objects::{Name, parse_name};

/// How much of a log's end is read, in bytes; its lines are about 150 long.
const END: usize = 4 << 10;

/// How much of a log's end is read to find where the head was at some moment, in bytes.
const PAST: usize = 4 << 20;

/// The end of a log that was read.
#[derive(Clone, Debug)]
pub(super) struct Log {
    /// When it was last written, or claims to be.
    pub(super) written_at: Timestamp,
    moves: Vec<Move>,
    /// Whether these are all moves that there ever were.
    is_whole: bool,
}

/// One move: a line of the log.
#[derive(Clone, Debug)]
pub(super) struct Move {
    pub(super) old: Name,
    pub(super) new: Name,
    pub(super) by: By,
    /// The committer's date, which any user can set.
    at: Timestamp,
}

/// What moved the head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    Commit,
    Reset,
    Other,
}

impl Log {
    /// Reads the end of a log of this user's on this machine. A missing log is `NOENT`, and an inconclusive one
    /// `None`.
    pub(super) fn read(path: &Path, uid: u32) -> Result<Option<Self>, Errno> {
        let (fd, meta) = open_plain(path)?;
        if meta.links != 1 || meta.ownership.uid != uid || !medium_at(path).is_this_machines() {
            return Ok(None);
        }
        let from = meta.size.saturating_sub(END as u64);
        let end = read_at(&fd, from, END, 0)?;
        let has_end = from + end.len() as u64 == meta.size;
        Ok(Self::parse(&end, from == 0, meta.modified_at).filter(|_| has_end))
    }

    fn parse(end: &[u8], is_all: bool, modified_at: Timestamp) -> Option<Self> {
        let lines: Vec<&[u8]> = end.strip_suffix(b"\n")?.split(|byte| *byte == b'\n').collect();
        let lines = lines.get(usize::from(!is_all)..)?;
        // Lines can be deleted as well.
        let written_at = moment(&LogLine::parse(lines.last()?)?)?.max(modified_at);
        let parsed: Vec<Option<Move>> = lines.iter().map(|line| Move::parse(line)).collect();
        let moves: Vec<Move> = parsed.rsplit(Option::is_none).next()?.iter().flatten().cloned().collect();
        let is_whole = is_all && moves.first().is_some_and(|first| first.old == Name::default());
        Some(Self { written_at, is_whole: is_whole && moves.len() == lines.len(), moves })
    }

    /// Returns where the head was at a moment, and the moves since then, with those that may have come before, except
    /// those up to a commit that was certainly checked out before; `None` if the log is inconclusive.
    pub(super) fn since(
        &self,
        (at, upon): (Timestamp, Option<Name>),
        doubt: SignedDuration,
    ) -> Option<(Name, &[Move])> {
        let is_before = |one: &Move| one.is_before(at, doubt);
        let begin = self.moves.iter().position(|one| !is_before(one)).unwrap_or(self.moves.len());
        let passed = upon.and_then(|upon| self.moves.iter().skip(begin).position(|one| one.new == upon));
        let begin = passed.map_or(begin, |passed| begin + passed + 1);
        let (before, since) = self.moves.split_at_checked(begin)?;
        let is_chain = self.moves.windows(2).all(|two| matches!(two, [one, next] if one.new == next.old));
        let is_known = self.is_whole || !before.is_empty();
        let place = since.first().map(|one| one.old).or_else(|| before.last().map(|one| one.new))?;
        (is_known && is_chain && !since.iter().any(is_before)).then_some((place, since))
    }

    /// Returns whether the head may have been put back to an earlier commit, or onto others, since a moment, as far as
    /// the log's end shows.
    pub(super) fn may_be_back_since(&self, at: Timestamp, doubt: SignedDuration) -> bool {
        let is_back = |one: &Move| one.by != By::Commit && one.old != one.new;
        self.moves.iter().rev().take_while(|one| !one.is_before(at, doubt)).any(is_back)
    }

    /// Returns the commits that entered the log since a moment, or may have.
    pub(super) fn news(&self, at: Timestamp, doubt: SignedDuration) -> Option<Vec<Name>> {
        let since = self.moves.iter().rev().take_while(|one| !one.is_before(at, doubt));
        let since: Vec<Name> = since.map(|one| one.new).collect();
        (self.is_whole || since.len() < self.moves.len()).then_some(since)
    }
}

/// Returns the commit to which a working tree's head has moved within the second of a moment, by its own folder of
/// git's: times in seconds do not show what was edited after that.
pub(crate) fn just_moved_to(git_dir: &Path, now: Timestamp, uid: u32) -> Option<Name> {
    let path = git_dir.join("logs/HEAD");
    look_at(&path).filter(|meta| meta.modified_at.as_second() >= now.as_second())?;
    let log = Log::read(&path, uid).ok()??;
    log.moves.last().map(|last| last.new)
}

/// Returns the commit that a working tree had checked out at a moment, by its own folder of git's and the dates in the
/// log, which any user can set; `None` if the log does not reach back to it.
pub(crate) fn head_at(git_dir: &Path, at: Timestamp, uid: u32) -> Option<Name> {
    let (fd, meta) =
        open_plain(&git_dir.join("logs/HEAD")).ok().filter(|(_, meta)| meta.ownership.uid == uid)?;
    let from = meta.size.saturating_sub(PAST as u64);
    let end = read_at(&fd, from, PAST, 0).ok()?;
    let moves = end.split(|byte| *byte == b'\n').filter_map(Move::parse);
    let before = moves.take_while(|one| one.at.as_second() <= at.as_second());
    before.last().map(|last| last.new)
}

impl Move {
    /// Returns whether it was certainly made before a moment, if its date is right.
    fn is_before(&self, at: Timestamp, doubt: SignedDuration) -> bool {
        self.at.checked_add(doubt).is_ok_and(|moved| moved.as_second() < at.as_second())
    }

    fn parse(line: &[u8]) -> Option<Self> {
        let line = LogLine::parse(line)?;
        let LogLine { old, new, message, .. } = line;
        let begins = |with: &[&[u8]]| with.iter().any(|start| message.starts_with(start));
        let by = if begins(&[b"commit: ", b"commit (amend): ", b"commit (initial): "]) {
            By::Commit
        } else if begins(&[b"reset: "]) {
            By::Reset
        } else {
            By::Other
        };
        Some(Self { old: parse_name(old)?, new: parse_name(new)?, by, at: moment(&line)? })
    }
}

/// Returns the moment of a line.
fn moment(line: &LogLine<'_>) -> Option<Timestamp> {
    let has_zone = line.zone.starts_with(['+', '-']);
    Timestamp::from_second(line.second).ok().filter(|_| has_zone)
}
