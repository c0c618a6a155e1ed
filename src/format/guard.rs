//! What an agent's hook is told of a tool's call, and in which form it is answered.
//!
//! Measured with Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0 and Qwen Code 0.15.10: a text that is given
//! before a call reaches the model after it or never; one at a prompt or after a call reaches all four; before
//! a call only a refusal acts in all. Codex runs the tool when its answer has a key that it does not know.

use serde_json::{Value, json};

use crate::core::model::Untrusted;
use crate::core::model::context::is_valid_id;
use crate::format::codex::files_of;
use crate::format::json::Object;

/// An agent that asks a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Claude,
    Codex,
    Gemini,
    Qwen,
}

impl Asker {
    pub(crate) const ALL: [Self; 4] = [Self::Claude, Self::Codex, Self::Gemini, Self::Qwen];

    /// Returns the name that `--for` takes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// What is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) session: Untrusted,
    /// The folder in which the session works, absolute.
    pub(crate) cwd: String,
    /// The agent's name for the call, where it has one.
    pub(crate) call: Option<Untrusted>,
    pub(crate) transcript: Option<String>,
    pub(crate) moment: Moment,
}

/// When it is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A person has asked for something.
    Prompt,
    /// A tool is about to be called.
    Before(Touch),
    /// It was.
    After(Touch),
}

/// What a tool's call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// These files, as the agent names them.
    Files(Vec<String>),
    /// Whatever this shell line does.
    Line(String),
}

/// Reads a hook's input; `None` for what a guard has nothing to say to.
pub(crate) fn question(asker: Asker, hook: &Object<'_>) -> Option<Question> {
    let session = hook.text("session_id").filter(|id| is_valid_id(id.raw()))?;
    let cwd = hook.str("cwd").filter(|cwd| cwd.starts_with('/'))?.to_owned();
    let moment = match hook.str("hook_event_name")? {
        "UserPromptSubmit" | "BeforeAgent" => Moment::Prompt,
        "PreToolUse" | "BeforeTool" => Moment::Before(touch(asker, hook)?),
        "PostToolUse" | "AfterTool" => Moment::After(touch(asker, hook)?),
        _ => return None,
    };
    let transcript = hook.str("transcript_path").map(str::to_owned);
    Some(Question { session, cwd, call: hook.text("tool_use_id"), transcript, moment })
}

fn touch(asker: Asker, hook: &Object<'_>) -> Option<Touch> {
    let input = hook.object("tool_input")?;
    let file = |name: &str| Some(Touch::Files(vec![input.str(name)?.to_owned()]));
    let line =
        || input.str("command").map(|line| patched(line).unwrap_or_else(|| Touch::Line(line.to_owned())));
    match (asker, hook.str("tool_name")?) {
        (Asker::Claude, "Write" | "Edit" | "MultiEdit") => file("file_path"),
        (Asker::Claude, "NotebookEdit") => file("notebook_path"),
        (Asker::Codex, "apply_patch") => {
            Some(Touch::Files(files_of(input.str("command")?).map(str::to_owned).collect()))
        }
        (Asker::Claude | Asker::Codex, "Bash") => line(),
        (Asker::Gemini, "write_file" | "replace") | (Asker::Qwen, "write_file" | "edit") => file("file_path"),
        (Asker::Gemini | Asker::Qwen, "run_shell_command") => line(),
        _ => None,
    }
}

/// Reads a patch that is applied by a shell line.
fn patched(line: &str) -> Option<Touch> {
    let is_patch = line.trim_start().starts_with("apply_patch") && line.contains("*** Begin Patch");
    is_patch.then(|| Touch::Files(files_of(line).map(str::to_owned).collect()))
}

/// Gives the model a text to read; at a moment at which none reaches it, nothing.
pub(crate) fn note(asker: Asker, moment: &Moment, text: &str) -> Option<String> {
    let event = match (asker, moment) {
        (Asker::Gemini, Moment::Prompt) => "BeforeAgent",
        (Asker::Gemini, Moment::After(_)) => "AfterTool",
        (Asker::Claude | Asker::Codex | Asker::Qwen, Moment::Prompt) => "UserPromptSubmit",
        (Asker::Claude | Asker::Codex | Asker::Qwen, Moment::After(_)) => "PostToolUse",
        (_, Moment::Before(_)) => return None,
    };
    Some(answer(&json!({ "hookEventName": event, "additionalContext": text })))
}

/// Refuses a call, for this reason.
pub(crate) fn refusal(asker: Asker, reason: &str) -> String {
    match asker {
        Asker::Gemini => json!({ "decision": "deny", "reason": reason }).to_string(),
        Asker::Claude | Asker::Codex | Asker::Qwen => answer(&json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        })),
    }
}

/// Has the person asked whether a shell line may run, as only Claude Code can; the dialog shows the reason.
pub(crate) fn question_to_person(reason: &str) -> String {
    answer(&json!({
        "hookEventName": "PreToolUse",
        "permissionDecision": "ask",
        "permissionDecisionReason": reason,
    }))
}

fn answer(specific: &Value) -> String {
    json!({ "hookSpecificOutput": specific }).to_string()
}

/// Returns whether two calls stand in one answer of the model, by a transcript of Claude Code; `None` where it does
/// not have both.
pub(crate) fn is_same_answer(transcript: &str, one: &str, other: &str) -> Option<bool> {
    let answer_with = |call: &str| {
        let of_line = |line: &str| {
            let line = crate::format::json::parse(line.as_bytes()).ok()?;
            let message = line.object("message").filter(|_| line.str("type") == Some("assistant"))?;
            message.str("id").map(str::to_owned)
        };
        let quoted = Value::from(call).to_string();
        transcript.lines().rev().filter(|line| line.contains(&quoted)).find_map(of_line)
    };
    Some(answer_with(one)? == answer_with(other)?)
}
