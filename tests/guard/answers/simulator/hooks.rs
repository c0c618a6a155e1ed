//! Inputs of hooks as the agents send them (Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0, Qwen Code
//! 0.15.10): the same keys, words of our own.

use serde_json::{Value, json};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Moment {
    Prompt,
    Before,
    After,
}

/// The caller, its folder, and its name for the call.
pub(crate) struct From<'a> {
    pub(crate) agent: &'a str,
    pub(crate) session: &'a str,
    pub(crate) cwd: &'a str,
    pub(crate) id: &'a str,
    pub(crate) is_sub_agent: bool,
}

/// The input of a tool.
#[derive(Clone)]
pub(crate) enum Tool {
    /// Files, as the agent names them.
    Edit(Vec<String>, Form),
    Line(String),
    /// A call that touches no file.
    Other(&'static str, Value),
}

/// The agent's way of editing a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    Whole,
    Part,
    Cell,
    /// A patch in a shell line.
    HereDocument,
}

pub(crate) fn hook(from: &From<'_>, moment: Moment, tool: Option<&Tool>) -> Value {
    let is_gemini = from.agent == "gemini";
    let event = match moment {
        Moment::Prompt if is_gemini => "BeforeAgent",
        Moment::Prompt => "UserPromptSubmit",
        Moment::Before if is_gemini => "BeforeTool",
        Moment::Before => "PreToolUse",
        Moment::After if is_gemini => "AfterTool",
        Moment::After => "PostToolUse",
    };
    let transcript = format!("$ROOT/home/{}.jsonl", from.session);
    let mut hook = json!({"session_id": from.session, "transcript_path": transcript, "cwd": from.cwd});
    let more = match from.agent {
        "claude" => json!({"prompt_id": "p-1", "permission_mode": "auto", "effort": {"level": "medium"}}),
        "codex" => json!({"turn_id": "t-1", "model": "gpt-6-sol", "permission_mode": "default"}),
        "qwen" if moment != Moment::Prompt => json!({"permission_mode": "yolo"}),
        _ => json!({"timestamp": "2026-11-22T11:30:55.903Z"}),
    };
    add(&mut hook, more);
    add(&mut hook, json!({"hook_event_name": event}));
    if from.is_sub_agent {
        add(&mut hook, json!({"agent_id": "ac5ebff6", "agent_type": "general-purpose"}));
    }
    let Some(tool) = tool else {
        add(&mut hook, json!({"prompt": "Go on."}));
        return hook;
    };
    let (name, input) = called(from.agent, tool);
    add(&mut hook, json!({"tool_name": name, "tool_input": input}));
    if !is_gemini {
        add(&mut hook, json!({"tool_use_id": from.id}));
    }
    match (moment, from.agent) {
        (Moment::After, "claude") => {
            add(
                &mut hook,
                json!({"tool_response": {"type": "update", "userModified": false}, "duration_ms": 9}),
            );
        }
        (Moment::After, "codex") => add(&mut hook, json!({"tool_response": "Exit code: 0\nOutput:\n"})),
        (Moment::After, _) => {
            add(&mut hook, json!({"tool_response": {"llmContent": "done", "returnDisplay": ""}}))
        }
        (Moment::Prompt | Moment::Before, _) => {}
    }
    hook
}

fn add(hook: &mut Value, more: Value) {
    if let (Value::Object(hook), Value::Object(more)) = (hook, more) {
        hook.extend(more);
    }
}

fn called(agent: &str, tool: &Tool) -> (&'static str, Value) {
    match (tool, agent) {
        (Tool::Other(name, input), _) => (name, input.clone()),
        (Tool::Line(line), "claude") => ("Bash", json!({"command": line, "description": "As asked"})),
        (Tool::Line(line), "codex") => ("Bash", json!({"command": line})),
        (Tool::Line(line), _) => {
            ("run_shell_command", json!({"command": line, "description": "as asked", "is_background": false}))
        }
        (Tool::Edit(files, form), "codex") => {
            let patch = patch(files);
            match form {
                Form::HereDocument => {
                    ("Bash", json!({"command": format!("apply_patch <<'EOF'\n{patch}EOF\n")}))
                }
                Form::Whole | Form::Part | Form::Cell => ("apply_patch", json!({"command": patch})),
            }
        }
        (Tool::Edit(files, form), agent) => one_file(agent, &files[0], *form),
    }
}

fn one_file(agent: &str, file: &str, form: Form) -> (&'static str, Value) {
    let whole = json!({"file_path": file, "content": "1\n"});
    let part = |more: Value| {
        let mut input = json!({"file_path": file, "old_string": "0", "new_string": "1"});
        add(&mut input, more);
        input
    };
    match (agent, form) {
        ("claude", Form::Cell) => (
            "NotebookEdit",
            json!({"notebook_path": file, "cell_id": "c1", "new_source": "1", "edit_mode": "replace"}),
        ),
        ("claude", Form::Whole) => ("Write", whole),
        ("claude", _) => ("Edit", part(json!({"replace_all": false}))),
        (_, Form::Whole) => ("write_file", whole),
        ("gemini", _) => ("replace", part(json!({"instruction": "change it"}))),
        (_, _) => ("edit", part(json!({}))),
    }
}

fn patch(files: &[String]) -> String {
    let one = |file: &String| format!("*** Update File: {file}\n@@\n-0\n+1\n");
    format!("*** Begin Patch\n{}*** End Patch\n", files.iter().map(one).collect::<String>())
}
