//! What a window does and what it waits for, in a few words.

use std::path::Path;

use crate::core::model::{
    Call, ContextFill, Format, Target, TurnState, Untrusted, Waiting, Wants, WindowView, Work,
};
use crate::present::need::stuck::describe;
use crate::present::text::safe;

/// Whether prompts are shown, which are their user's secrets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prompts {
    /// On a person's own screen.
    Shown,
    /// Where others may read it.
    Hidden,
}

/// Says what a window does: what it waits for, its newest tool call, or what it was asked.
pub(crate) fn of_window(window: &WindowView, prompts: Prompts) -> String {
    if let Some(stuck) = &window.stuck {
        return describe(stuck).sentence();
    }
    match (&window.waiting, &window.work) {
        (Some(waiting), _) => question(waiting, folder(window)),
        (None, Some(work)) => of_work(window, work, prompts),
        (None, None) => unseen(window),
    }
}

/// Says why nothing is seen of what a window does, where that is known.
pub(crate) fn unseen(window: &WindowView) -> String {
    if window.is_new {
        return "new, perhaps at its first question".to_owned();
    }
    match (&window.unread, window.may_run.len()) {
        (Some(file), _) => format!("not known: its session file {}", file.why.label()),
        (None, 0) if Format::of_agent(window.agent.raw()).is_none() => {
            "what it does is not readable".to_owned()
        }
        (None, 0) => String::new(),
        (None, 1) => "not known: it or another window here runs the only session".to_owned(),
        (None, many) => format!("not known: it may run any of {many} sessions here"),
    }
}

/// Returns the folder that a window's paths are relative to: its working tree, else where it works.
pub(crate) fn folder(window: &WindowView) -> Option<&Path> {
    let tree = window.repo.as_ref().map(|repo| &repo.worktree);
    let cwd = window.work.as_ref().and_then(|work| work.doing.cwd.as_ref()).or(window.cwd.as_ref());
    tree.or(cwd).map(|folder| Path::new(folder.raw()))
}

/// Says what a window's session does, whatever it waits for.
pub(crate) fn of_work(window: &WindowView, work: &Work, prompts: Prompts) -> String {
    let folder = folder(window);
    let agents = match work.agents.len() {
        0 => String::new(),
        1 => " · 1 sub-agent".to_owned(),
        many => format!(" · {many} sub-agents"),
    };
    let doing = &work.doing;
    let prompt = doing.prompt.as_ref().filter(|_| prompts == Prompts::Shown).map(|prompt| &prompt.text);
    let asked = prompt.or(doing.title.as_ref());
    let asked = |verb: &str| asked.map_or(verb.to_owned(), |text| format!("{verb}: {}", safe(text.raw())));
    let words = match (doing.calls.last(), doing.turn.state) {
        (Some(call), _) => self::call(call, folder),
        (None, TurnState::Working) => asked("works"),
        (None, TurnState::Finished) => asked("done"),
        (None, TurnState::Interrupted) => asked("interrupted"),
        (None, TurnState::Failed) => match &doing.error {
            Some(error) => format!("error: {}", safe(error.raw())),
            None => asked("ended by an error"),
        },
        (None, TurnState::CutOff) => asked("cut off"),
        (None, TurnState::Unknown) => String::new(),
    };
    words + &agents
}

/// Says what a tool call does.
pub(crate) fn call(call: &Call, folder: Option<&Path>) -> String {
    let tool = safe(call.tool.raw());
    match &call.target {
        None => tool,
        Some(Target::Command(command)) => format!("$ {}", safe(command.raw())),
        Some(Target::File(path)) => format!("{tool} {}", short(path, folder)),
        Some(Target::Question(text)) => safe(text.raw()),
        Some(target) => format!("{tool} {}", safe(target.text().raw())),
    }
}

/// Says what a window asks, as a question if that is known.
pub(crate) fn question(waiting: &Waiting, folder: Option<&Path>) -> String {
    let Some(call) = &waiting.call else {
        return match &waiting.wants {
            Wants::Permission => "for permission".to_owned(),
            Wants::Answer => "a question".to_owned(),
            Wants::Other(what) => safe(what.raw()),
        };
    };
    match (&waiting.wants, &call.target) {
        (_, Some(Target::Question(text))) => safe(text.raw()),
        (Wants::Permission, Some(Target::Command(command))) => {
            format!("may it run `{}`?", safe(command.raw()))
        }
        (Wants::Permission, Some(Target::File(path))) => {
            format!("may it {} {}?", verb(call), short(path, folder))
        }
        (Wants::Permission, Some(Target::Url(url))) => format!("may it fetch {}?", safe(url.raw())),
        (Wants::Permission, _) => format!("may it use {}?", safe(call.tool.raw())),
        (Wants::Answer, _) => "a question".to_owned(),
        (Wants::Other(what), _) => safe(what.raw()),
    }
}

/// Returns what a tool does with a file.
fn verb(call: &Call) -> &'static str {
    let tool = call.tool.raw().to_ascii_lowercase();
    if tool.contains("read") || tool.contains("view") { "read" } else { "edit" }
}

/// Returns a path from a folder on, where it lies below it.
pub(crate) fn short(path: &Untrusted, folder: Option<&Path>) -> String {
    let below = folder.and_then(|folder| Path::new(path.raw()).strip_prefix(folder).ok());
    safe(below.and_then(Path::to_str).filter(|below| !below.is_empty()).unwrap_or(path.raw()))
}

/// Says how full a context is: in percent where its size is known, else in tokens.
pub(crate) fn fill(context: ContextFill) -> String {
    match (context.percent(), context.tokens) {
        (Some(percent), _) => format!("{percent}%"),
        (None, tokens @ 0..1_000) => tokens.to_string(),
        (None, tokens) => format!("{}k", tokens / 1_000),
    }
}
