//! Each answer has the exact form that its agent was observed to accept: an unknown key makes Codex ignore the whole
//! answer, and only Claude Code can have a person asked. Where there are replies that were tried on the agents, the
//! forms are compared with their results.

use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::answers::corpus::{corpus, replayed};
use crate::world::World;

/// What an answer does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Effect {
    /// The model reads a text, after this event of a hook.
    Note(String),
    Deny,
    Ask,
}

/// The form of Claude Code, which Codex and Qwen Code share.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Specific {
    hook_specific_output: Output,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, untagged, rename_all_fields = "camelCase")]
enum Output {
    Note { hook_event_name: String, additional_context: String },
    Decision { hook_event_name: String, permission_decision: String, permission_decision_reason: String },
}

/// Gemini CLI's own way to refuse a call.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    decision: String,
    reason: String,
}

/// Returns the effect of an answer on an agent; `None` if it has a form that the guard must not use.
fn effect(agent: &str, answer: &Value) -> Option<Effect> {
    let is_gemini = agent == "gemini";
    if let Ok(Refusal { decision, reason }) = serde_json::from_value(answer.clone()) {
        return (is_gemini && decision == "deny" && !reason.is_empty()).then_some(Effect::Deny);
    }
    let events = match agent {
        "gemini" => ["BeforeAgent", "AfterTool"],
        "claude" | "codex" | "qwen" => ["UserPromptSubmit", "PostToolUse"],
        _ => return None,
    };
    match serde_json::from_value::<Specific>(answer.clone()).ok()?.hook_specific_output {
        Output::Note { hook_event_name, additional_context } => {
            let is_read = events.contains(&hook_event_name.as_str()) && !additional_context.is_empty();
            is_read.then_some(Effect::Note(hook_event_name))
        }
        Output::Decision { hook_event_name, permission_decision, permission_decision_reason } => {
            let is_meant = hook_event_name == "PreToolUse" && !permission_decision_reason.is_empty();
            match permission_decision.as_str() {
                "deny" if is_meant && !is_gemini => Some(Effect::Deny),
                "ask" if is_meant && agent == "claude" => Some(Effect::Ask),
                _ => None,
            }
        }
    }
}

#[test]
fn every_answer_has_a_form_that_its_agent_takes() {
    let mut count = 0;
    for call in replayed(&corpus()) {
        let Some(answer) = call["answer"].as_str() else { continue };
        let agent = call["agent"].as_str().unwrap();
        let effect = effect(agent, &serde_json::from_str(answer).unwrap());
        let is_right = match (call["said"].as_str().unwrap(), &effect) {
            ("brief", Some(Effect::Note(event))) => {
                ["UserPromptSubmit", "BeforeAgent"].contains(&event.as_str())
            }
            ("note", Some(Effect::Note(event))) => ["PostToolUse", "AfterTool"].contains(&event.as_str()),
            ("hold-up" | "deny", Some(Effect::Deny)) | ("ask", Some(Effect::Ask)) => true,
            (_, _) => false,
        };
        assert!(is_right, "{call}");
        count += 1;
    }
    eprintln!("{count} answers");
    assert!(count > 200, "{count}");
}

#[test]
fn the_forms_do_what_was_seen() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures/work");
    if !fixtures.exists() {
        eprintln!("skipped: no fixtures at {}", fixtures.display());
        return;
    }
    for agent in ["claude", "codex", "gemini", "qwen"] {
        let tried = std::fs::read(fixtures.join(agent).join("hook-replies-tried.json")).unwrap();
        let tried: Vec<Value> = serde_json::from_slice(&tried).unwrap();
        let mut effects = Vec::new();
        for case in &tried {
            let reply = &case["hook_reply"];
            let answer = reply.get("out").filter(|out| out.is_object());
            let Some(effect) = answer.and_then(|out| effect(agent, out)) else { continue };
            let is_written = case["file_written"].as_bool().unwrap();
            assert_eq!(is_written, matches!(effect, Effect::Note(_)), "{case}");
            effects.push(effect);
        }
        assert!(effects.contains(&Effect::Deny), "{agent}: {effects:?}");
        assert!(effects.iter().any(|effect| matches!(effect, Effect::Note(_))), "{agent}: {effects:?}");
    }
}

/// Plays an edit by another window of Claude Code's, and then the questions of a window of this agent.
fn answers_to(agent: &str, hooks: &[Value]) -> Vec<Value> {
    let hook = |event: &str| {
        json!({
            "session_id": "cart", "cwd": "$ROOT/shop", "hook_event_name": event, "tool_name": "Write",
            "tool_input": { "file_path": "$ROOT/shop/a.rs" },
        })
    };
    let git = |verb: &str| json!({ "git": { "tree": "shop", "verb": verb } });
    let call = |window: &str, hook: &Value| json!({ "call": { "window": window, "hook": hook } });
    let mut lines = vec![
        json!({ "schema": "claimtop.guard-recording.v1" }),
        json!({ "world": agent }),
        json!({ "opened": { "window": "cart", "agent": "claude", "pid": 4103 } }),
        json!({ "opened": { "window": "pay", "agent": agent, "pid": 4104 } }),
        git("init"),
        json!({ "wrote": { "path": "shop/a.rs", "text": "0\n" } }),
        git("commit-all"),
        json!({ "at": 5_000 }),
        json!({ "wrote": { "path": "shop/a.rs", "text": "1\n" } }),
        json!({ "at": 5_020 }),
        call("cart", &hook("PostToolUse")),
        json!({ "at": 9_000 }),
    ];
    for hook in hooks {
        let mut whole = json!({ "session_id": "pay", "cwd": "$ROOT/shop" });
        whole.as_object_mut().unwrap().extend(hook.as_object().unwrap().clone());
        lines.push(call("pay", &whole));
    }
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let world = World::new();
    let path = world.write("recording.jsonl", &text);
    replayed(&path).split_off(1)
}

#[track_caller]
fn check_flat(agent: &str, hooks: &[Value], note: &str, refusal: &Value) {
    let answers: [Value; 4] = answers_to(agent, hooks).try_into().unwrap();
    let [prompt, before, after, line] = &answers;
    let parsed = |answer: &Value| serde_json::from_str::<Value>(answer["answer"].as_str().unwrap()).unwrap();
    for (answer, begin) in [(prompt, "claimtop: the window `shop` (claude, PID 4103"), (after, "claimtop: ")]
    {
        let answer = parsed(answer);
        assert!(answer[note].as_str().unwrap().starts_with(begin), "{answer}");
        assert_eq!(answer.as_object().unwrap().len(), 1, "{answer}");
    }
    assert_eq!(before["answer"], Value::Null, "nothing is said before an edit");
    let refused = parsed(line);
    for (key, expected) in refusal.as_object().unwrap() {
        assert!(refused[key].as_str().unwrap().starts_with(expected.as_str().unwrap()), "{refused}");
    }
    assert_eq!(refused.as_object().unwrap().len(), refusal.as_object().unwrap().len(), "{refused}");
}

/// As Copilot CLI 1.0.102 was observed to ask, and to accept the answer.
#[test]
fn copilot_is_answered_as_it_listens() {
    let patch = "*** Begin Patch\n*** Update File: a.rs\n@@\n-1\n+2\n*** End Patch\n";
    let edit = |event: &str| json!({ "hook_event_name": event, "tool_name": "Edit", "tool_input": patch });
    let line = json!({ "command": "git stash", "description": "As asked" });
    let hooks = [
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": "Go on" }),
        edit("PreToolUse"),
        edit("PostToolUse"),
        json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": line }),
    ];
    let held = "claimtop held this up once: `git stash`";
    let refusal = json!({ "permissionDecision": "deny", "permissionDecisionReason": held });
    check_flat("copilot", &hooks, "additionalContext", &refusal);
}

/// As our own plugin asks, and accepts the answer.
#[test]
fn opencode_is_answered_as_its_plugin_takes_it() {
    let file = json!({ "filePath": "$ROOT/shop/a.rs", "content": "2\n" });
    let write = |event: &str| json!({ "hook_event_name": event, "tool_name": "write", "tool_use_id": "one", "tool_input": file });
    let hooks = [
        json!({ "hook_event_name": "UserPromptSubmit" }),
        write("PreToolUse"),
        write("PostToolUse"),
        json!({
            "hook_event_name": "PreToolUse", "tool_name": "bash", "tool_use_id": "two", "read_refusals": [],
            "tool_input": { "command": "git stash" },
        }),
    ];
    check_flat("opencode", &hooks, "note", &json!({ "deny": "claimtop held this up once: `git stash`" }));
}
