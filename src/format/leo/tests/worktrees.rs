//! Locks and sheets of worktrees.

use super::*;
use crate::core::model::{Code, Content, Refusal, ResourceKind};

#[test]
fn a_worktree_lock_claims_its_worktree() {
    let json = format!(r#"{{"pid":15133,"sessionId":"{UUID}","timestamp":"2026-11-20T21:14:38.295Z"}}"#);
    check(
        WORKTREES,
        "SD-DEMO-001.lock",
        &json,
        &format!("Lock Current 'worktree lock' context - session {UUID} holder 15133/Hook []"),
    );
    let lock = record(WORKTREES, "SD-DEMO-001.lock", &json);
    let claim = &lock.claims[0];
    assert_eq!((claim.resource.kind, claim.resource.id.raw()), (ResourceKind::Worktree, "SD-DEMO-001"));
    assert_eq!((claim.since, lock.expiry.is_none()), (lock.started_at, true));
    assert!(lock.started_at.is_some());
}

#[test]
fn sheets_tell_of_their_worktree() {
    let origin = record(
        WORKTREE,
        ".worktree.json",
        r#"{"sdKey": "SD-DEMO-001", "expectedBranch": "feat/SD-DEMO-001", "baseRef": "origin/main",
            "createdAt": "2026-11-20T21:14:38.511Z", "hostname": "vm", "repoRoot": "/home/dev/wt"}"#,
    );
    assert_eq!(origin.cwd.as_deref(), Some(std::path::Path::new("/repo/.worktrees/SD-DEMO-001")));
    assert_eq!(origin.title.raw(), "SD-DEMO-001");
    assert_eq!(origin.started_at, "2026-11-20T21:14:38.511Z".parse().ok());
    insta::assert_snapshot!(facts(&origin), @r"
    branch: feat/SD-DEMO-001
    base: origin/main
    repository: /home/dev/wt
    host: vm
    ");
    assert_eq!(record(WORKTREE, ".worktree.json", "{}").title.raw(), "SD-DEMO-001");
}

#[test]
fn a_sheet_that_names_a_session_keeps_the_worktree_in_use_for_10_minutes() {
    for field in ["sessionId", "session_id"] {
        let used = record(WORKTREE, ".ehg-session.json", &format!(r#"{{"{field}": "{UUID}"}}"#));
        assert_eq!(used.session_id, Some(UUID.into()));
        let expiry = used.expiry.map(|expiry| (expiry.at.to_string(), expiry.rule));
        assert_eq!(expiry, Some(("2026-11-20T21:56:00Z".to_owned(), "not written for 10 min")));
    }
    let unused = record(WORKTREE, ".ehg-session.json", r#"{"workKey": "QF-20260822-001"}"#);
    assert_eq!((unused.session_id, unused.expiry.is_none(), unused.problems), (None, true, Vec::new()));
}

#[test]
fn older_code_wrote_another_sheet() {
    check(
        WORKTREE,
        ".session.json",
        r#"{"expectedBranch": "feat/x"}"#,
        "Metadata Legacy 'worktree's branch' context - session - holder - [legacy-record]",
    );
}

#[test]
fn the_reapers_marks_name_who_set_them() {
    check(
        WORKTREE,
        ".reap-eligible.json",
        &format!(r#"{{"sd_key": "SD-DEMO-001", "merged_pr": 7395, "marked_by_session": "{UUID}"}}"#),
        &format!("Metadata Current 'worktree that may be reaped' context - session {UUID} holder - []"),
    );
    let protected = |who: &str| {
        let json = format!(r#"{{"reason": "drill", "protected_by": "{who}", "expires_at": null}}"#);
        record(WORKTREE, ".reap-protected.json", &json)
    };
    assert_eq!(protected(UUID).session_id, Some(UUID.into()));
    let by_role = protected("coordinator");
    assert_eq!((by_role.session_id.clone(), problems(&by_role)), (None, String::new()));
    assert_eq!(facts(&by_role), "reason: drill\nprotected by: coordinator");
}

#[test]
fn a_corrupt_protection_still_protects() {
    let record = record(WORKTREE, ".reap-protected.json", "{ not valid");
    assert_eq!(record.problems.iter().map(|problem| problem.code).collect::<Vec<_>>(), [Code::CorruptRecord]);
    assert!(problems(&record).ends_with("; it protects the worktree all the same"));
    assert!(record.cwd.is_some());
    let broken = testing::broken(parse(WORKTREE, ".reap-eligible.json", b"{ not valid", 120));
    assert_eq!(broken.problem.code, Code::CorruptRecord);
}

#[test]
fn what_is_no_plain_file_is_broken_under_every_name() {
    for (dir, name) in [
        (SESSIONS, "s.json"),
        (IDENTITY, "pid-7.json"),
        (IDENTITY, "current"),
        (IDENTITY, "x.tmp.1.2"),
        (PIDS, "tick-s.json"),
        (WORKTREES, "K.lock"),
        (WORKTREE, ".reap-protected.json"),
        (CLAUDE, "active-coordinator.json"),
    ] {
        let mut file = testing::image(name, b"", 120);
        file.content = Content::Refused(Refusal::Special("fifo"));
        let kind = recognise(dir, name).expect("it is LEO's");
        let broken = testing::broken(testing::read(|reading| read(kind, &file, reading)));
        assert_eq!(broken.problem.code, Code::SpecialFile, "{name}");
    }
}
