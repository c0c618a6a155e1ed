//! Each answer has the very form that its agent takes, as it was seen to: an unknown key makes Codex ignore the whole
//! of it, and only Claude Code can have a person asked. Where the replies are that were tried on the agents, the
//! forms are held against what came of them.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use crate::corpus::{corpus, replayed};

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

/// Returns what an answer does to an agent; `None` where it has another form than the guard may use.
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
