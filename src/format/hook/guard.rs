//! The input of an agent's hook about a tool's call, and the form of the answer.
//!
//! Measured with Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0 and Qwen Code 0.15.10: a text returned before a
//! call reaches the model after it or never; one at a prompt or after a call reaches all four; before a call only a
//! refusal works in all. Codex runs the tool when its answer has a key that it does not know. Copilot CLI 1.0.102 and
//! opencode 1.18.33, the latter through our own plugin, take a text at a prompt and after a call as well. Copilot
//! names its tools in hooks as Claude Code does, and gives only the text of a patch.

use serde_json::{Value, json};

use crate::core::guard::folder::joined;
use crate::core::guard::shell::{Command, ShellContext, commands};
use crate::core::model::Untrusted;
use crate::core::model::report::context::is_valid_id;
use crate::format::agent::codex::files_of;
use crate::format::reading::json::Object;

/// An agent that asks a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asker {
    Claude,
    Codex,
    Gemini,
    Qwen,
    Copilot,
    Opencode,
}

impl Asker {
    pub(crate) const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Qwen, Self::Copilot, Self::Opencode];

    /// Returns the name that `--for` takes.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
        }
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        // The name in `hook print`.
        let name = if name == "claude-code" { "claude" } else { name };
        Self::ALL.into_iter().find(|one| one.name() == name)
    }
}

/// A question to the guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Question {
    pub(crate) session: Untrusted,
    /// The folder in which the session works, absolute.
    pub(crate) cwd: String,
    /// The agent's name for the call, if it has one.
    pub(crate) call: Option<Untrusted>,
    /// The sub-agent that makes the call, whose model reads the answer; `None` for the session's own.
    pub(crate) sub_agent: Option<Untrusted>,
    pub(crate) transcript: Option<String>,
    /// The calls whose refusal the model has already read, if its agent reports them.
    pub(crate) read: Vec<Untrusted>,
    pub(crate) moment: Moment,
}

impl Question {
    /// Returns a person's question in a folder, with or without a session.
    pub(crate) fn of_person(session: Untrusted, cwd: String) -> Self {
        let (call, sub_agent, transcript, read) = (None, None, None, Vec::new());
        Self { session, cwd, call, sub_agent, transcript, read, moment: Moment::Prompt }
    }
}

/// The moment of the question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A person has sent a prompt.
    Prompt,
    /// A tool is about to be called.
    Before(Touch),
    /// A tool was called.
    After(Touch),
}

/// The files that a tool's call touches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Touch {
    /// These files, as the agent names them.
    Files(Vec<String>),
    /// The files that this shell line touches.
    Line(String),
}

/// Reads a hook's input; `None` if the guard has no answer to it.
pub(crate) fn question(asker: Asker, hook: &Object<'_>) -> Option<Question> {
    let session = hook.text("session_id").filter(|id| is_valid_id(id.raw()))?;
    let input = hook.object("tool_input");
    let other = input.and_then(|input| other_folder(asker).iter().find_map(|name| input.str(name)));
    let folder = hook.str("cwd").filter(|cwd| cwd.starts_with('/'))?;
    let cwd = other.and_then(|other| joined(folder, other)).unwrap_or_else(|| folder.to_owned());
    let moment = match hook.str("hook_event_name")? {
        "UserPromptSubmit" | "BeforeAgent" => Moment::Prompt,
        "PreToolUse" | "BeforeTool" => Moment::Before(touch(asker, hook, &cwd)?),
        "PostToolUse" | "AfterTool" => Moment::After(touch(asker, hook, &cwd)?),
        _ => return None,
    };
    // Qwen Code makes up a name for each hook.
    let call = hook.text("tool_use_id").filter(|_| asker != Asker::Qwen);
    let transcript = hook.str("transcript_path").map(|whole| own_part(asker, hook, whole));
    let read = hook.strings("read_refusals").map(Untrusted::from).collect();
    let sub_agent = hook.text("agent_id");
    Some(Question { session, cwd, call, sub_agent, transcript, read, moment })
}

/// The argument names of an agent's shell for a folder other than the session's: opencode, Gemini CLI of older and
/// newer versions and Qwen Code, by their own documentation of the tool.
fn other_folder(asker: Asker) -> &'static [&'static str] {
    match asker {
        Asker::Opencode => &["workdir"],
        Asker::Gemini | Asker::Qwen => &["dir_path", "directory"],
        Asker::Claude | Asker::Codex | Asker::Copilot => &[],
    }
}

/// Returns the transcript with the calls of the agent that makes this one: Claude Code names its session's transcript,
/// and a sub-agent has one of its own.
fn own_part(asker: Asker, hook: &Object<'_>, whole: &str) -> String {
    let sub_agent = hook.str("agent_id").filter(|id| asker == Asker::Claude && is_valid_id(id));
    match (sub_agent, whole.strip_suffix(".jsonl")) {
        (Some(id), Some(folder)) => format!("{folder}/subagents/agent-{id}.jsonl"),
        (_, _) => whole.to_owned(),
    }
}

fn touch(asker: Asker, hook: &Object<'_>, cwd: &str) -> Option<Touch> {
    let tool = hook.str("tool_name")?;
    if let (Asker::Copilot, "Edit", Some(text)) = (asker, tool, hook.str("tool_input")) {
        return Some(patch(text));
    }
    let input = hook.object("tool_input")?;
    let file = |name: &str| Some(Touch::Files(vec![input.str(name)?.to_owned()]));
    let line = || {
        input.str("command").map(|line| patched(line, cwd).unwrap_or_else(|| Touch::Line(line.to_owned())))
    };
    match (asker, tool) {
        (_, tool) if tool.starts_with("mcp_") => of_server(tool, input),
        (Asker::Claude, "Write" | "Edit" | "MultiEdit") => file("file_path"),
        (Asker::Claude, "NotebookEdit") => file("notebook_path"),
        (Asker::Codex, "apply_patch") => Some(patch(input.str("command")?)),
        (Asker::Opencode, "apply_patch") => Some(patch(input.str("patchText")?)),
        (Asker::Opencode, "write" | "edit" | "multiedit") => file("filePath"),
        (Asker::Copilot, "Write" | "Edit") => file("path"),
        (Asker::Opencode, "bash") => line(),
        (Asker::Claude | Asker::Codex | Asker::Copilot, "Bash") => line(),
        (Asker::Gemini, "write_file" | "replace") | (Asker::Qwen, "write_file" | "edit") => file("file_path"),
        (Asker::Gemini | Asker::Qwen, "run_shell_command") => line(),
        _ => None,
    }
}

/// Words in the name of an MCP server's tool that mean that it changes the file in its arguments.
const WRITES: [&str; 10] =
    ["write", "edit", "create", "replace", "insert", "append", "patch", "delete", "move", "rename"];

/// The argument names of such a tool for the file.
const PATHS: [&str; 5] = ["path", "file_path", "filePath", "relative_path", "source"];

/// Returns the file that an MCP server's tool changes, by the names of the tool and its argument: only the server
/// knows what the tool does.
fn of_server(tool: &str, input: &Object<'_>) -> Option<Touch> {
    let words = tool.rsplit("__").next().unwrap_or(tool).to_ascii_lowercase();
    let writes = words.split(['_', '-', '.']).any(|word| WRITES.contains(&word));
    let path = PATHS.iter().find_map(|name| input.str(name)).filter(|_| writes)?;
    Some(Touch::Files(vec![path.to_owned()]))
}

fn patch(text: &str) -> Touch {
    Touch::Files(files_of(text).map(str::to_owned).collect())
}

/// Reads a patch that a shell line applies, in the folder to which the line has changed before.
fn patched(line: &str, cwd: &str) -> Option<Touch> {
    if !line.contains("apply_patch") || !line.contains("*** Begin Patch") {
        return None;
    }
    let commands = commands(line, &ShellContext { folder: cwd, home: None, top_of: &|_| None });
    let is_patch = |command: &&Command| command.words.first().is_some_and(|program| program == "apply_patch");
    let folder = commands.iter().find(is_patch)?.folder.as_deref()?;
    Some(Touch::Files(files_of(line).filter_map(|file| joined(folder, file)).collect()))
}

/// Gives the model a text to read; returns nothing at a moment when no text reaches it.
pub(crate) fn note(asker: Asker, moment: &Moment, text: &str) -> Option<String> {
    let event = match (asker, moment) {
        // No agent shows a text to its model before the call.
        (_, Moment::Before(_)) => return None,
        (Asker::Gemini, Moment::Prompt) => "BeforeAgent",
        (Asker::Gemini, Moment::After(_)) => "AfterTool",
        (Asker::Claude | Asker::Codex | Asker::Qwen, Moment::Prompt) => "UserPromptSubmit",
        (Asker::Claude | Asker::Codex | Asker::Qwen, Moment::After(_)) => "PostToolUse",
        (Asker::Copilot, _) => return Some(json!({ "additionalContext": text }).to_string()),
        (Asker::Opencode, _) => return Some(json!({ "note": text }).to_string()),
    };
    Some(answer(&json!({ "hookEventName": event, "additionalContext": text })))
}

/// Refuses a call, for this reason.
pub(crate) fn refusal(asker: Asker, reason: &str) -> String {
    match asker {
        Asker::Gemini => json!({ "decision": "deny", "reason": reason }).to_string(),
        Asker::Copilot => {
            json!({ "permissionDecision": "deny", "permissionDecisionReason": reason }).to_string()
        }
        Asker::Opencode => json!({ "deny": reason }).to_string(),
        Asker::Claude | Asker::Codex | Asker::Qwen => answer(&json!({
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        })),
    }
}

/// Makes Claude Code, the only agent that can, ask the person whether a shell line may run; the dialog shows the
/// reason.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::json::parse;

    #[track_caller]
    fn asked(asker: Asker, tool: &str, input: &Value) -> Option<Question> {
        let hook = json!({
            "session_id": "s-1", "cwd": "/w/shop", "hook_event_name": "PreToolUse", "tool_name": tool,
            "tool_input": input,
        });
        question(asker, &parse(hook.to_string().as_bytes()).unwrap())
    }

    #[track_caller]
    fn check(asker: Asker, tool: &str, input: &Value, expected: Option<Touch>) {
        let found = asked(asker, tool, input).map(|question| question.moment);
        assert_eq!(found, expected.map(Moment::Before), "{tool} {input}");
    }

    fn files(files: &[&str]) -> Option<Touch> {
        Some(Touch::Files(files.iter().map(|file| (*file).to_owned()).collect()))
    }

    #[test]
    fn each_agents_calls_are_read_in_its_own_form() {
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** End Patch";
        check(Asker::Codex, "apply_patch", &json!({ "command": patch }), files(&["a", "b"]));
        check(Asker::Opencode, "apply_patch", &json!({ "patchText": patch }), files(&["a", "b"]));
        check(Asker::Opencode, "write", &json!({ "filePath": "/w/a" }), files(&["/w/a"]));
        check(Asker::Copilot, "Write", &json!({ "path": "a" }), files(&["a"]));
        check(Asker::Copilot, "Edit", &json!(patch), files(&["a", "b"]));
        check(Asker::Copilot, "Bash", &json!({ "command": "ls" }), Some(Touch::Line("ls".to_owned())));
        check(Asker::Copilot, "Read", &json!({ "path": "a" }), None);
        let line = json!({ "command": "git stash", "workdir": "../cart" });
        assert_eq!(asked(Asker::Opencode, "bash", &line).unwrap().cwd, "/w/cart");
        assert_eq!(asked(Asker::Claude, "Bash", &line).unwrap().cwd, "/w/shop", "no key of its");
        for (asker, name) in
            [(Asker::Gemini, "directory"), (Asker::Gemini, "dir_path"), (Asker::Qwen, "directory")]
        {
            let line = json!({ "command": "git stash", name: "src" });
            assert_eq!(asked(asker, "run_shell_command", &line).unwrap().cwd, "/w/shop/src");
        }
        for (line, file) in [
            ("apply_patch <<'EOF'\n", "/w/shop/a"),
            ("cd src && apply_patch <<'EOF'\n", "/w/shop/src/a"),
            ("cd src\ncat <<EOF | apply_patch\n", "/w/shop/src/a"),
        ] {
            let line = json!({ "command": format!("{line}*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF") });
            check(Asker::Codex, "Bash", &line, files(&[file]));
        }
        let told = "echo apply_patch '*** Begin Patch'";
        check(Asker::Codex, "Bash", &json!({ "command": told }), Some(Touch::Line(told.to_owned())));
    }

    #[test]
    fn a_servers_tool_counts_where_its_name_says_that_it_writes() {
        let path = json!({ "path": "x.md", "text": "hi" });
        check(Asker::Claude, "mcp__demo__write_note", &path, files(&["x.md"]));
        check(Asker::Claude, "mcp__write__read_file", &path, None);
        check(Asker::Claude, "mcp__fs__edit-file", &json!({ "relative_path": "a/b" }), files(&["a/b"]));
        check(Asker::Claude, "mcp__fs__write_file", &json!({ "text": "hi" }), None);
        check(Asker::Claude, "mcp__fs__overwritten", &path, None);
    }

    #[test]
    fn every_agent_is_given_a_text_but_before_a_call() {
        let after = Moment::After(Touch::Files(Vec::new()));
        for asker in Asker::ALL {
            assert_eq!(Asker::named(asker.name()), Some(asker));
            assert_eq!(note(asker, &Moment::Before(Touch::Files(Vec::new())), "x"), None);
            assert!(note(asker, &after, "x").unwrap().contains("\"x\""));
            assert!(note(asker, &Moment::Prompt, "x").unwrap().contains("\"x\""));
            assert!(refusal(asker, "why").contains("why"));
        }
    }
}
