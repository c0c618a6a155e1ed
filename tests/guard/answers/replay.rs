//! `guard replay`: the recordings that it plays or refuses, and how it ends.

use crate::world::{Answer, World};

pub(crate) const BEGIN: &str = r#"{"schema":"claimtop.guard-recording.v1"}
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

pub(crate) fn prompt(expect: &str) -> String {
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
    check(&[died, &right], 0, "wrong 0, missed 0, cannot be seen 0");
    let committed = r#"{"git":{"tree":"shop","verb":"commit"}}"#;
    check(&[committed, &right], 1, "wrong 0, missed 1, cannot be seen 0");
    let unseen = prompt(r#"{"said":"brief","about":{"cart":["a.rs"]},"hidden":"by a shell"}"#);
    check(&[committed, &unseen], 0, "wrong 0, missed 0, cannot be seen 1");
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
    // A folder that looks like a repository but was not made by git.
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

/// A window's call that writes a file: before it, its bytes, and after it.
pub(crate) fn writes(window: &str, text: &str, at: [u32; 2], said: &str) -> String {
    let hook = |event: &str, said: &str| {
        format!(
            r#"{{"call":{{"window":"{window}","hook":{{"session_id":"{window}","cwd":"$ROOT/shop","hook_event_name":"{event}","tool_name":"Write","tool_use_id":"{window}-{}","tool_input":{{"file_path":"$ROOT/shop/a.rs"}}}},"expect":{said}}}}}"#,
            at[0]
        )
    };
    let none = r#"{"said":"none"}"#;
    let before = hook("PreToolUse", none);
    let after = hook("PostToolUse", said);
    let [begin, end] = at;
    format!(
        r#"{{"at":{begin}}}
{before}
{{"wrote":{{"path":"shop/a.rs","text":"{text}\n"}}}}
{{"at":{end}}}
{after}"#
    )
}

#[test]
fn an_edit_in_the_second_of_a_commit_is_none_of_its() {
    let begin = |lines: &str| BEGIN.split_once("{\"at\":5000}").unwrap().0.to_owned() + lines;
    let check = |lines: &[&str], expected: &str| {
        let world = World::new();
        let path = world.write("recording.jsonl", &begin(&lines.join("\n")));
        let answer = world.run(&["guard", "replay", path.to_str().unwrap()]);
        assert!(answer.out.ends_with(&format!("{expected}\n")), "{expected}: {answer:?}");
    };
    let opened = r#"{"opened":{"window":"third","agent":"claude","pid":4105}}"#;
    let commit = r#"{"git":{"tree":"shop","verb":"commit-all"}}"#;
    let none = r#"{"said":"none"}"#;
    let met = r#"{"said":"note","about":{"cart":["a.rs"]}}"#;
    let own = writes("cart", "1", [5000, 5020], none);
    let asks = |expect: &str| format!("{{\"at\":9000}}\n{}\n", prompt(expect));
    let both = r#"{"said":"brief","about":{"cart":["a.rs"],"third":["a.rs"]}}"#;
    let right = "wrong 0, missed 0, cannot be seen 0";
    let again = writes("cart", "2", [5400, 5420], none);
    let by_other = writes("third", "3", [7000, 7020], met);
    let moves = "{\"at\":8000}\n{\"wrote\":{\"path\":\"shop/b.rs\",\"text\":\"1\\n\"}}\n{\"git\":{\"tree\":\"shop\",\"verb\":\"commit\",\"names\":[\"b.rs\"]}}";
    let committed = format!("{{\"at\":5300}}\n{commit}");
    check(&[opened, &own, &committed, &again, &by_other, &asks(both)], right);
    check(&[opened, &own, &committed, &again, &by_other, moves, &asks(both)], right);
    // An edit before the commit is in it, though the second is the same.
    let by_nobody = "{\"at\":7000}\n{\"wrote\":{\"path\":\"shop/a.rs\",\"text\":\"3\\n\"}}";
    check(&[opened, &own, &committed, by_nobody, &asks(none)], right);
    // And an edit that a later commit took is in that one.
    let later = format!("{{\"at\":5700}}\n{commit}");
    check(&[opened, &own, &committed, &again, &later, by_nobody, &asks(none)], right);
}

#[test]
fn an_edit_through_a_link_is_one_of_the_file_behind_it() {
    let hook = r#"{"session_id":"cart","cwd":"$ROOT/shop","hook_event_name":"PostToolUse","tool_name":"Write","tool_input":{"file_path":"$ROOT/shop/l.rs"}}"#;
    let edited = format!(r#"{{"call":{{"window":"cart","hook":{hook},"expect":{{"said":"none"}}}}}}"#);
    let asks = r#"{"session_id":"pay","cwd":"$ROOT/shop","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git checkout -- b.rs"}}"#;
    let held_up = format!(
        r#"{{"call":{{"window":"pay","hook":{asks},"expect":{{"said":"hold-up","about":{{"cart":["b.rs"]}}}}}}}}"#
    );
    let answer = replay(&[
        r#"{"wrote":{"path":"shop/b.rs","text":"0\n"}}"#,
        r#"{"linked":{"path":"shop/l.rs","to":"shop/b.rs"}}"#,
        r#"{"git":{"tree":"shop","verb":"commit-all"}}"#,
        r#"{"at":12000}"#,
        r#"{"wrote":{"path":"shop/b.rs","text":"1\n"}}"#,
        r#"{"at":12020}"#,
        &edited,
        r#"{"at":15000}"#,
        &prompt(r#"{"said":"brief","about":{"cart":["b.rs"]}}"#),
        &held_up,
    ]);
    assert!(answer.out.ends_with("wrong 0, missed 0, cannot be seen 0\n"), "{answer:?}");
}

#[test]
fn a_refusal_is_read_by_the_agent_that_was_refused_and_no_other_of_its_session() {
    let call = |sub_agent: &str, said: &str| {
        let who = if sub_agent.is_empty() { String::new() } else { format!(r#""agent_id":"{sub_agent}","#) };
        let hook = format!(
            r#"{{"session_id":"pay","cwd":"$ROOT/shop",{who}"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"git stash"}}}}"#
        );
        format!(r#"{{"call":{{"window":"pay","hook":{hook},"expect":{said}}}}}"#)
    };
    let held_up = r#"{"said":"hold-up","about":{"cart":["a.rs"]}}"#;
    let none = r#"{"said":"none"}"#;
    let answer = replay(&[
        &call("one", held_up),
        r#"{"at":13000}"#,
        &call("two", held_up),
        &call("", held_up),
        r#"{"at":17000}"#,
        &call("one", none),
        &call("two", none),
        &call("", none),
    ]);
    assert!(answer.out.ends_with("wrong 0, missed 0, cannot be seen 0\n"), "{answer:?}");
}

#[test]
fn a_folder_that_is_a_link_is_the_one_behind_it() {
    let asks = r#"{"session_id":"pay","cwd":"$ROOT/shop","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"cd ../link && git checkout -- ."}}"#;
    let held_up = format!(
        r#"{{"call":{{"window":"pay","hook":{asks},"expect":{{"said":"hold-up","about":{{"cart":["a.rs"]}}}}}}}}"#
    );
    let answer = replay(&[r#"{"linked":{"path":"link","to":"shop"}}"#, &held_up]);
    assert!(answer.out.ends_with("wrong 0, missed 0, cannot be seen 0\n"), "{answer:?}");
}
