//! The guard: what a window is notified of, held up for or refused, around a prompt, an edit and a shell line.
//!
//! It reads and writes ledgers and nothing else. `core::guard` decides; who asks, how long the answer may take and how it
//! is printed are the caller's.

mod around;
pub(crate) mod edits;
mod foresight;
pub(crate) mod keep;
pub(crate) mod lines;
mod loss;
pub(crate) mod machine;
pub(crate) mod outcome;
pub(crate) mod query;
pub(crate) mod scope;
mod stash;

use std::path::Path;

use anyhow::{Context, anyhow};
use jiff::Timestamp;

use self::around::trees_around;
use self::machine::Machine;
use self::outcome::{GuardOutcome, GuardResponse, HookAnswer};
use self::query::Query;
use self::scope::Scope;
use crate::core::guard::call::TreeCall;
use crate::core::guard::files::file_calls;
use crate::core::guard::git::git_calls_with;
use crate::core::guard::git::reach::Reach;
use crate::core::guard::git::stash::{StashCall, stash_calls};
use crate::core::guard::shell::ShellContext;
use crate::core::model::snapshot::ledger::folder_name;
use crate::format::hook::guard::{Asker, Moment, Touch, note, question};
use crate::format::reading::json;
use crate::source::own::ledger::Tree;
use crate::source::repos::settings::GitSettings;

/// Answers a hook's input; the machine is only asked if something is in the guard's scope.
///
/// # Errors
/// The input is not a JSON object, or a ledger cannot be read or written.
pub(crate) fn respond(
    asker: Asker,
    scope: &Scope,
    input: &[u8],
    now: Timestamp,
    machine: impl FnOnce() -> anyhow::Result<Machine>,
) -> anyhow::Result<HookAnswer> {
    let hook = json::parse(input).map_err(|why| anyhow!("the hook's input is not a JSON object: {why}"))?;
    let Some(question) = question(asker, &hook) else { return Ok(HookAnswer::OUT_OF_SCOPE) };
    let line = match &question.moment {
        Moment::Before(Touch::Line(line)) | Moment::After(Touch::Line(line)) => Some(line.as_str()),
        Moment::Prompt | Moment::Before(Touch::Files(_)) | Moment::After(Touch::Files(_)) => None,
    };
    if line.is_some() && scope.is_git_elsewhere {
        return Ok(HookAnswer::OUT_OF_SCOPE);
    }
    let calls = line.map_or_else(Vec::new, |line| calls_of(line, &question.cwd, scope));
    let around = line.map_or_else(Vec::new, |line| trees_around(scope, &question, line, now));
    let stash = line.map_or_else(Vec::new, |line| stash_of(line, &question.cwd, scope));
    if line.is_some() && calls.is_empty() && around.is_empty() && stash.is_empty() {
        return Ok(HookAnswer::OUT_OF_SCOPE);
    }
    let query = Query::new(scope, &question, machine()?);
    let mut gone = None;
    let said = match &question.moment {
        Moment::Prompt => {
            let tree = Tree::find(Path::new(&question.cwd)).context("no folder")?;
            gone = query.unheard_losses(&tree)?;
            query.brief(&tree)
        }
        Moment::Before(Touch::Files(files)) => query.before_edit(asker, files),
        Moment::After(Touch::Files(files)) => {
            let trees = query.by_tree(files);
            let said = query.after_edit(files);
            let heard: Vec<Option<String>> =
                trees.iter().map(|(tree, _)| query.unheard_losses(tree)).collect::<anyhow::Result<_>>()?;
            let heard: Vec<String> = heard.into_iter().flatten().collect();
            gone = (!heard.is_empty()).then(|| heard.join("\n"));
            said
        }
        Moment::Before(Touch::Line(_)) => {
            query.keep_others(&around)?;
            query.before_line(asker, &calls, &stash)
        }
        Moment::After(Touch::Line(line)) => {
            // What is written down as over is not looked at any more.
            gone = query.after_line(line, &around)?;
            let taken = query.after_stash(&stash)?;
            gone = gone.into_iter().chain(taken).reduce(|one, other| format!("{one}\n{other}"));
            query.after_git(&calls)
        }
    }?;
    Ok(query.answer(asker, gone, said))
}

impl Query<'_> {
    /// Holds up, once, what takes others' entries of the stash, or reaches into their uncommitted edits.
    fn before_line(
        &self,
        asker: Asker,
        calls: &[TreeCall],
        stash: &[StashCall],
    ) -> anyhow::Result<GuardResponse> {
        let stashes = self.stashes(stash);
        let taking = self.before_stash(asker, &stashes)?;
        if taking.1.is_some() {
            return Ok(taking);
        }
        let reaching = self.before_git(asker, calls)?;
        if reaching.1.is_none() {
            self.begin_stash(&stashes)?;
        }
        // What went through when it was asked again is counted.
        Ok(if taking.0 == GuardOutcome::Overridden && reaching.1.is_none() { taking } else { reaching })
    }

    /// Gives the model what is gone, and what else there is to say, in its agent's form.
    fn answer(&self, asker: Asker, gone: Option<String>, (outcome, text): GuardResponse) -> HookAnswer {
        let printed = |text: Option<String>| match &self.question.moment {
            // What refuses a call has its form already.
            Moment::Before(_) => text,
            moment @ (Moment::Prompt | Moment::After(_)) => text.and_then(|text| note(asker, moment, &text)),
        };
        let but_losses = (outcome, printed(text.clone()));
        let keep_failed = self.keep_failed.get();
        let Some(gone) = gone else {
            return HookAnswer { outcome, text: but_losses.1.clone(), keep_failed, but_losses };
        };
        let texts: Vec<String> = [gone].into_iter().chain(text).collect();
        let text = printed(Some(texts.join("\n")));
        HookAnswer { outcome: GuardOutcome::LostNoted, text, keep_failed, but_losses }
    }
}

/// Returns what the calls of git in a line do to the stash.
fn stash_of(line: &str, folder: &str, scope: &Scope) -> Vec<StashCall> {
    stash_calls(line, &ShellContext { folder, home: scope.home.to_str(), top_of: &top_of })
}

fn top_of(folder: &str) -> Option<String> {
    let tree = Tree::find(Path::new(folder)).filter(Tree::is_repository)?;
    tree.text().map(str::to_owned)
}

/// Returns the calls in a line that reach into what others have not committed.
fn calls_of(line: &str, folder: &str, scope: &Scope) -> Vec<TreeCall> {
    let place = ShellContext { folder, home: scope.home.to_str(), top_of: &top_of };
    let settings = std::cell::OnceCell::new();
    let alias = |verb: &str| {
        let settings = settings.get_or_init(|| {
            let tree = Tree::find(Path::new(folder))?;
            Some(GitSettings::read(tree.common_dir()?, &scope.home, &[]))
        });
        settings.as_ref()?.value(&format!("alias.{}", verb.to_ascii_lowercase())).map(str::to_owned)
    };
    let mut calls = git_calls_with(line, &place, &alias);
    calls.extend(file_calls(line, &place).iter().flat_map(|call| by_tree(call, scope)));
    calls
}

/// Returns the parts of a call of a program in the working trees where windows have been guarded: most files that a line
/// writes lie elsewhere.
fn by_tree(call: &TreeCall, scope: &Scope) -> Vec<TreeCall> {
    let (Reach::Paths(paths) | Reach::Files(paths)) = &call.reach else { return Vec::new() };
    let mut parts: Vec<(String, Vec<String>)> = Vec::new();
    for path in paths {
        // A folder that is removed may be a working tree itself, or have others in it.
        let place = Path::new(path);
        let is_folder = matches!(call.reach, Reach::Paths(_)) && place.is_dir();
        let folder = if is_folder { Some(place) } else { place.parent() };
        let Some(tree) = folder.and_then(Tree::find).filter(Tree::is_repository) else { continue };
        let Some(top) = tree.text().filter(|top| is_folder || scope.ledgers.join(folder_name(top)).is_dir())
        else {
            continue;
        };
        match parts.iter_mut().find(|(known, _)| known == top) {
            Some((_, paths)) => paths.push(path.clone()),
            None => parts.push((top.to_owned(), vec![path.clone()])),
        }
    }
    let is_of_paths = matches!(call.reach, Reach::Paths(_));
    let reach = |paths| if is_of_paths { Reach::Paths(paths) } else { Reach::Files(paths) };
    parts
        .into_iter()
        .map(|(folder, paths)| TreeCall { folder, reach: reach(paths), ..call.clone() })
        .collect()
}
