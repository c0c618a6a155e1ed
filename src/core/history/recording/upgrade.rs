//! Upgrades records of earlier versions, whose names for people contain what rules read from details today.

use crate::core::model::{
    ClaudeCode, ClaudeStatus, Entire, GitLock, Leo, LeoRow, ObraRow, Record, RecordDetail, RecordKind,
    Untrusted,
};

/// Gives a record of an earlier version the detail that its format reads today.
pub(crate) fn upgraded(mut record: Record) -> Record {
    if record.detail == RecordDetail::None {
        record.detail = detail(&record);
    }
    record
}

fn detail(record: &Record) -> RecordDetail {
    let fact = |name: &str| fact(record, name);
    let is_about_session = matches!(record.kind, RecordKind::Session | RecordKind::Marker);
    match record.format.name() {
        "claude-code" => claude_code(record).map_or(RecordDetail::None, RecordDetail::ClaudeCode),
        "entire" if is_about_session => RecordDetail::Entire(Box::new(Entire {
            agent: fact("agent"),
            shadow_branch: fact("shadow branch"),
            checkpoints: fact("checkpoints").and_then(|count| count.raw().parse().ok()).unwrap_or_default(),
            last_checkpoint: fact("last checkpoint"),
            worktree_id: fact("working tree"),
            repository: fact("repository"),
            open_tasks: fact("tasks in flight")
                .and_then(|count| count.raw().parse().ok())
                .unwrap_or_default(),
            is_condensing: fact("condensation").is_some(),
        })),
        "git" => RecordDetail::Git(match record.variant {
            "worktree lock" => GitLock::Worktree,
            "gc lock" => GitLock::Gc,
            _ => GitLock::Command,
        }),
        "leo" => leo(record).map_or(RecordDetail::None, RecordDetail::Leo),
        "obra" if record.variant != "interaction" => RecordDetail::Obra(ObraRow {
            status: fact("status"),
            task: fact("task").or_else(|| fact("epic")),
        }),
        "agent-mail" | "beads" if fact("owner").is_some() => RecordDetail::Taken {
            owner: fact("owner"),
            is_shared: fact("mode").is_some_and(|mode| mode.raw() == "shared"),
        },
        "observability" if record.variant == "rate limit" => RecordDetail::RateLimit,
        _ => RecordDetail::None,
    }
}

fn claude_code(record: &Record) -> Option<ClaudeCode> {
    let time = |name: &str| fact(record, name).and_then(|at| at.raw().parse().ok());
    Some(match record.variant {
        "registry" => {
            let (status, waiting_for) = (fact(record, "status"), fact(record, "waiting for"));
            let updated_at = time("updated (no sign of life)");
            let version = fact(record, "version");
            let follows_turns = version.is_some_and(|version| ClaudeStatus::follows_turns(version.raw()));
            ClaudeCode::Session(Box::new(ClaudeStatus {
                status,
                waiting_for,
                updated_at,
                follows_turns,
                job: fact(record, "job"),
                ..ClaudeStatus::default()
            }))
        }
        "task" => ClaudeCode::Task { owner: fact(record, "owner") },
        "team" => ClaudeCode::Team { in_panes: fact(record, "in panes") },
        "daemon lock" => ClaudeCode::Daemon,
        "editor" => ClaudeCode::Editor,
        _ => return None,
    })
}

fn leo(record: &Record) -> Option<Leo> {
    let fact = |name: &str| fact(record, name);
    Some(match (record.kind, record.variant) {
        (_, "session row") => Leo::Row(Box::new(LeoRow {
            status: fact("status"),
            released_reason: fact("released reason"),
            callsign: fact("callsign"),
            last_tool_at: fact("last tool at").and_then(|at| at.raw().parse().ok()),
        })),
        (RecordKind::Session, _) => Leo::File { terminal: fact("terminal ID") },
        (RecordKind::Marker, _) => {
            Leo::Marker { is_new_session: fact("source").is_some_and(|source| source.raw() == "startup") }
        }
        (RecordKind::Metadata, variant) if variant.starts_with("worktree") => {
            Leo::Sheet { is_protected: variant.ends_with("may not be reaped") }
        }
        _ => return None,
    })
}

fn fact(record: &Record, name: &str) -> Option<Untrusted> {
    record.facts.iter().find(|(fact, _)| *fact == name).map(|(_, value)| value.clone())
}
