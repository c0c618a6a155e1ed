//! Edits that had ended and came back, those that only seem to, and their owners.

use serde_json::json;

use crate::answers::replay::{BEGIN, prompt, writes};
use crate::world::World;

const NONE: &str = r#"{"said":"none"}"#;
const CART: &str = r#"{"said":"brief","about":{"cart":["a.rs"]}}"#;
const NOTE: &str = r#"{"said":"note","about":{"cart":["a.rs"]}}"#;

/// Plays lines in a world in which the window `cart` wrote `a.rs` at 5 s, and `third` works as well; every expected
/// answer must be given.
#[track_caller]
fn check(lines: &[String]) {
    let world = World::new();
    let (begin, _) = BEGIN.split_once("{\"at\":5000}").unwrap();
    let opened = r#"{"opened":{"window":"third","agent":"claude","pid":4105}}"#;
    let own = writes("cart", "1", [5_000, 5_020], NONE);
    let text = format!("{begin}{opened}\n{own}\n{}\n", lines.join("\n"));
    let path = world.write("recording.jsonl", &text);
    let answer = world.run(&["guard", "replay", path.to_str().unwrap()]);
    assert!(answer.out.ends_with("wrong 0, missed 0, cannot be seen 0\n"), "{answer:?}");
}

/// A window's shell line, and git's action for it.
fn shell(window: &str, line: &str, at: u32, git: &str) -> String {
    let call = |event: &str, expect: &str| {
        format!(
            r#"{{"call":{{"window":"{window}","hook":{{"session_id":"{window}","cwd":"$ROOT/shop","hook_event_name":"{event}","tool_name":"Bash","tool_use_id":"{window}-{at}","tool_input":{{"command":"{line}"}}}},"expect":{expect}}}}}"#
        )
    };
    let (before, after) = (call("PreToolUse", NONE), call("PostToolUse", NONE));
    format!("{{\"at\":{at}}}\n{before}\n{}\n{after}", by_git(git, at + 10))
}

fn by_git(verb: &str, at: u32) -> String {
    format!("{{\"at\":{at}}}\n{}", json!({"git": {"tree": "shop", "verb": verb}}))
}

fn wrote(path: &str, text: &str, at: u32) -> String {
    format!("{{\"at\":{at}}}\n{}", json!({"wrote": {"path": format!("shop/{path}"), "text": text}}))
}

fn asks(expect: &str, at: u32) -> String {
    format!("{{\"at\":{at}}}\n{}", prompt(expect))
}

fn committed() -> String {
    shell("cart", "git commit -am x", 6_000, "commit")
}

#[test]
fn a_commit_that_is_taken_back_holds_nothing() {
    check(&[committed(), asks(NONE, 7_000), by_git("uncommit", 8_000), asks(CART, 9_000)]);
}

#[test]
fn a_stash_that_is_brought_back_is_uncommitted_again() {
    let stashed = || shell("cart", "git stash", 6_000, "stash");
    check(&[stashed(), asks(NONE, 7_000), by_git("stash-pop", 8_000), asks(CART, 9_000)]);
    let again = shell("cart", "git commit -am x", 10_000, "commit");
    check(&[stashed(), by_git("stash-pop", 8_000), asks(CART, 9_000), again, asks(NONE, 11_000)]);
}

#[test]
fn what_came_back_stays_open_below_later_edits() {
    let back = [committed(), by_git("uncommit", 8_000)];
    let both = asks(r#"{"said":"brief","about":{"cart":["a.rs"],"third":["a.rs"]}}"#, 12_000);
    let edit = writes("third", "2", [10_000, 10_020], NOTE);
    check(&[&back[..], &[edit.clone(), both.clone()]].concat());
    // And through another stash.
    let away = [shell("pay", "true", 13_000, "stash"), asks(NONE, 14_000), by_git("stash-pop", 15_000)];
    let both_again = both.replace("12000", "16000");
    check(&[&back[..], &[edit, both], &away, &[both_again]].concat());
}

#[test]
fn what_only_seems_to_come_back_is_nobodys() {
    let by_hand = |text: &str| wrote("a.rs", text, 9_000);
    check(&[committed(), by_hand("2\n"), asks(NONE, 10_000)]);
    // The commit is gone, and its contents with it.
    let gone = [by_git("uncommit", 8_000), by_git("reset-hard", 8_500)];
    check(&[&[committed()], &gone[..], &[asks(NONE, 8_800), by_hand("2\n"), asks(NONE, 10_000)]].concat());
    // Another commit contains the edit.
    let later = [wrote("a.rs", "2\n", 8_000), by_git("commit-all", 8_100), by_hand("1\n")];
    check(&[&[committed()], &later[..], &[asks(NONE, 10_000)]].concat());
}

#[test]
fn an_edit_that_brings_a_file_back_to_the_commit_is_none() {
    let begin = [committed(), wrote("a.rs", "by hand\n", 7_000)];
    let back = writes("third", "1", [8_000, 8_020], NONE);
    check(&[&begin[..], &[back, wrote("a.rs", "by hand again\n", 9_000), asks(NONE, 10_000)]].concat());
}

#[test]
fn whom_an_edit_met_is_not_told_where_that_has_ended_before_it_was_done() {
    let overtaking = writes("cart", "0", [10_000, 10_020], NONE);
    let own = writes("third", "3", [8_000, 12_000], NONE);
    let (before, after) = own.split_once("{\"wrote\"").unwrap();
    check(&[
        before.trim_end().to_owned(),
        overtaking,
        "{\"at\":11000}".to_owned(),
        format!("{{\"wrote\"{after}"),
    ]);
}

#[test]
fn a_stash_without_new_files_leaves_them_to_all_who_edited_them() {
    let new = |own: &str| own.replace("a.rs", "new.rs");
    let first = new(&writes("cart", "1", [7_000, 7_020], NONE));
    let second = new(&writes("third", "2", [8_000, 8_020], NOTE));
    let both = |at| asks(r#"{"said":"brief","about":{"cart":["new.rs"],"third":["new.rs"]}}"#, at);
    let stashed = |verb| shell("cart", "true", 10_000, verb);
    check(&[
        committed(),
        first.clone(),
        second.clone(),
        wrote("a.rs", "2\n", 9_000),
        stashed("stash"),
        both(11_000),
    ]);
    check(&[committed(), first, second, stashed("stash-all"), asks(NONE, 11_000)]);
}

#[test]
fn a_session_goes_by_its_last_window_that_a_hook_has_shown() {
    let died = r#"{"died":"cart"}"#.to_owned();
    let opened = r#"{"opened":{"window":"again","agent":"claude","pid":4200}}"#.to_owned();
    let expect = r#"{"said":"hold-up","about":{"again":["a.rs"]}"#;
    let stash = |expect: &str, at: u32| {
        shell("third", "git stash", at, "x")
            .replacen(NONE, expect, 1)
            .split_once("\n{\"at\"")
            .unwrap()
            .0
            .to_owned()
    };
    // No hook of the new window has run: the one that died is named, and nothing else can be known.
    let unseen = format!("{expect},\"earlier\":{{\"again\":[\"cart\"]}}}}");
    check(&[died.clone(), opened.clone(), stash(&unseen, 9_000)]);
    let shown = asks(NONE, 8_000)
        .replace("pay", "again")
        .replace("\"session_id\":\"again\"", "\"session_id\":\"cart\"");
    check(&[died, opened, shown, stash(&format!("{expect}}}"), 9_000)]);
}

#[test]
fn what_a_dead_window_had_edited_is_foreign_to_what_it_ran() {
    let below = r#"{"opened":{"window":"below","agent":"gemini","pid":4300,"below":"cart"}}"#;
    let asks = |expect: &str, at: u32| {
        let hook = r#"{"session_id":"below","cwd":"$ROOT/shop","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"git stash"}}"#;
        format!("{{\"at\":{at}}}\n{{\"call\":{{\"window\":\"below\",\"hook\":{hook},\"expect\":{expect}}}}}")
    };
    let held_up = r#"{"said":"hold-up","about":{"cart":["a.rs"]}}"#;
    check(&[below.to_owned(), asks(NONE, 7_000), r#"{"died":"cart"}"#.to_owned(), asks(held_up, 9_000)]);
}

#[test]
fn an_edit_after_a_commit_between_its_hooks_is_not_in_it() {
    let own = writes("cart", "2", [8_000, 8_020], NONE);
    let (before, rest) = own.split_once("{\"wrote\"").unwrap();
    let (text, after) = rest.split_once('\n').unwrap();
    let (before, write, after) =
        (before.trim_end().to_owned(), format!("{{\"wrote\"{text}"), after.to_owned());
    let (other, commit) = (wrote("b.rs", "1\n", 8_005), by_git("commit-all", 8_010));
    let over = |expect: &str| [wrote("a.rs", "by hand\n", 10_000), asks(expect, 12_000)];
    let begin = [committed(), before, other];
    check(&[&begin[..], &[commit.clone(), write.clone(), after.clone()], &over(CART)].concat());
    // This one has the edit.
    check(&[&begin[..], &[write, commit, after], &over(NONE)].concat());
}
