//! Remote sides that send what no real machine sends.

use super::apart::screen;
use super::far::{configure, json, over_all};
use super::world::World;

const HELLO: &str = r#"{"hello":{"schema":"claimtop.stream.v1","version":"0.1.0","machine":"m","store":"s","host":"h","boot":null,"pid_namespace":null,"now":"2026-11-24T00:00:00Z"}}"#;
const LOOK: &str = r#"{"look":{"at":"2026-11-24T00:00:00Z"}}"#;

/// Returns the state of one machine that a shell plays, and the reason.
#[track_caller]
fn played(script: &str) -> (String, String) {
    let world = World::new();
    let begun = format!("HELLO='{HELLO}'; LOOK='{LOOK}'; {script}");
    configure(&world, &[], &[("bad", &["sh", "-c", &begun])]);
    let answer = world.run_with(&["machines", "--json"], &[("PATH", "/usr/bin:/bin")]);
    let machine = &json(&answer)["machines"][0];
    assert!(!answer.out.contains('\u{1b}'), "{answer:?}");
    (machine["state"].as_str().unwrap().to_owned(), machine["detail"].as_str().unwrap().to_owned())
}

#[track_caller]
fn check(script: &str, state: &str, why: &str) {
    let (found, told) = played(script);
    assert_eq!(found, state, "{script}: {told}");
    assert!(told.contains(why), "{script}: {told}");
}

#[test]
fn a_greeting_before_the_hello_harms_nothing() {
    check("echo Welcome to h; echo; echo '{}'; echo $HELLO; echo $LOOK; sleep 60", "live", "");
}

#[test]
fn whoever_is_no_claimtop_is_told_so() {
    check("yes Welcome", "unreached", "it does not answer as claimtop: Welcome");
    check("yes ''", "unreached", "it does not answer as claimtop: ");
    check("exit 127", "unreached", "no claimtop is found there");
    check("echo oops >&2; exit 3", "unreached", "code 3 (oops)");
    check("printf '\\033[2J\\033]0;x\\007' >&2; exit 3", "unreached", "code 3");
    check("echo $HELLO | sed s/stream.v1/stream.v9/; sleep 60", "unreached", "speaks claimtop.stream.v9");
    check("printf %s $HELLO; exit 0", "unreached", "code 0");
    check(
        "echo \"error: unrecognized subcommand 'stream'\" >&2; exit 2",
        "unreached",
        "its claimtop is too old",
    );
}

#[test]
fn whoever_says_too_much_is_no_longer_heard() {
    check("echo $HELLO; yes garbage", "unreached", "garbled: garbage");
    check("echo $HELLO; yes ''", "unreached", "it sent more than a machine can have: 2 MiB each second");
    check("echo $HELLO; yes >&2", "unreached", "it sent more than a machine can have: 2 MiB each second");
    check("echo $HELLO; head -c 100000000 /dev/zero | tr '\\0' x", "unreached", "a line of more than 4 MiB");
    let gone = r#"{"gone":{"kind":"window","id":"w-00000000"}}"#;
    check(&format!("echo $HELLO; yes '{gone}'"), "unreached", "it sent more than a machine can have");
    check("echo $HELLO; echo $HELLO; sleep 60", "unreached", "a second hello");
    let things = r#"awk 'BEGIN { for (n = 0; n < 10000000; n++) printf("{\"part\":{\"kind\":\"broken\",\"id\":\"%d\",\"is\":{\"key\":\"r-%08x\",\"path\":\"/p\"}}}\n", n, n) }'"#;
    check(&format!("echo $HELLO; {things}"), "unreached", "it sent more than a machine can have");
}

#[test]
fn half_a_line_is_no_line_and_signs_of_life_are_no_look() {
    check("echo $HELLO; echo $LOOK; printf '{\"part\":{\"kind\"'; sleep 60", "live", "");
    let beats = r#"echo $HELLO; while echo '{"beat":{"number":1}}'; do sleep 1; done"#;
    check(beats, "unreached", "it has sent no data for 30 s");
}

#[test]
fn a_later_look_that_never_ends_is_not_waited_for() {
    let world = World::new();
    let part = r#"{"part":{"kind":"window","id":"w-00000000","is":{"is":"none"}}}"#;
    let script = format!("echo '{HELLO}'; echo '{LOOK}'; while echo '{part}'; do sleep 1; done");
    configure(&world, &[], &[("bad", &["sh", "-c", &script])]);
    let mut screen = screen(&world);
    screen.wait_for("8 Machines 1");
    screen.press("8");
    screen.wait_for("no complete scan for 30 s");
    screen.end();
}

#[test]
fn what_cannot_be_understood_is_counted_and_the_rest_is_used() {
    let world = World::new();
    let source = |id: &str| {
        format!(
            r#"{{"part":{{"kind":"source","id":"{id}","is":{{"id":"{id}","state":"ok","detail":"\u001b[31mred"}}}}}}"#
        )
    };
    let foreign = r#"{"part":{"kind":"broken","id":"x","is":{"key":"r-00000000@other","path":"/p"}}}"#;
    let later = r#"{"part":{"kind":"hologram","id":"x","is":{}}}"#;
    let begun = format!(
        "echo '{HELLO}'; echo '{}'; echo '{foreign}'; echo '{later}'; echo '{{\"future\":1}}'; echo '{LOOK}'; sleep 60",
        source("maia").replace('\\', "\\\\")
    );
    configure(&world, &[], &[("bad", &["sh", "-c", &begun])]);
    let answer = over_all(&world, &["ls", "--json"]);
    let report = json(&answer);
    assert_eq!(report["machines"][0]["not_understood"], 2, "{answer:?}");
    let sources = report["sources"].as_array().unwrap();
    let told = sources.iter().find(|source| source["id"] == "maia@bad").unwrap();
    assert_eq!(told["detail"], "\\x1B[31mred");
    assert!(!answer.out.contains('\u{1b}'), "{answer:?}");
}
