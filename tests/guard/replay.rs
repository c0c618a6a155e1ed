//! `guard replay`: what it plays, what it refuses to, and how it ends.

use crate::world::{Answer, World};

const BEGIN: &str = r#"{"schema":"claimtop.guard-recording.v1"}
{"world":"two windows"}
{"opened":{"window":"cart","agent":"claude","pid":4103}}
{"opened":{"window":"pay","agent":"codex"}}
{"git":{"tree":"shop","verb":"init"}}
{"wrote":{"path":"shop/a.rs","text":"0\n"}}
{"git":{"tree":"shop","verb":"commit-all"}}
{"at":5000}
{"wrote":{"path":"shop/a.rs","text":"1\n"}}
{"at":5020}
{"call":{"window":"cart","hook":{"session_id":"cart","cwd":"$ROOT/shop","hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"file_path":"$ROOT/shop/a.rs"}},"expect":{"said":"none"}}}
{"at":9000}
"#;

fn replay(lines: &[&str]) -> Answer {
    let world = World::new();
    let path = world.write("recording.jsonl", &format!("{BEGIN}{}\n", lines.join("\n")));
    world.run(&["guard", "replay", path.to_str().unwrap()])
}

fn prompt(expect: &str) -> String {
    let hook = r#"{"session_id":"pay","cwd":"$ROOT/shop","hook_event_name":"UserPromptSubmit","prompt":"x"}"#;
    format!(r#"{{"call":{{"window":"pay","hook":{hook},"expect":{expect}}}}}"#)
}

#[test]
fn what_is_true_is_compared_with_what_is_said() {
    let check = |lines: &[&str], code: i32, expected: &str| {
        let answer = replay(lines);
        assert_eq!(answer.code, code, "{answer:?}");
        assert!(answer.out.ends_with(&format!("{expected}\n")), "{expected}: {}", answer.out);
    };
    let right = prompt(r#"{"said":"brief","about":{"cart":["a.rs"]}}"#);
    check(&[&right], 0, "wrong 0, missed 0, cannot be seen 0");
    check(&[&prompt(r#"{"said":"none"}"#)], 1, "wrong 1, missed 0, cannot be seen 0");
    check(
        &[&prompt(r#"{"said":"note","about":{"cart":["a.rs"]}}"#)],
        1,
        "wrong 1, missed 0, cannot be seen 0",
    );
    let others =
        [r#"{"said":"brief","about":{"cart":["b.rs"]}}"#, r#"{"said":"brief","about":{"pay":["a.rs"]}}"#];
    for other in others {
        check(&[&prompt(other)], 1, "wrong 1, missed 0, cannot be seen 0");
    }
    let more = prompt(r#"{"said":"brief","about":{"cart":["a.rs","b.rs"]}}"#);
    check(&[&more], 1, "wrong 0, missed 1, cannot be seen 0");
    check(&[&right, &right], 1, "wrong 0, missed 1, cannot be seen 0");
    let died = r#"{"died":"cart"}"#;
    check(&[died, &right], 1, "wrong 0, missed 1, cannot be seen 0");
    let unseen = prompt(r#"{"said":"brief","about":{"cart":["a.rs"]},"hidden":"by a shell"}"#);
    check(&[died, &unseen], 0, "wrong 0, missed 0, cannot be seen 1");
    let committed = r#"{"git":{"tree":"shop","verb":"commit"}}"#;
    check(&[committed, &prompt(r#"{"said":"none"}"#)], 0, "wrong 0, missed 0, cannot be seen 0");
}

#[test]
fn a_recording_never_leaves_its_world() {
    let outside = [
        r#"{"wrote":{"path":"../x","text":"x"}}"#,
        r#"{"wrote":{"path":"/tmp/x","text":"x"}}"#,
        r#"{"wrote":{"path":"shop/.git/config","text":"x"}}"#,
        r#"{"wrote":{"path":"shop/.GIT/hooks/post-commit","text":"x"}}"#,
        r#"{"removed":"shop/../../x"}"#,
        r#"{"linked":{"path":"l","to":"../../x"}}"#,
        r#"{"linked":{"path":"l","to":"/etc"}}"#,
        r#"{"git":{"tree":"..","verb":"init"}}"#,
        r#"{"git":{"tree":"shop","verb":"switch","names":["--exec=x"]}}"#,
        r#"{"git":{"tree":"shop","verb":"worktree","names":["../x"]}}"#,
        r#"{"git":{"tree":"shop","verb":"config"}}"#,
        r#"{"schema":"claimtop.guard-recording.v1"}"#,
        "x",
    ];
    for line in outside {
        let answer = replay(&[line]);
        assert_eq!(answer.code, 4, "{line}: {answer:?}");
        assert!(answer.err.contains("line 13"), "{line}: {}", answer.err);
    }
    // A folder that looks like a repository is none of git's making.
    let bare = [
        r#"{"wrote":{"path":"bare/HEAD","text":"ref: refs/heads/main\n"}}"#,
        r#"{"wrote":{"path":"bare/config","text":"[core]\n\tbare = false\n\tfsmonitor = touch run\n"}}"#,
        r#"{"wrote":{"path":"bare/objects/x","text":""}}"#,
        r#"{"wrote":{"path":"bare/refs/x","text":""}}"#,
        r#"{"git":{"tree":"bare","verb":"stash"}}"#,
    ];
    let answer = replay(&bare);
    assert!(answer.code == 4 && answer.err.contains("line 17"), "{answer:?}");
}

#[test]
fn what_is_no_recording_is_refused() {
    let world = World::new();
    for text in ["", "{}\n", "{\"schema\":\"claimtop.guard-recording.v2\"}\n", "{\"world\":\"x\"}\n"] {
        let path = world.write("recording.jsonl", text);
        let answer = world.run(&["guard", "replay", path.to_str().unwrap()]);
        assert_eq!(answer.code, 4, "{text}: {answer:?}");
    }
    assert_eq!(world.run(&["guard", "replay", "nowhere.jsonl"]).code, 4);
}
