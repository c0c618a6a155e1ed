//! Whether the uncommitted work of others is in the way, and what follows from that.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::core::guard::call::TreeCall;
use crate::core::model::snapshot::ledger::{
    Digest16, Encounter, FileMoment, Harm, HeldUp, LedgerHolder, digest,
};
use crate::core::model::{Edit, Forecast, Untrusted};

/// How long a call that was held up once may be repeated: 10 min.
const OVERRIDE_WITHIN: SignedDuration = SignedDuration::from_mins(10);

/// Whether the process that runs a session lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// Exactly this process is there.
    Alive,
    /// It is proven to be gone.
    Dead,
    /// A daemon runs it, or it counts elsewhere.
    Unknown,
}

/// Another session, and its edits in this working tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Other {
    pub(crate) holder: LedgerHolder,
    pub(crate) life: Life,
    /// The name of its window and its agent's own status, if these are known.
    pub(crate) name: Option<Untrusted>,
    pub(crate) doing: Option<&'static str>,
    /// Each file once, the last edited first.
    pub(crate) edits: Vec<Edit>,
    /// Whether it has edited more files, not checked because enough of them are open already.
    pub(crate) is_cut: bool,
    /// Paths that it holds for itself, with what lies below.
    pub(crate) holds: Vec<FileMoment>,
}

/// What one session holds of the requested paths.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Holding<'a> {
    pub(crate) other: &'a Other,
    /// The last edited first; empty if it only holds something for itself.
    pub(crate) edits: Vec<&'a Edit>,
}

/// Paths that cause no warning.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exempt {
    /// The names of files and folders that a person added.
    pub(crate) names: Vec<String>,
}

/// Names of files that tools write by themselves.
const TOOLS_FILES: [&str; 12] = [
    "Cargo.lock", "package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock",
    "uv.lock", "poetry.lock", "Pipfile.lock", "Gemfile.lock", "composer.lock", "go.sum",
];

/// Names of folders for build products and scratch files.
const TOOLS_FOLDERS: [&str; 12] = [
    ".beads", ".git", "target", "node_modules", "__pycache__", ".venv", "dist", ".next", ".cache", "tmp",
    ".tmp", "scratch",
];

impl Exempt {
    /// Returns whether a path in a working tree causes no warning.
    pub(crate) fn has(&self, path: &str, tree: &str) -> bool {
        let inside = path.strip_prefix(tree).unwrap_or(path);
        let mut parts: Vec<&str> = inside.split('/').filter(|part| !part.is_empty()).collect();
        let own = |part: &&str| self.names.iter().any(|name| name == part);
        let file = parts.pop().unwrap_or_default();
        TOOLS_FILES.contains(&file)
            || own(&file)
            || parts.iter().any(|part| TOOLS_FOLDERS.contains(part) || own(part))
    }
}

/// Returns what others certainly hold of the requested paths: edits that no commit has.
pub(crate) fn held<'a>(others: &'a [Other], is_asked: impl Fn(&Other, &str) -> bool) -> Vec<Holding<'a>> {
    let holding = |other: &'a Other| {
        let edits = uncommitted(other, |path| is_asked(other, path));
        (!edits.is_empty()).then_some(Holding { other, edits })
    };
    others.iter().filter_map(holding).collect()
}

/// Returns what of the edits that a call reaches is in its way.
///
/// A dead window needs no file as it is: where the bytes stay, nothing is. And what a window edited after the other one
/// did, it has read; it may change that in place, and commit what is staged of it.
pub(crate) fn in_the_way<'a>(
    others: &'a [Other],
    call: &TreeCall,
    own_edits: impl FnOnce(Vec<String>) -> HashMap<String, Timestamp>,
) -> Vec<Holding<'a>> {
    let is_kept = call.harm() == Harm::Kept;
    let found = held(others, |other, _| !is_kept || other.life != Life::Dead);
    if found.is_empty() || !is_kept || call.is_git && call.verb != "commit" {
        return found;
    }
    let own_edits = own_edits(edits(&found).map(|(_, path)| path.to_owned()).collect());
    let is_read = |edit: &Edit| {
        own_edits.get(edit.path.raw()).is_some_and(|own| edit.at.is_some_and(|theirs| theirs < *own))
    };
    let of_one = |Holding { other, mut edits }: Holding<'a>| {
        edits.retain(|edit| !is_read(edit));
        (!edits.is_empty()).then_some(Holding { other, edits })
    };
    found.into_iter().filter_map(of_one).collect()
}

/// Returns what a window is notified of at a prompt: the uncommitted edits of the living, and, if that counts, what
/// they hold for themselves; where there is no living one, what the dead have left.
pub(crate) fn told_of(others: &[Other], holds_count: bool) -> Vec<Holding<'_>> {
    let of_those = |life: Life| {
        let those = others.iter().filter(move |other| other.life == life);
        those.map(|other| Holding { other, edits: uncommitted(other, |_| true) })
    };
    let is_news =
        |holding: &Holding<'_>| !holding.edits.is_empty() || (holds_count && !holding.other.holds.is_empty());
    let living: Vec<Holding<'_>> = of_those(Life::Alive).filter(is_news).collect();
    if !living.is_empty() {
        return living;
    }
    of_those(Life::Dead).filter(|holding| !holding.edits.is_empty()).collect()
}

/// Returns each edit with its owner.
pub(crate) fn edits<'a>(holdings: &'a [Holding<'a>]) -> impl Iterator<Item = (&'a Other, &'a str)> {
    let of_one = |holding: &'a Holding<'a>| holding.edits.iter().map(|edit| (holding.other, edit.path.raw()));
    holdings.iter().flat_map(of_one)
}

fn uncommitted(other: &Other, is_asked: impl Fn(&str) -> bool) -> Vec<&Edit> {
    let is_held = |edit: &&Edit| edit.is_open() && is_asked(edit.path.raw());
    other.edits.iter().filter(is_held).collect()
}

/// Returns whether one of two paths is the other, or lies below it.
pub(crate) fn reaches(path: &str, held: &str) -> bool {
    let (path, held) = (Path::new(path), Path::new(held));
    path.starts_with(held) || held.starts_with(path)
}

/// Returns the sessions that hold a requested path for themselves: only those proven to live.
pub(crate) fn wanted(others: &[Other], is_asked: impl Fn(&str) -> bool) -> Option<(&Other, &FileMoment)> {
    let living = others.iter().filter(|other| other.life == Life::Alive);
    let mut holds = living.flat_map(|other| other.holds.iter().map(move |held| (other, held)));
    holds.find(|(_, held)| is_asked(held.path.raw()))
}

/// Digests the content of a brief without its ages: it is repeated only when this has changed.
pub(crate) fn digest_of(holdings: &[Holding<'_>], holds_count: bool, conflicts: &[&Forecast]) -> Digest16 {
    let of_one = |holding: &Holding<'_>| {
        let sorted = |mut paths: Vec<&str>| {
            paths.sort_unstable();
            paths.join("\0")
        };
        let edits = sorted(holding.edits.iter().map(|edit| edit.path.raw()).collect());
        let holds = holding.other.holds.iter().filter(|_| holds_count);
        let holds = sorted(holds.map(|held| held.path.raw()).collect());
        [holding.other.holder.session.raw(), &edits, &holds].join("\0\0")
    };
    let of_conflict = |forecast: &&Forecast| {
        let trees = forecast.sides.iter().filter_map(|side| side.tree.as_ref());
        let paths = forecast.conflicts.iter().map(|conflict| &conflict.path);
        trees.chain(paths).map(Untrusted::raw).collect::<Vec<_>>().join("\0")
    };
    let parts = holdings.iter().map(of_one).chain(conflicts.iter().map(of_conflict));
    let mut parts: Vec<String> = parts.collect();
    parts.sort_unstable();
    digest(&parts.iter().map(String::as_str).collect::<Vec<_>>())
}

/// Notes the files that are as the last commit has them, so that no edit of theirs is open.
pub(crate) fn settled(others: &[Other], now: Timestamp) -> Vec<FileMoment> {
    let ended = others.iter().flat_map(|other| &other.edits).filter(|edit| edit.has_ended());
    let mut paths: Vec<&Untrusted> = ended.map(|edit| &edit.path).collect();
    paths.sort_unstable();
    paths.dedup();
    paths.into_iter().map(|path| FileMoment::new(path.clone(), now)).collect()
}

/// Notes the sessions that an edit of a file collides with.
pub(crate) fn met(path: &Untrusted, holdings: &[Holding<'_>], at: Timestamp) -> Option<Encounter> {
    let of_one = |holding: &Holding<'_>| {
        let edit = holding.edits.iter().find(|edit| edit.path == *path)?;
        Some((holding.other.holder.session.clone(), edit.at?))
    };
    let others: Vec<_> = holdings.iter().filter_map(of_one).collect();
    (!others.is_empty()).then(|| Encounter { path: path.clone(), others, at, upon: None, call: None })
}

/// Returns the living sessions' holds that were edited a moment ago.
pub(crate) fn just_edited<'a>(holdings: &[Holding<'a>], now: Timestamp) -> Vec<Holding<'a>> {
    let is_recent = |edit: &&&Edit| edit.at.is_some_and(|at| now.duration_since(at) <= OVERRIDE_WITHIN);
    let recent = |holding: &Holding<'a>| {
        let edits: Vec<&Edit> = holding.edits.iter().filter(is_recent).copied().collect();
        (!edits.is_empty()).then_some(Holding { other: holding.other, edits })
    };
    holdings.iter().filter(|holding| holding.other.life == Life::Alive).filter_map(recent).collect()
}

/// Up to how many files a hold-up notes each.
const MOST_NOTED: usize = 256;

/// Notes the sessions that a call is held up for, and which of their files it would reach.
pub(crate) fn hold_up<'a>(
    in_the_way: impl Iterator<Item = (&'a Other, &'a str)>,
    harm: Harm,
    (at, call, sub_agent): (Timestamp, Option<Untrusted>, Option<Untrusted>),
) -> HeldUp {
    let mut others = BTreeSet::new();
    let mut about = BTreeSet::new();
    for (other, path) in in_the_way {
        others.insert(other.holder.session.clone());
        about.insert(digest(&[other.holder.session.raw(), path]).of);
    }
    if about.len() > MOST_NOTED {
        let all: Vec<&str> = about.iter().map(String::as_str).collect();
        about = BTreeSet::from([digest(&all).of]);
    }
    let (others, about) = (others.into_iter().collect(), about.into_iter().collect());
    HeldUp { others, at, call, sub_agent, about, harm }
}

/// Returns when the last of these edits was made.
pub(crate) fn newest_edit(holdings: &[Holding<'_>]) -> Option<Timestamp> {
    holdings.iter().flat_map(|holding| &holding.edits).filter_map(|edit| edit.at).max()
}

/// A call that was held up earlier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PastHoldUp {
    pub(crate) held_up: HeldUp,
    /// When such a call last went through because of it.
    pub(crate) went_through: Option<Timestamp>,
}

impl PastHoldUp {
    pub(crate) fn new(held_up: HeldUp) -> Self {
        Self { held_up, went_through: None }
    }

    /// Notes that a call went through that concerned some of the same files.
    pub(crate) fn note_override(&mut self, overrode: &HeldUp) {
        if overrode.about.iter().any(|file| self.held_up.about.contains(file)) {
            self.went_through = Some(overrode.at);
        }
    }
}

/// Returns whether a call goes through because a similar one was held up before: for all these sessions' files,
/// recently, in an earlier answer of the model, and with no less harm to them. Once one has gone through, that applies
/// to no edit made since: the model that repeats the call has not read about those.
pub(crate) fn is_override(
    now: &HeldUp,
    newest_edit: Option<Timestamp>,
    past: &[PastHoldUp],
    is_twin: impl Fn(&HeldUp) -> bool,
) -> bool {
    let is_usable = |past: &&PastHoldUp| {
        let (one, went_through) = (&past.held_up, past.went_through);
        let age = now.at.duration_since(one.at);
        let is_recent = !age.is_negative() && age <= OVERRIDE_WITHIN;
        let covers = now.about.iter().all(|file| one.about.contains(file)) && one.harm >= now.harm;
        let is_newer = went_through.is_some_and(|at| newest_edit.is_some_and(|edit| edit > at));
        is_recent && covers && !is_newer
    };
    past.iter().filter(is_usable).any(|past| !is_twin(&past.held_up))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn other(session: &str) -> Other {
        let text = Untrusted::from;
        let nobody = (text("host"), None, None);
        let holder =
            LedgerHolder::new((text(session), text("codex")), (text("/w"), text("/w")), None, nobody);
        let (edits, holds) = (Vec::new(), Vec::new());
        Other { holder, life: Life::Alive, name: None, doing: None, edits, is_cut: false, holds }
    }

    fn held_up(files: &[(&str, &str)], harm: Harm, second: i64) -> HeldUp {
        let of_others: Vec<_> = files.iter().map(|(session, path)| (other(session), *path)).collect();
        hold_up(of_others.iter().map(|(other, path)| (other, *path)), harm, (at(second), None, None))
    }

    #[test]
    fn what_was_held_up_once_goes_through_for_the_same_sake_only() {
        let both = [("a", "/w/x"), ("b", "/w/y")];
        let is_override = |now: &HeldUp, past: &[HeldUp], is_twin: &dyn Fn(&HeldUp) -> bool| {
            let past: Vec<PastHoldUp> = past.iter().cloned().map(PastHoldUp::new).collect();
            super::is_override(now, None, &past, is_twin)
        };
        let past = [held_up(&both, Harm::Lost, 100)];
        let is = |now: &HeldUp| is_override(now, &past, &|_| false);
        assert!(is(&held_up(&both, Harm::Lost, 130)));
        assert!(is(&held_up(&both, Harm::Kept, 130)), "it does less harm");
        assert!(is(&held_up(&both[..1], Harm::Lost, 130)), "fewer are in the way by now");
        assert!(!is(&held_up(&[("a", "/w/x"), ("c", "/w/y")], Harm::Lost, 130)));
        assert!(!is(&held_up(&[("a", "/w/y")], Harm::Lost, 130)), "nothing was said of that file of theirs");
        assert!(!is(&held_up(&both, Harm::Lost, 701)), "that was long ago");
        assert!(!is(&held_up(&both, Harm::Lost, 99)), "the clock was set");
        assert!(!is_override(&held_up(&both, Harm::Lost, 130), &past, &|_| true), "a twin of the call");
        let staged = [held_up(&both, Harm::Kept, 100)];
        assert!(!is_override(&held_up(&both, Harm::Lost, 130), &staged, &|_| false), "that kept their bytes");
        let stashed = [held_up(&both, Harm::Stashed, 100)];
        assert!(!is_override(&held_up(&both, Harm::Lost, 130), &stashed, &|_| false), "so did that");
        assert!(is_override(&held_up(&both, Harm::Stashed, 130), &stashed, &|_| false));
        let of_old = [HeldUp { about: Vec::new(), ..held_up(&both, Harm::Lost, 100) }];
        assert!(
            !is_override(&held_up(&both, Harm::Lost, 130), &of_old, &|_| false),
            "it does not say for which files"
        );
    }

    #[test]
    fn what_went_through_once_opens_no_newer_edit() {
        let file = [("a", "/w/x")];
        let now = held_up(&file, Harm::Lost, 130);
        let is = |edit: i64, past: &[PastHoldUp]| is_override(&now, Some(at(edit)), past, |_| false);
        let mut past = vec![PastHoldUp::new(held_up(&file, Harm::Lost, 100))];
        assert!(is(90, &past) && is(105, &past), "it was made again after the refusal");
        past.iter_mut().for_each(|past| past.note_override(&held_up(&[("a", "/w/y")], Harm::Lost, 110)));
        assert!(is(115, &past), "another file's call went through");
        past.iter_mut().for_each(|past| past.note_override(&held_up(&file, Harm::Lost, 110)));
        assert!(is(105, &past), "the same bytes");
        assert!(!is(115, &past), "newer bytes");
        past.push(PastHoldUp::new(held_up(&file, Harm::Lost, 120)));
        assert!(is(115, &past), "that was said of them, too");
    }

    #[test]
    fn of_many_files_only_all_are_noted() {
        let paths: Vec<String> = (0..=MOST_NOTED).map(|number| format!("/w/{number}")).collect();
        let many: Vec<(&str, &str)> = paths.iter().map(|path| ("a", path.as_str())).collect();
        let past = [PastHoldUp::new(held_up(&many, Harm::Lost, 100))];
        assert_eq!(past[0].held_up.about.len(), 1);
        assert!(is_override(&held_up(&many, Harm::Lost, 130), None, &past, |_| false));
        assert!(!is_override(&held_up(&many[1..], Harm::Lost, 130), None, &past, |_| false));
    }

    #[test]
    fn what_tools_write_is_exempt() {
        let exempt = Exempt { names: vec!["gen".to_owned()] };
        for (path, expected) in [
            ("/w/src/a.rs", false),
            ("/w/Cargo.lock", true),
            ("/w/.beads/x/y.db", true),
            ("/w/target/x", true),
            ("/w/gen/x.rs", true),
            ("/w/src/gen", true),
            ("/w/src/target.rs", false),
        ] {
            assert_eq!(exempt.has(path, "/w"), expected, "{path}");
        }
        assert!(!exempt.has("/tmp/w/src/a.rs", "/tmp/w"), "only below the tree");
    }
}
