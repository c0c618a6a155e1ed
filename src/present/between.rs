//! What is between two windows, in a few words: who, what, and how one of them gets out of it.

use std::collections::BTreeSet;

use crate::core::model::{Code, Key, NeedKind, Report, Sentence, Untrusted, WindowView};
use crate::present::lookup::{window_and_pid, window_name};
use crate::present::text::{count, file_name, safe};

/// A collision in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Words {
    /// Who, each by its name.
    pub(crate) who: Vec<String>,
    /// What.
    pub(crate) what: String,
    /// The way out.
    pub(crate) way: String,
}

/// Says what is between windows; nothing of another need.
pub(crate) fn words(report: &Report, kind: &NeedKind) -> Option<Words> {
    let NeedKind::Collision { code, message, windows, also, files, subjects: _ } = kind else { return None };
    let who = names(report, windows);
    let codes: BTreeSet<&Code> = std::iter::once(code).chain(also).collect();
    let what = match who.len() {
        0 => told(message),
        1 => alone(*code, message),
        _ => codes.into_iter().map(|code| shared(*code, files)).collect::<Vec<_>>().join(", "),
    };
    let last = who.last().cloned().unwrap_or_default();
    Some(Words { way: way(*code, &last), who, what })
}

/// Names windows so that they can be told apart.
fn names(report: &Report, keys: &[Key]) -> Vec<String> {
    let window = |key: &Key| report.windows.iter().find(|window| window.key == *key);
    let windows: Vec<&WindowView> = keys.iter().filter_map(window).collect();
    let names: Vec<String> = windows.iter().map(|window| window_name(window)).collect();
    let is_alone = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    if names.iter().all(is_alone) { names } else { windows.into_iter().map(window_and_pid).collect() }
}

/// Says what windows share.
fn shared(code: Code, files: &[Untrusted]) -> String {
    let of_files = || match files {
        [] => "the same files".to_owned(),
        [file] => safe(file_name(file.raw())),
        more => count(more.len(), "file"),
    };
    match code {
        Code::SharedSessionId => "one session".to_owned(),
        Code::SharedContextId => "one context ID".to_owned(),
        Code::SharedTerminalId => "one terminal ID".to_owned(),
        Code::OverwrittenRecord => "one session slot".to_owned(),
        Code::SameWorktree => "one tree".to_owned(),
        Code::SameFolder => "one folder".to_owned(),
        Code::OverlappingFiles => of_files(),
        Code::ContestedClaim => "one claim".to_owned(),
        other => other.name().replace('-', " "),
    }
}

/// Says what is wrong with one window.
fn alone(code: Code, message: &Sentence) -> String {
    match code {
        Code::InheritedRecord => "has a dead window's identity".to_owned(),
        Code::UnstableContextId => "another context ID at every call".to_owned(),
        Code::IdentitySplit => "its registry and another record name two sessions".to_owned(),
        Code::ContestedClaim => "a claim that another holds too".to_owned(),
        _ => told(message),
    }
}

fn told(message: &Sentence) -> String {
    safe(&message.brief())
}

/// Says in a few words how a window gets out of it; the story tells it in whole.
fn way(code: Code, last: &str) -> String {
    match code {
        Code::SharedSessionId => format!("close {last}"),
        Code::SharedContextId => "unset CLAUDE_SESSION_ID in one".to_owned(),
        Code::SharedTerminalId => "park the one that is over".to_owned(),
        Code::InheritedRecord => "park its record".to_owned(),
        Code::OverwrittenRecord => "a worktree for each".to_owned(),
        Code::UnstableContextId => "let its hook ask claimtop context-id".to_owned(),
        Code::SameWorktree => format!("git worktree add for {last}"),
        Code::SameFolder => format!("a folder of its own for {last}"),
        Code::OverlappingFiles if last.is_empty() => "commit one before the other goes on".to_owned(),
        Code::OverlappingFiles => format!("let {last} pause"),
        Code::ContestedClaim if last.is_empty() => "let one release it".to_owned(),
        Code::ContestedClaim => format!("let {last} release it"),
        Code::IdentitySplit => "trust its registry".to_owned(),
        _ => String::new(),
    }
}
