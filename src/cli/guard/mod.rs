//! `guard`: the hook at a prompt and around a tool's call. It says what other windows have not committed, holds
//! a call up that would reach it, and never fails or delays its agent.

mod check;
mod hold;
mod replay;
mod stats;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

pub(crate) use self::check::check;
pub(crate) use self::hold::hold;
pub(crate) use self::replay::replay;
pub(crate) use self::stats::stats;

use crate::act::ledger;
use crate::cli::args::Options;
use crate::cli::environment::{Environment, guard_patience};
use crate::cli::failure::Exit;
use crate::cli::input;
use crate::cli::output::print;
use crate::cli::settings::{Settings, settings};
use crate::cli::signatures::signatures;
use crate::config::Access;
use crate::config::guard::{Held, HoldUps, Levels};
use crate::core::guard::decide::{self, Exempt, Holding, Life, Other};
use crate::core::guard::folder::joined;
use crate::core::guard::git::{GitCall, Reach, Takes, git_calls};
use crate::core::judge::agent::Role;
use crate::core::judge::context::server_above;
use crate::core::model::json as to_json;
use crate::core::model::ledger::{Briefed, HeldUp, LedgerHolder, LedgerLine, Met, Touched};
use crate::core::model::process::ancestry;
use crate::core::model::{ProcessId, Untrusted};
use crate::format::guard::{
    Asker, Moment, Question, Touch, is_same_answer, note, question, question_to_person, refusal,
};
use crate::format::json;
use crate::present;
use crate::source::ledger::{About, Here, Own, Processes, Read, Told, Tree, end_of, read, resolved, settled};
use crate::source::os::{clock, host, processes};

/// How much of a transcript is read from its end to find two calls, in bytes.
const TRANSCRIPT_END: usize = 512 << 10;
/// Calls that come within 2 s are of one answer, where no transcript tells.
const AT_ONCE: SignedDuration = SignedDuration::from_secs(2);
/// How many processes above its own a window writes down.
const MOST_ABOVE: usize = 8;
/// How long an agent waits for an answer at most: 100 ms.
const PATIENCE_MS: u64 = 100;

/// Reads a plain `guard --for AGENT` without building the whole parser: it runs at every call of a tool.
pub(crate) fn recognise(arguments: &[OsString]) -> Option<Asker> {
    match arguments {
        [_, command, option, agent] if command == "guard" && option == "--for" => {
            Asker::named(agent.to_str()?)
        }
        _ => None,
    }
}

/// What came of a call, as it is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Briefed,
    Noted,
    HeldUp,
    Overridden,
    /// A person was asked.
    Asked,
    /// A living window holds it for itself.
    Denied,
    /// An edit was written down.
    Recorded,
    /// It touches nothing that a guard knows of.
    OutOfScope,
    /// Nobody else holds anything there.
    NobodyElse,
    /// It was told already.
    ToldBefore,
    /// Something went wrong; then nothing is said.
    Failed,
}

impl Outcome {
    /// Tells people what came of it.
    fn words(self) -> &'static str {
        match self {
            Self::Briefed => "briefed",
            Self::Noted => "noted",
            Self::HeldUp => "held up",
            Self::Asked => "had the person asked",
            Self::Denied => "denied: another window holds it",
            Self::Overridden => "went through when asked again",
            Self::Recorded => "nothing: wrote down an edit",
            Self::OutOfScope => "nothing: not in its scope",
            Self::NobodyElse => "nothing: nobody else holds it",
            Self::ToldBefore => "nothing: it was told before",
            Self::Failed => "nothing: something failed",
        }
    }
}

/// One line of what is counted.
#[derive(Debug, Serialize, Deserialize)]
struct Counted {
    at: Timestamp,
    agent: String,
    said: Outcome,
    /// How long it took, in microseconds.
    took: u64,
}

/// Answers a hook. What goes wrong is counted and never told to the agent.
pub(crate) fn answer(asker: Asker, options: &Options, environment: Environment) -> Exit {
    let began = clock::steady();
    // Whatever holds this up - a slow disk, an input that does not end - the agent goes on.
    let patience = guard_patience().unwrap_or(PATIENCE_MS);
    if patience == 0 {
        return Exit::Fine;
    }
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(patience));
        std::process::exit(0);
    });
    let Ok(settings) = settings(options, environment) else { return Exit::Fine };
    let now = clock::now();
    let said = input_of(patience, &settings)
        .and_then(|input| said(asker, &settings, &input, || Machine::of_system(&settings, now)));
    let (said, text) = said.unwrap_or_else(|error| {
        tracing::debug!("guard: {error:#}");
        (Outcome::Failed, None)
    });
    if let Some(text) = text {
        let _ = print(&text);
    }
    if said != Outcome::OutOfScope {
        let took = u64::try_from(began.elapsed().as_micros()).unwrap_or(u64::MAX);
        let counted = Counted { at: now, agent: asker.name().to_owned(), said, took };
        if let Ok(line) = to_json::to_line(&counted) {
            let _ = ledger::count(&folder(&settings).join("said.jsonl"), &line);
        }
    }
    Exit::Fine
}

fn folder(settings: &Settings) -> PathBuf {
    settings.state.join("guard")
}

fn trees(settings: &Settings) -> PathBuf {
    folder(settings).join("trees")
}

type Said = (Outcome, Option<String>);

fn input_of(patience: u64, settings: &Settings) -> anyhow::Result<Vec<u8>> {
    if settings.effective.config.access == Access::ReadOnly {
        bail!("claimtop is read-only");
    }
    input::read_all(i64::try_from(patience)?)
}

/// Answers a hook's input; the machine is asked only where something is in its scope.
fn said(
    asker: Asker,
    settings: &Settings,
    input: &[u8],
    machine: impl FnOnce() -> anyhow::Result<Machine>,
) -> anyhow::Result<Said> {
    let hook = json::parse(input).map_err(|why| anyhow!("the hook's input is no JSON object: {why}"))?;
    let Some(question) = question(asker, &hook) else { return Ok((Outcome::OutOfScope, None)) };
    let asked = || Ok::<_, anyhow::Error>(Asked::new(settings, &question, machine()?));
    match &question.moment {
        Moment::Prompt => asked()?.brief(asker),
        Moment::Before(Touch::Files(files)) => asked()?.before_edit(asker, files),
        Moment::After(Touch::Files(files)) => asked()?.after_edit(asker, files),
        Moment::Before(Touch::Line(line)) => match git_calls(line, &question.cwd).as_slice() {
            [] => Ok((Outcome::OutOfScope, None)),
            calls => asked()?.before_git(asker, calls),
        },
        Moment::After(Touch::Line(line)) => match git_calls(line, &question.cwd).as_slice() {
            [] => Ok((Outcome::OutOfScope, None)),
            calls => asked()?.after_git(calls),
        },
    }
}

/// Who asks and when, as the system or a recording tells it.
struct Machine {
    now: Timestamp,
    /// The agent's process; a daemon serves several windows, so it is none.
    process: Option<ProcessId>,
    agent: Untrusted,
    /// The processes above the hook's.
    above: Vec<ProcessId>,
    here: Here,
}

impl Machine {
    fn of_system(settings: &Settings, now: Timestamp) -> anyhow::Result<Self> {
        let signatures = signatures(settings).map_err(|failure| anyhow!(failure.lines().join("; ")))?;
        let candidates = signatures.candidates();
        let pid = processes::own::own_pid();
        let table = processes::chain(pid, &candidates);
        let server = server_above(&table, &signatures, pid);
        Ok(Self {
            now,
            process: server.filter(|(_, _, role)| *role == Role::Agent).map(|(process, _, _)| process.id),
            agent: server.map_or_else(|| Untrusted::fixed(""), |(_, agent, _)| agent.into()),
            above: ancestry(&table, pid).into_iter().map(|process| process.id).collect(),
            here: Here {
                host: host::name().into(),
                boot_id: host::boot_id().map(Untrusted::from),
                pid_namespace: host::pid_namespace(),
                processes: Processes::System(candidates),
            },
        })
    }

    /// Returns when an edit was done that this is told of.
    fn by_now(&self) -> Timestamp {
        match self.here.processes {
            Processes::System(_) => clock::now(),
            Processes::Recorded(_) => self.now,
        }
    }
}

/// A question, and who asks.
struct Asked<'a> {
    settings: &'a Settings,
    question: &'a Question,
    now: Timestamp,
    machine: Machine,
    exempt: Exempt,
}

impl<'a> Asked<'a> {
    fn new(settings: &'a Settings, question: &'a Question, machine: Machine) -> Self {
        let exempt = Exempt { names: settings.effective.config.guard.exempt.clone() };
        Self { settings, question, now: machine.now, machine, exempt }
    }

    fn levels(&self, tree: &Tree) -> Levels {
        self.settings.effective.config.guard.levels(&tree.top)
    }

    fn read(&self, tree: &Tree, about: &About<'_>) -> Read {
        let own = Own {
            session: &self.question.session,
            process: self.machine.process,
            above: &self.machine.above,
        };
        let home = &self.settings.places.home;
        read(&trees(self.settings), tree, (&own, &self.machine.here), about, (self.now, home))
    }

    fn note_down(&self, tree: &Tree, lines: &[LedgerLine]) -> anyhow::Result<()> {
        let Machine { process, agent, above, here, .. } = &self.machine;
        let process = process.map(|id| (id, here.processes.pidfd_inode(id)));
        let Here { host, boot_id, pid_namespace, .. } = here;
        let top = tree.text().context("the working tree has a name that is no text")?;
        let mut holder = LedgerHolder::new(
            (self.question.session.clone(), agent.clone()),
            (top.into(), self.question.cwd.as_str().into()),
            process,
            (host.clone(), boot_id.clone(), *pid_namespace),
        );
        let own = above.iter().skip_while(|above| holder.process.is_some_and(|own| **above != own));
        holder.above = own.skip(1).take(MOST_ABOVE).copied().collect();
        Ok(ledger::add(&trees(self.settings), &holder, lines)?)
    }

    /// Tells what other living windows hold in the working tree, if that is new.
    fn brief(&self, asker: Asker) -> anyhow::Result<Said> {
        let tree = Tree::of(Path::new(&self.question.cwd)).context("no folder")?;
        if !self.levels(&tree).brief {
            return Ok((Outcome::OutOfScope, None));
        }
        let top = tree.text().context("no text")?;
        let found = self.read(&tree, &About::Matching(&|path| !self.is_exempt(path, &tree), Takes::All));
        if found.told.by_others_only {
            // The session goes on in this process: its edits are no longer a dead window's.
            self.note_down(&tree, &[])?;
        }
        let holdings = decide::held(&found.others, |other, _| other.life == Life::Alive);
        let digest = decide::digest_of(&holdings);
        let is_told = found.told.briefed.as_ref() == Some(&digest);
        if is_told || (holdings.is_empty() && found.told.briefed.is_none()) {
            return Ok((if is_told { Outcome::ToldBefore } else { Outcome::NobodyElse }, None));
        }
        let others = holdings.iter().map(|holding| holding.other.holder.session.clone()).collect();
        self.note_down(&tree, &[LedgerLine::Briefed(Briefed { digest, at: Some(self.now), others })])?;
        if holdings.is_empty() {
            return Ok((Outcome::NobodyElse, None));
        }
        let text = present::guard::brief(&holdings, top, self.now);
        Ok((Outcome::Briefed, note(asker, &self.question.moment, &text)))
    }

    /// Returns the files of a call by the working trees that they lie in.
    fn by_tree(&self, files: &[String]) -> Vec<(Tree, Vec<String>)> {
        let mut found: Vec<(Tree, Vec<String>)> = Vec::new();
        for file in files {
            let path = joined(&self.question.cwd, file).and_then(|path| resolved(&path));
            let folder = |path: &str| {
                let path = Path::new(path);
                if path.is_dir() { Some(path.to_path_buf()) } else { path.parent().map(Path::to_path_buf) }
            };
            let tree = path.as_deref().and_then(|path| Tree::of(&folder(path)?));
            let Some((path, tree)) = path.zip(tree) else { continue };
            match found.iter_mut().find(|(other, _)| *other == tree) {
                Some((_, paths)) => paths.push(path),
                None => found.push((tree, vec![path])),
            }
        }
        found
    }

    /// Returns whether nobody is warned of a path; a folder that lies in no repository counts by its own name too.
    fn is_exempt(&self, path: &str, tree: &Tree) -> bool {
        let folder = if tree.is_repository() { Some(tree.top.as_path()) } else { tree.top.parent() };
        folder.and_then(Path::to_str).is_some_and(|folder| self.exempt.has(path, folder))
    }

    /// Returns what others who may live hold of what is asked about, and have edited since oneself did: whoever did
    /// so before was told of then.
    fn news<'b>(&self, found: &'b Read, tree: &Tree) -> Vec<Holding<'b>> {
        let is_asked = |other: &Other, path: &str| {
            let edit = other.edits.iter().find(|edit| edit.path.raw() == path);
            let own = found.told.edited.get(path);
            let is_news = own.is_none_or(|own| edit.and_then(|edit| edit.at).is_some_and(|at| at > *own));
            other.life != Life::Dead && is_news && !self.is_exempt(path, tree)
        };
        decide::held(&found.others, is_asked)
    }

    /// Notes the files that are as the last commit has them, or gone: of others, and of these.
    fn ended(&self, tree: &Tree, found: &Read, also: &[String]) -> Vec<LedgerLine> {
        let mut lines = decide::settled(&found.others, self.now);
        lines.extend(settled(tree, also, (self.now, &self.settings.places.home)));
        let theirs = found.others.iter().flat_map(|other| &other.edits).map(|edit| edit.path.raw());
        let is_gone = |path: &&str| Path::new(path).symlink_metadata().is_err();
        let gone = theirs.chain(also.iter().map(String::as_str)).filter(is_gone);
        lines.extend(gone.map(|path| Touched { path: path.into(), at: self.now }));
        lines.into_iter().map(LedgerLine::Settled).collect()
    }

    fn met(&self, paths: &[String], holdings: &[Holding<'_>]) -> Vec<Met> {
        paths.iter().filter_map(|path| decide::met(&path.as_str().into(), holdings, self.now)).collect()
    }

    /// Writes down whom an edit will meet: afterwards nobody can tell their bytes from these.
    fn before_edit(&self, asker: Asker, files: &[String]) -> anyhow::Result<Said> {
        let mut is_met = false;
        for (tree, paths) in self.by_tree(files) {
            let top = tree.text().context("no text")?;
            let found = self.read(&tree, &About::Files(&paths));
            let is_held = |held: &str| paths.iter().any(|path| Path::new(path).starts_with(held));
            if let Some(said) = self.keep_off(asker, "this edit", (&tree, &found), is_held)? {
                return Ok(said);
            }
            let holdings = self.news(&found, &tree);
            let met = self.met(&paths, &holdings);
            let is_met_no_more = |path: &&String| {
                found.told.met.contains_key(*path) && met.iter().all(|met| met.path.raw() != *path)
            };
            // An edit that did not come to its end may have met somebody who has committed since.
            let nobody = |path: &String| Met { path: path.as_str().into(), others: Vec::new(), at: self.now };
            let mut lines: Vec<LedgerLine> =
                paths.iter().filter(is_met_no_more).map(|path| LedgerLine::Met(nobody(path))).collect();
            is_met |= !met.is_empty();
            lines.extend(met.into_iter().map(LedgerLine::Met));
            // After this edit nobody can tell any more that those before it had ended.
            lines.extend(self.ended(&tree, &found, &found.by_kin));
            let level = self.levels(&tree).edit;
            let recent: Vec<Holding<'_>> = decide::just_edited(&holdings, self.now);
            if level != HoldUps::Off && !recent.is_empty() {
                let why = present::guard::hold_up("this edit", &recent, top, self.now);
                let (said, text) = self.hold_up(asker, level, (&tree, &found.told), &recent, &why)?;
                if text.is_some() {
                    return Ok((said, text));
                }
            }
            if !lines.is_empty() {
                self.note_down(&tree, &lines)?;
            }
        }
        Ok((if is_met { Outcome::Recorded } else { Outcome::NobodyElse }, None))
    }

    /// Writes down what was edited, and tells whose uncommitted edits that met.
    fn after_edit(&self, asker: Asker, files: &[String]) -> anyhow::Result<Said> {
        let mut texts = Vec::new();
        for (tree, paths) in self.by_tree(files) {
            let top = tree.text().context("no text")?;
            let found = self.read(&tree, &About::Files(&paths));
            // The edit is done by now, whenever this was asked.
            let at = self.machine.by_now();
            let edited = |path: &String| LedgerLine::Edited(Touched { path: path.as_str().into(), at });
            // What went back to the last commit is nobody's; the next edit would hide that.
            let is_known = |path: &&String| {
                let mut theirs = found.others.iter().flat_map(|other| &other.edits);
                found.told.edited.contains_key(*path) || theirs.any(|edit| edit.path.raw() == *path)
            };
            let known: Vec<String> = paths.iter().filter(is_known).cloned().collect();
            let ended = settled(&tree, &known, (at, &self.settings.places.home));
            // Somebody may have edited it while a person was asked.
            let since = self.met(&paths, &self.news(&found, &tree));
            let since = |path: &String| since.iter().find(|met| met.path.raw() == path).cloned();
            let before =
                |path: &String| found.told.met.get(path).filter(|met| !met.others.is_empty()).cloned();
            let met = paths.iter().filter_map(|path| before(path).or_else(|| since(path)));
            let met: Vec<Met> = met.filter(|_| self.levels(&tree).note).collect();
            let mut lines: Vec<LedgerLine> = paths.iter().map(edited).collect();
            lines.extend(ended.into_iter().map(LedgerLine::Settled));
            lines.extend(met.iter().map(|met| LedgerLine::Noted(Met { at, ..met.clone() })));
            self.note_down(&tree, &lines)?;
            if !met.is_empty() {
                texts.push(present::guard::note(&met, &found.others, top, self.now));
            }
        }
        match texts.is_empty() {
            true => Ok((Outcome::Recorded, None)),
            false => Ok((Outcome::Noted, note(asker, &self.question.moment, &texts.join("\n")))),
        }
    }

    /// Returns whether a call that was held up stands in the same answer of the model as this one, which has
    /// then not heard of it.
    fn is_twin(&self, past: &HeldUp) -> bool {
        let by_transcript = || {
            let (one, other) = past.call.as_ref().zip(self.question.call.as_ref())?;
            let end = end_of(Path::new(self.question.transcript.as_ref()?), TRANSCRIPT_END)?;
            is_same_answer(&end, one.raw(), other.raw())
        };
        by_transcript().unwrap_or_else(|| self.now.duration_since(past.at) < AT_ONCE)
    }

    /// Holds up, once, what reaches into others' uncommitted edits.
    fn before_git(&self, asker: Asker, calls: &[GitCall]) -> anyhow::Result<Said> {
        for call in calls {
            let tree = Tree::of(Path::new(&call.folder)).filter(Tree::is_repository);
            let Some(tree) = tree else { continue };
            let level = self.levels(&tree).git;
            if level == HoldUps::Off {
                continue;
            }
            let top = tree.text().context("no text")?;
            let reach = Reached::of(call);
            let is_asked = |path: &str| reach.has(path) && !self.exempt.has(path, top);
            let found = self.read(&tree, &About::Matching(&is_asked, call.takes));
            let holdings = decide::held(&found.others, |_, _| true);
            if holdings.is_empty() {
                continue;
            }
            let name = format!("`git {}`", call.verb);
            if self.levels(&tree).held == Held::Deny {
                let edits = || holdings.iter().flat_map(|holding| &holding.edits);
                let is_held = |held: &str| edits().any(|edit| Path::new(edit.path.raw()).starts_with(held));
                if let Some(said) = self.keep_off(asker, &name, (&tree, &found), is_held)? {
                    return Ok(said);
                }
            }
            let why = present::guard::hold_up(&name, &holdings, top, self.now);
            return self.hold_up(asker, level, (&tree, &found.told), &holdings, &why);
        }
        Ok((Outcome::NobodyElse, None))
    }

    /// Writes down which edits a call of git has brought to their end: whoever edits these files next hides that.
    fn after_git(&self, calls: &[GitCall]) -> anyhow::Result<Said> {
        for call in calls {
            let Some(tree) = Tree::of(Path::new(&call.folder)).filter(Tree::is_repository) else { continue };
            let reach = Reached::of(call);
            let found = self.read(&tree, &About::Matching(&|path| reach.has(path), Takes::All));
            let own: Vec<String> = found.by_kin.iter().chain(&found.by_oneself).cloned().collect();
            let lines = self.ended(&tree, &found, &own);
            if !lines.is_empty() {
                self.note_down(&tree, &lines)?;
            }
        }
        Ok((Outcome::Recorded, None))
    }

    /// Refuses what would reach what a living window holds for itself.
    fn keep_off(
        &self,
        asker: Asker,
        call: &str,
        (tree, found): (&Tree, &Read),
        is_asked: impl Fn(&str) -> bool,
    ) -> anyhow::Result<Option<Said>> {
        let level = self.levels(tree).held;
        let wanted = decide::wanted(&found.others, is_asked).filter(|_| level != Held::Off);
        let Some((other, held)) = wanted else { return Ok(None) };
        let top = tree.text().context("no text")?;
        let is_final = level == Held::Deny;
        let why = present::guard::keep_off(call, (other, held), is_final, top, self.now);
        if is_final {
            return Ok(Some((Outcome::Denied, Some(refusal(asker, &why)))));
        }
        let holding = [Holding { other, edits: Vec::new() }];
        let said = self.hold_up(asker, HoldUps::HoldUp, (tree, &found.told), &holding, &why)?;
        Ok(said.1.is_some().then_some(said))
    }

    /// Refuses a call, or has the person asked, unless the like was held up before.
    fn hold_up(
        &self,
        asker: Asker,
        level: HoldUps,
        (tree, told): (&Tree, &Told),
        holdings: &[Holding<'_>],
        why: &str,
    ) -> anyhow::Result<Said> {
        let held_up = decide::hold_up(holdings, self.now, self.question.call.clone());
        if decide::is_override(&held_up, &told.held_up, |past| self.is_twin(past)) {
            self.note_down(tree, &[LedgerLine::Overrode(held_up)])?;
            return Ok((Outcome::Overridden, None));
        }
        self.note_down(tree, &[LedgerLine::HeldUp(held_up)])?;
        // Others fail at the word or take it for a refusal; and Claude Code hides the reason at a file.
        let is_shown =
            asker == Asker::Claude && matches!(self.question.moment, Moment::Before(Touch::Line(_)));
        Ok(match level {
            HoldUps::Ask if is_shown => (Outcome::Asked, Some(question_to_person(why))),
            HoldUps::Ask | HoldUps::HoldUp | HoldUps::Off => (Outcome::HeldUp, Some(refusal(asker, why))),
        })
    }
}

/// What a call of git reaches, by what is there now.
enum Reached {
    Tree,
    /// These paths, without links, and what lies below them.
    Paths(Vec<String>),
}

impl Reached {
    fn of(call: &GitCall) -> Self {
        let is_there = |path: &String| Path::new(path).symlink_metadata().is_ok();
        match &call.reach {
            Reach::Tree => Self::Tree,
            Reach::PathsOrTree(paths) if !paths.iter().all(is_there) => Self::Tree,
            Reach::Paths(paths) | Reach::PathsOrTree(paths) => {
                Self::Paths(paths.iter().filter_map(|path| resolved(path)).collect())
            }
        }
    }

    fn has(&self, path: &str) -> bool {
        match self {
            Self::Tree => true,
            Self::Paths(paths) => paths.iter().any(|asked| Path::new(path).starts_with(asked)),
        }
    }
}
