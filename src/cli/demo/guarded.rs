//! `demo --guard`: two windows that the guard keeps out of each other's way, played with real processes.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;

use anyhow::Context;
use serde_json::{Value, json};

use super::cast::Cast;
use super::hook::Hook;
use super::stage::{Stage, make, write};
use crate::source::os::clock;

/// The windows, as the story calls them: who edits first, and who comes into its way.
const FIRST: (u32, &str, &str) = (4101, "cart", "1d3c0a52-6f0e-4b7e-9a53-0f2d8a6c1101");
const SECOND: (u32, &str, &str) = (4102, "checkout", "2e4d1b63-7a1f-4c8f-8b64-1a3e9b7d2102");

/// How long the guard of the demo may take, in milliseconds: a demo is no agent that waits.
const PATIENCE_MS: &str = "5000";

/// Plays it, and prints each step with the guard's answer.
///
/// # Errors
/// A window does not answer, or a file cannot be written.
pub(super) fn play(stage: &Stage, cast: &mut Cast) -> anyhow::Result<String> {
    let mut windows = Windows { stage, cast };
    let file = stage.place("/home/dev/shop/src/pay.rs");
    make(file.parent().context("it lies in a folder")?)?;
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": file}});
    let bash = |line: &str, call: &str| json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": call});
    let add = |call: &str| bash("git add -A", call);
    let mut text = String::from("Two windows work in one folder, and both have claimtop's guard.\n");
    let mut tell = |(_, name, _): (u32, &str, &str), did: &str, said: Option<String>| {
        let said = said.map_or_else(|| "  (the guard says nothing)".to_owned(), |said| quoted(&said));
        writeln!(text, "\n{name} {did}\n{said}")
    };
    let stash = bash("git stash", "toolu_0");
    let before = windows.ask(FIRST, "PreToolUse", &stash)?;
    make_stash_entry(stage)?;
    tell(FIRST, "calls `git stash`:", before.or(windows.ask(FIRST, "PostToolUse", &stash)?))?;
    let before = windows.ask(FIRST, "PreToolUse", &edit)?;
    write(&file, "fn pay() { card() }\n")?;
    tell(FIRST, "edits src/pay.rs:", before.or(windows.ask(FIRST, "PostToolUse", &edit)?))?;
    let brief = windows.ask(SECOND, "UserPromptSubmit", &json!({"prompt": "Try the other till"}))?;
    tell(SECOND, "is given a prompt; before its first call its model reads:", brief)?;
    let held_up = windows.ask(SECOND, "PreToolUse", &add("toolu_1"))?;
    tell(SECOND, "calls `git add -A`, which is refused once:", held_up)?;
    let again = windows.ask(SECOND, "PreToolUse", &add("toolu_2"))?;
    tell(SECOND, "repeats the call, so it is intentional:", again)?;
    windows.ask(SECOND, "PreToolUse", &edit)?;
    OpenOptions::new().append(true).open(&file)?.write_all(b"fn refund() {}\n")?;
    let note = windows.ask(SECOND, "PostToolUse", &edit)?;
    tell(SECOND, "edits src/pay.rs anyway; with the result its model reads:", note)?;
    let popped = windows.ask(SECOND, "PreToolUse", &bash("git stash pop", "toolu_3"))?;
    tell(SECOND, "calls `git stash pop`, which would take what cart stashed:", popped)?;
    text.push_str("\nWhat the pane shows:\n\n");
    Ok(text)
}

/// Writes what git does of a new stash entry where the guard looks: the demo needs no git.
fn make_stash_entry(stage: &Stage) -> anyhow::Result<()> {
    let (git, commit) = (stage.place("/home/dev/shop/.git"), "5ca1ab1e".repeat(5));
    let now = clock::now().as_second();
    let line = format!("{} {commit} dev <dev@x> {now} +0000\tWIP on main: 0123abc cart\n", "0".repeat(40));
    write(&git.join("refs/stash"), &format!("{commit}\n"))?;
    write(&git.join("logs/refs/stash"), &line)?;
    Ok(())
}

/// Indents a text, broken into lines that fit a small screen.
fn quoted(text: &str) -> String {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() && line.chars().count() + word.chars().count() > WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(if line.is_empty() { "  " } else { " " });
        line.push_str(word);
    }
    lines.push(line);
    lines.join("\n")
}

/// The width of a text, in characters.
const WIDTH: usize = 76;

/// The windows and where they live.
struct Windows<'a> {
    stage: &'a Stage,
    cast: &'a mut Cast,
}

impl Windows<'_> {
    /// Has a window run its hook, and returns what that gives the model to read.
    fn ask(
        &mut self,
        (role, _, session): (u32, &str, &str),
        event: &str,
        more: &Value,
    ) -> anyhow::Result<Option<String>> {
        let home = self.stage.home();
        let mut input = json!({
            "session_id": session, "cwd": self.stage.place("/home/dev/shop"), "hook_event_name": event,
            "transcript_path": home.join(format!(".claude/projects/demo/{session}.jsonl")),
        });
        let more = more.as_object().cloned().unwrap_or_default();
        input.as_object_mut().context("it is an object")?.extend(more);
        let variables =
            [("HOME", home.to_string_lossy().into_owned()), ("CLAIMTOP_GUARD_MS", PATIENCE_MS.to_owned())];
        let hook = Hook {
            claimtop: std::env::current_exe()?,
            env: variables.map(|(name, value)| (name.to_owned(), value)).into(),
            input: input.to_string(),
        };
        let output: String = serde_json::from_str(&self.cast.run(role, &hook)?)?;
        if output.is_empty() {
            return Ok(None);
        }
        let output: Value = serde_json::from_str(&output).context("the guard's answer is not JSON")?;
        let of = |name| output.get("hookSpecificOutput")?.get(name);
        let text = of("additionalContext").or_else(|| of("permissionDecisionReason"));
        Ok(text.and_then(Value::as_str).map(str::to_owned))
    }
}
