//! The standard input of an agent's hook, as far as it shows that the session waits for a person, or no longer does.
//!
//! Seen with Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0 and Qwen Code 0.15.10; Copilot CLI by
//! <https://docs.github.com/en/copilot/reference/hooks-reference>, whose own `PermissionRequest` comes before it is
//! known whether a person is asked.

pub(crate) mod answers;
pub(crate) mod edit;
pub(crate) mod guard;
pub(crate) mod settings;

use crate::core::model::{Call, Target, Untrusted, Waiting, Wants};
use crate::format::agent::codex::of_patch;
use crate::format::reading::json::Object;
use crate::format::work::{first_line, question, target};

/// The meaning of a hook's input for its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HookReport {
    /// The session, or the named sub-agent of it, waits for a person from now on.
    Waits(Waiting, Option<Untrusted>),
    /// The wait is over.
    Over(Over),
    /// A process begins to run it, which ends every wait.
    Starts,
    /// It is being run, which every other event shows.
    Runs,
    /// Neither begins nor ends a wait.
    Nothing,
}

/// The waits of a session that are over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// The one for this call, made by the session or by the named sub-agent.
    Call(Call, Option<Untrusted>),
    /// All of the session's own, or of the named sub-agent.
    Turn(Option<Untrusted>),
    /// All, whichever agent asked.
    All,
}

/// Reads a hook's input.
pub(crate) fn report(hook: &Object<'_>) -> HookReport {
    let agent = hook.text("agent_id").filter(|agent| !agent.is_empty());
    match hook.str("hook_event_name") {
        Some("PermissionRequest") => HookReport::Waits(permission(hook), agent),
        Some("Notification") => notification(hook, agent),
        Some("PostToolUse" | "PostToolUseFailure" | "AfterTool") => match permission(hook).call {
            Some(call) => HookReport::Over(Over::Call(call, agent)),
            None => HookReport::Nothing,
        },
        // Qwen's comes after every call, and a sub-agent may wait meanwhile.
        Some("UserPromptSubmit" | "BeforeAgent" | "Stop" | "StopFailure" | "AfterAgent" | "SubagentStop") => {
            HookReport::Over(Over::Turn(agent))
        }
        Some("SessionStart") if hook.str("source") != Some("compact") => HookReport::Starts,
        Some("Interrupt" | "SessionEnd") => HookReport::Over(Over::All),
        Some(_) | None => HookReport::Runs,
    }
}

/// Reads the call that needs a person's permission.
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

fn notification(hook: &Object<'_>, agent: Option<Untrusted>) -> HookReport {
    let waits = |wants| HookReport::Waits(Waiting { wants, call: None, since: None }, agent.clone());
    match hook.str("notification_type") {
        Some("ToolPermission") => HookReport::Waits(confirmation(hook), agent),
        Some("permission_prompt") => waits(Wants::Permission),
        Some("agent_needs_input" | "elicitation_dialog") => waits(Wants::Answer),
        Some(_) | None => HookReport::Nothing,
    }
}

/// Reads the confirmation that Gemini CLI asks for.
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
    use crate::format::reading::json;

    fn words(call: Call) -> String {
        format!("{} {:?}", call.tool, call.target.map(|target| target.text().to_string()))
    }

    fn by(agent: Option<Untrusted>) -> String {
        agent.map(|agent| format!(" by {agent}")).unwrap_or_default()
    }

    #[track_caller]
    fn check(hook: &str, expected: &str) {
        let said = match report(&json::parse(hook.as_bytes()).unwrap()) {
            HookReport::Waits(Waiting { wants, call, since: None }, agent) => {
                let call = call.map(|call| format!(" {}", words(call))).unwrap_or_default();
                format!("{wants:?}{call}{}", by(agent))
            }
            HookReport::Over(Over::Call(call, agent)) => format!("over {}{}", words(call), by(agent)),
            HookReport::Over(Over::Turn(agent)) => format!("turn over{}", by(agent)),
            other @ (HookReport::Waits(..)
            | HookReport::Over(Over::All)
            | HookReport::Starts
            | HookReport::Runs
            | HookReport::Nothing) => {
                format!("{other:?}")
            }
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
    fn a_wait_ends_by_its_own_calls_answer_or_with_its_turn() {
        let answered = r#"{"hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"}"#;
        check(&format!("{answered}}}"), r#"over Bash Some("ls")"#);
        check(&format!(r#"{answered},"agent_id":"a1"}}"#), r#"over Bash Some("ls") by a1"#);
        check_event("AfterTool", "Nothing");
        check_event("UserPromptSubmit", "turn over");
        check_event("Stop", "turn over");
        check(r#"{"hook_event_name":"SubagentStop","agent_id":"a1"}"#, "turn over by a1");
        check_event("Interrupt", "Over(All)");
        check_event("PreToolUse", "Runs");
        check_event("SessionStart", "Starts");
        check("{}", "Runs");
    }
}
