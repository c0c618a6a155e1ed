//! What an agent's hook is told on its standard input, as far as it says that the session waits for a
//! person, or no longer does.
//!
//! Seen with Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0 and Qwen Code 0.15.10; Copilot CLI by
//! <https://docs.github.com/en/copilot/reference/hooks-reference>, whose own `PermissionRequest` comes
//! before it is known whether anybody is asked.

use crate::core::model::{Call, Target, Untrusted, Waiting, Wants};
use crate::format::codex::of_patch;
use crate::format::json::Object;
use crate::format::work::{first_line, question, target};

/// What a hook says of its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// It waits for a person, from now on.
    Waits(Waiting),
    /// It waits for nobody.
    GoesOn,
    /// It is run, which every other event says.
    Runs,
    /// Something that neither begins a wait nor ends one.
    Nothing,
}

/// The events after which a session waits for nobody: a call was answered, a person asked for
/// something, or the turn is over.
const GOES_ON: [&str; 10] = [
    "PostToolUse", "PostToolUseFailure", "AfterTool", "UserPromptSubmit", "BeforeAgent", "Stop",
    "StopFailure", "AfterAgent", "Interrupt", "SessionEnd",
];

/// Reads what a hook is told.
pub(crate) fn told(hook: &Object<'_>) -> Told {
    match hook.str("hook_event_name") {
        Some("PermissionRequest") => Told::Waits(permission(hook)),
        Some("Notification") => notification(hook),
        Some(event) if GOES_ON.contains(&event) => Told::GoesOn,
        Some(_) | None => Told::Runs,
    }
}

/// Reads the call that a person is asked about.
fn permission(hook: &Object<'_>) -> Waiting {
    let tool = hook.str("tool_name").unwrap_or_default();
    let Some(input) = hook.object("tool_input") else { return asks(tool, None) };
    let patch = input.str("command").filter(|_| tool == "apply_patch");
    let target = match patch {
        Some(patch) => of_patch(patch, hook.str("cwd")),
        None => question(input).or_else(|| target(input, hook.str("cwd"))),
    };
    asks(tool, target)
}

fn notification(hook: &Object<'_>) -> Told {
    let waits = |wants| Told::Waits(Waiting { wants, call: None, since: None });
    match hook.str("notification_type") {
        Some("ToolPermission") => Told::Waits(confirmation(hook)),
        Some("permission_prompt") => waits(Wants::Permission),
        Some("agent_needs_input" | "elicitation_dialog") => waits(Wants::Answer),
        Some(_) | None => Told::Nothing,
    }
}

/// Reads what Gemini CLI asks to be confirmed.
fn confirmation(hook: &Object<'_>) -> Waiting {
    let Some(details) = hook.object("details") else { return asks("", None) };
    let page = || Some(Target::Url(first_line(details.strings("urls").next()?)));
    let tool = details.str("toolName").or_else(|| details.str("type"));
    asks(
        tool.unwrap_or_default(),
        question(details).or_else(|| target(details, hook.str("cwd"))).or_else(page),
    )
}

fn asks(tool: &str, target: Option<Target>) -> Waiting {
    let wants = if matches!(target, Some(Target::Question(_))) { Wants::Answer } else { Wants::Permission };
    let has_call = !tool.is_empty() || target.is_some();
    let call = || Call { id: Untrusted::fixed(""), tool: first_line(tool), target, since: None };
    Waiting { wants, call: has_call.then(call), since: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::json;

    #[track_caller]
    fn check(hook: &str, expected: &str) {
        let said = match told(&json::parse(hook.as_bytes()).unwrap()) {
            Told::Waits(Waiting { wants, call, since: None }) => {
                let call = call.map(|call| {
                    format!(" {} {:?}", call.tool, call.target.map(|target| target.text().to_string()))
                });
                format!("{wants:?}{}", call.unwrap_or_default())
            }
            other @ (Told::Waits(_) | Told::GoesOn | Told::Runs | Told::Nothing) => format!("{other:?}"),
        };
        assert_eq!(said, expected, "{hook}");
    }

    #[track_caller]
    fn check_event(event: &str, expected: &str) {
        check(&format!(r#"{{"hook_event_name":"{event}"}}"#), expected);
    }

    #[test]
    fn a_call_that_needs_leave_is_a_wait() {
        let asks = r#"{"hook_event_name":"PermissionRequest","cwd":"/src","tool_name":"#;
        let patch = r#""apply_patch","tool_input":{"command":"*** Begin Patch\n*** Add File: g.txt\n+x"}}"#;
        check(&format!("{asks}{patch}"), r#"Permission apply_patch Some("/src/g.txt")"#);
        let command = r#""Bash","tool_input":{"command":"touch a\nrm b"}}"#;
        check(&format!("{asks}{command}"), r#"Permission Bash Some("touch a")"#);
        let secret =
            r#""Bash","tool_input":{"command":"curl --token ghp_0123456789abcdefghijABCDEFGHIJ012345"}}"#;
        check(&format!("{asks}{secret}"), r#"Permission Bash Some("curl --token ***")"#);
        let question = r#""AskUserQuestion","tool_input":{"questions":[{"question":"Which?"}]}}"#;
        check(&format!("{asks}{question}"), r#"Answer AskUserQuestion Some("Which?")"#);
        check(&format!("{asks}5}}"), "Permission");
    }

    #[test]
    fn only_some_notifications_wait_for_a_person() {
        let note = r#"{"hook_event_name":"Notification","notification_type":"#;
        check(&format!(r#"{note}"permission_prompt"}}"#), "Permission");
        check(&format!(r#"{note}"elicitation_dialog"}}"#), "Answer");
        check(&format!(r#"{note}"idle_prompt"}}"#), "Nothing");
        check(&format!("{note}7}}"), "Nothing");
        let edit = r#""ToolPermission","details":{"type":"edit","filePath":"/src/g.txt","newContent":"x"}}"#;
        check(&format!("{note}{edit}"), r#"Permission edit Some("/src/g.txt")"#);
        let page = r#""ToolPermission","details":{"type":"info","prompt":"p","urls":["https://x.org"]}}"#;
        check(&format!("{note}{page}"), r#"Permission info Some("https://x.org")"#);
        check(&format!(r#"{note}"ToolPermission"}}"#), "Permission");
    }

    #[test]
    fn what_comes_after_a_wait_ends_it() {
        check_event("PostToolUse", "GoesOn");
        check_event("AfterTool", "GoesOn");
        check_event("UserPromptSubmit", "GoesOn");
        check_event("SessionStart", "Runs");
        check("{}", "Runs");
    }
}
