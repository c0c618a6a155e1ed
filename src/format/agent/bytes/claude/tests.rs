use super::*;
use crate::format::agent::bytes::copies::hash_of;
use crate::format::agent::bytes::testing::{World, check_all, shown as one, version};
use crate::format::agent::bytes::version::Bounds;

/// A result of Edit; the text and the patch are JSON.
fn edit(id: &str, (old, new): (&str, &str), original: &str, (start, patch): (usize, &str)) -> String {
    result(
        id,
        &format!(
            r#""filePath":"a","oldString":{old},"newString":{new},"originalFile":{original},"structuredPatch":[{{"oldStart":{start},"oldLines":9,"newStart":{start},"newLines":9,"lines":[{patch}]}}],"userModified":false,"replaceAll":false"#
        ),
    )
}

fn result(id: &str, result: &str) -> String {
    format!(
        r#"{{"type":"user","timestamp":"2026-11-28T10:00:00.000Z","cwd":"/w","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"{id}"}}]}},"toolUseResult":{{{result}}}}}"#
    )
}

fn write(id: &str, content: &str, original: &str) -> String {
    let kind = if original == "null" { "create" } else { "update" };
    result(
        id,
        &format!(
            r#""type":"{kind}","filePath":"/w/a","content":{content},"structuredPatch":[],"originalFile":{original}"#
        ),
    )
}

fn call(id: &str, name: &str, input: &str) -> String {
    format!(
        r#"{{"type":"assistant","timestamp":"2026-11-28T10:00:00.000Z","cwd":"/w","message":{{"content":[{{"type":"tool_use","id":"{id}","name":"{name}","input":{{"file_path":"/w/a",{input}}}}}]}}}}"#
    )
}

/// The line before the first edit; the copy is JSON.
fn delta(copy: &str, version: u32) -> String {
    format!(
        r#"{{"type":"file-history-delta","trackingPath":"a","backup":{{"backupFileName":{copy},"version":{version},"realParentDir":"/w"}},"timestamp":"2026-11-28T10:00:00.000Z"}}"#
    )
}

/// The line of a prompt.
fn snapshot(copy: &str, version: u32) -> String {
    format!(
        r#"{{"type":"file-history-snapshot","snapshot":{{"trackedFileBackups":{{"a":{{"backupFileName":{copy},"version":{version},"realParentDir":"/w"}}}},"timestamp":"2026-11-28T10:00:00.000Z"}},"isSnapshotUpdate":false}}"#
    )
}

/// The name of a copy of `/w/a`, and as JSON.
fn copy(number: u32) -> (String, String) {
    let name = format!("{}@v{number}", hash_of(Path::new("/w/a")));
    (name.clone(), format!("\"{name}\""))
}

/// Checks one edit of a file with a copy.
#[track_caller]
fn check(base: &[u8], (old, new): (&str, &str), (start, patch): (usize, &str), expected: &str) {
    let (name, json) = copy(1);
    let lines = [delta(&json, 1), edit("1", (old, new), "null", (start, patch))];
    let world = World::default().copy(&name, base);
    check_all(rebuilt, &lines, &world, &[expected]);
}

#[test]
fn crlf_stays_if_most_lines_have_it() {
    let lines = r#"" a","-b","+B"," c""#;
    check(b"a\r\nb\r\nc\n", (r#""b""#, r#""B""#), (1, lines), "1 rebuilt a\r\nB\r\nc\r\n");
    check(b"a\r\nb\nc\n", (r#""b""#, r#""B""#), (1, lines), "1 rebuilt a\nB\nc\n");
}

#[test]
fn a_byte_order_mark_and_utf_16_stay() {
    let lines = "\" \u{feff}a\",\"-b\",\"+B\"";
    check(b"\xEF\xBB\xBFa\nb\n", (r#""b""#, r#""B""#), (1, lines), "1 rebuilt \u{feff}a\nB\n");
    let (name, json) = copy(1);
    let all = [delta(&json, 1), edit("1", (r#""b""#, r#""B""#), "\"\u{feff}a\\nb\\n\"", (1, lines))];
    let world = World::default().copy(&name, b"\xFF\xFEa\0\n\0b\0\n\0");
    let versions = version(rebuilt, &all, &world);
    assert_eq!(versions[0].bytes.as_ref().unwrap().as_slice(), b"\xFF\xFEa\0\n\0B\0\n\0");
}

#[test]
fn typographic_quotation_marks_are_those_of_the_patch() {
    let lines = "\"-say \u{201c}a\u{201d}\",\"+say \u{201c}b\u{201d}\",\" end\"";
    let old = "say \u{201c}a\u{201d}\nend\n";
    let strings = ("\"say \u{201c}a\u{201d}\"", r#""say \"b\"""#);
    check(old.as_bytes(), strings, (1, lines), "1 rebuilt say \u{201c}b\u{201d}\nend\n");
}

#[test]
fn tabs_are_shown_as_two_spaces_and_stay_tabs() {
    let lines = "\"-  if \u{201c}a\u{201d} {\",\"-    x\",\"+  if \u{201c}b\u{201d} {\",\"+      y\"";
    let old = "\tif \u{201c}a\u{201d} {\n\t\tx\n";
    let strings = ("\"\u{201c}a\u{201d} {\\n\\t\\tx\"", r#""\"b\" {\n\t\t\ty""#);
    check(old.as_bytes(), strings, (1, lines), "1 rebuilt \tif \u{201c}b\u{201d} {\n\t\t\ty\n");
    check(b"\ta\n", (r#""a""#, r#""b""#), (1, r#""-  a","+  b""#), "1 rebuilt \tb\n");
    // What the model's text does not show is not guessed.
    check(b"\ta\n", (r#""a""#, r#""b""#), (1, r#""-  a","+    other""#), "1 partial -");
}

#[test]
fn an_empty_text_takes_the_end_of_its_line() {
    check(b"a\nb\nc\n", (r#""b""#, r#""""#), (1, r#"" a","-b"," c""#), "1 rebuilt a\nc\n");
    check(b"a\nb\nc\n", (r#""b\n""#, r#""""#), (1, r#"" a","-b"," c""#), "1 rebuilt a\nc\n");
    check(b"a\nb\nc\n", (r#""b""#, r#""""#), (1, r#"" a","-b","+"," c""#), "1 rebuilt a\n\nc\n");
    check(b"a\nb", (r#""b""#, r#""""#), (1, r#"" a","-b""#), "1 rebuilt a\n");
}

#[test]
fn all_are_replaced_if_that_was_asked_for() {
    let (name, json) = copy(1);
    let line = edit("1", (r#""a""#, r#""$&""#), "null", (1, r#""-a a","+$& $&"," b""#));
    let lines = [delta(&json, 1), line.replace("\"replaceAll\":false", "\"replaceAll\":true")];
    check_all(rebuilt, &lines, &World::default().copy(&name, b"a a\nb\n"), &["1 rebuilt $& $&\nb\n"]);
}

#[test]
fn a_line_without_an_end_stays_so() {
    let lines = r#"" a","-b","\\ No newline at end of file","+B","\\ No newline at end of file""#;
    check(b"a\nb", (r#""b""#, r#""B""#), (1, lines), "1 rebuilt a\nB");
}

#[test]
fn a_patch_that_does_not_fit_is_noticed() {
    for (start, lines) in [(2, r#""-b","+B"," d""#), (9, r#""-b","+B""#)] {
        check(b"a\nb\nc\n", (r#""b""#, r#""B""#), (start, lines), "1 partial -");
    }
    check(b"a\nx\nc\n", (r#""b""#, r#""B""#), (2, r#""-b","+B""#), "1 partial -");
}

#[test]
fn without_a_base_line_ends_are_assumed_until_something_shows_them() {
    let lines = [edit("1", (r#""b""#, r#""B""#), r#""a\nb\n""#, (1, r#"" a","-b","+B""#))];
    check_all(rebuilt, &lines, &World::default(), &["1 partial a\nB\n"]);
    check_all(rebuilt, &lines, &World::default().in_git("/w/a", b"a\r\nb\r\n"), &["1 rebuilt a\r\nB\r\n"]);
    check_all(rebuilt, &lines, &World::default().in_git("/w/a", b"x\r\ny\r\n"), &["1 partial a\r\nB\r\n"]);
    check_all(rebuilt, &lines, &World::default().present("/w/a", b"a\r\nB\r\n"), &["1 proved a\r\nB\r\n"]);
    check_all(rebuilt, &lines, &World::default().present("/w/a", b"other"), &["1 partial a\nB\n"]);
    // The agent does not write this: another process has.
    check_all(rebuilt, &lines, &World::default().present("/w/a", b"a\r\nB\n"), &["1 partial a\nB\n"]);
    let next = edit("2", (r#""a""#, r#""A""#), r#""a\nB\n""#, (1, r#""-a","+A"," B""#));
    let lines = [lines[0].clone(), next];
    let world = World::default().present("/w/a", b"A\r\nB\r\n");
    check_all(rebuilt, &lines, &world, &["1 proved a\r\nB\r\n", "2 proved A\r\nB\r\n"]);
    // Without any line end there is nothing to assume.
    let lines = [edit("1", (r#""a""#, r#""b\nc\n""#), r#""a""#, (1, r#""-a","+b","+c""#))];
    check_all(rebuilt, &lines, &World::default(), &["1 rebuilt b\nc\n"]);
}

#[test]
fn the_next_old_text_or_copy_proves_a_step() {
    let (first, json) = copy(1);
    let (second, json_2) = copy(2);
    let lines = [
        delta(&json, 1),
        edit("1", (r#""a""#, r#""b""#), r#""a\n""#, (1, r#""-a","+b""#)),
        edit("2", (r#""b""#, r#""c""#), r#""b\n""#, (1, r#""-b","+c""#)),
        // A line that repeats the first copy is no state of now.
        snapshot(&json, 1),
        snapshot(&json_2, 2),
        edit("3", (r#""c""#, r#""d""#), r#""x c\n""#, (1, r#""-x c","+x d""#)),
    ];
    let world = World::default().copy(&first, b"a\n").copy(&second, b"c\n");
    let expected = ["1 proved b\n", "2 proved c\n", "3 partial x d\n"];
    check_all(rebuilt, &lines, &world, &expected);
    let expected = ["1 proved b\n", "2 rebuilt c\n", "3 partial x d\n"];
    check_all(rebuilt, &lines, &World::default().copy(&first, b"a\n"), &expected);
}

#[test]
fn write_keeps_every_byte_that_the_model_gave() {
    let (name, json) = copy(1);
    let lines =
        [delta(&json, 1), write("1", r#""a\r\nb\n""#, r#""x\n""#), write("2", r#""c""#, r#""a\nb\n""#)];
    let world = World::default().copy(&name, b"x\r\n");
    check_all(rebuilt, &lines, &world, &["1 proved a\r\nb\n", "2 rebuilt c"]);
    let versions = version(rebuilt, &lines, &world);
    assert_eq!(versions[0].began_from.as_ref().unwrap().as_slice(), b"x\r\n");
    let world = World::default().copy(&name, b"\xFF\xFEx\0");
    let lines = [delta(&json, 1), write("1", "\"\u{feff}y\"", "\"\u{feff}x\"")];
    assert_eq!(version(rebuilt, &lines, &world)[0].bytes.as_ref().unwrap().as_slice(), b"\xFF\xFEy\0");
    let lines = [write("1", r#""new\n""#, "null"), delta("null", 1), snapshot("null", 2)];
    check_all(rebuilt, &lines, &World::default(), &["1 rebuilt new\n"]);
}

#[test]
fn an_edit_may_make_a_new_file() {
    let line = edit("1", (r#""""#, r#""new\n""#), r#""""#, (1, r#""+new""#));
    check_all(rebuilt, &[delta("null", 1), line], &World::default(), &["1 rebuilt new\n"]);
}

#[test]
fn a_notebook_is_whole() {
    let line = result(
        "1",
        r#""notebook_path":"/w/a","original_file":"{\n}","updated_file":"{\n1}","edit_mode":"insert""#,
    );
    check_all(
        rebuilt,
        std::slice::from_ref(&line),
        &World::default().in_git("/w/a", b"{\r\n}"),
        &["1 rebuilt {\r\n1}"],
    );
    check_all(rebuilt, &[line], &World::default(), &["1 partial {\n1}"]);
}

#[test]
fn failed_and_repeated_results_give_nothing() {
    let failed = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","is_error":true}]},"toolUseResult":"Error: x","cwd":"/w"}"#;
    let line = write("2", r#""a""#, "null");
    let lines = [call("1", "Write", r#""content":"x""#), failed.to_owned(), line.clone(), line];
    check_all(rebuilt, &lines, &World::default(), &["2 rebuilt a"]);
}

#[test]
fn a_call_without_a_result_may_have_written() {
    let (name, json) = copy(1);
    let cut = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","is_error":true}]},"toolDenialKind":"interrupted","toolUseResult":"x","cwd":"/w"}"#;
    let lines = [call("1", "Edit", r#""old_string":"a","new_string":"b""#), cut.to_owned()];
    let world = || World::default().copy(&name, b"a\n");
    check_all(rebuilt, &lines, &world(), &["1 partial b\n"]);
    check_all(rebuilt, &lines, &world().present("/w/a", b"b\n"), &["1 proved b\n"]);
    check_all(rebuilt, &lines, &world().present("/w/a", b""), &["1 partial b\n"]);
    check_all(rebuilt, &lines, &world().present("/w/a", b"a\n"), &[]);
    let lines =
        [lines[0].clone(), delta(&json, 1), edit("2", (r#""b""#, r#""c""#), r#""b\n""#, (1, r#""-b","+c""#))];
    check_all(rebuilt, &lines, &world(), &["1 proved b\n", "2 rebuilt c\n"]);
    let lines = [call("1", "Write", r#""content":"new""#), delta("null", 1)];
    check_all(rebuilt, &lines, &World::default().present("/w/a", b"new"), &["1 proved new"]);
}

#[test]
fn sub_agents_and_the_session_are_followed_in_order() {
    let at = |line: String, seconds: u32| line.replace("10:00:00.000", &format!("10:00:{seconds:02}.000"));
    let (own, sub) = (
        [
            at(write("1", r#""a\n""#, "null"), 1),
            at(edit("3", (r#""b""#, r#""c""#), "null", (1, r#""-b","+c""#)), 3),
        ],
        at(edit("2", (r#""a""#, r#""b""#), r#""a\n""#, (1, r#""-a","+b""#)), 2),
    );
    let own = own.join("\n");
    let streams = [
        Stream { sub_agent: None, text: own.as_bytes() },
        Stream { sub_agent: Some("s".into()), text: sub.as_bytes() },
    ];
    let around = World::default();
    let result = rebuilt(&streams, Ask { around: &around, wanted: None, bounds: Bounds::USUAL });
    let all: Vec<String> = result.versions.iter().map(one).collect();
    assert_eq!(all, ["1 proved a\n", "2 rebuilt b\n", "3 rebuilt c\n"]);
    assert_eq!(result.versions[1].sub_agent, Some("s".into()));
}

/// Rebuilds with bounds and a list of wanted files, and returns the versions and how much was left out.
fn bounded(
    lines: &[String],
    world: &World,
    wanted: Option<&[PathBuf]>,
    bounds: Bounds,
) -> (Vec<String>, u64) {
    let text = lines.join("\n");
    let streams = [Stream { sub_agent: None, text: text.as_bytes() }];
    let result = rebuilt(&streams, Ask { around: world, wanted, bounds });
    (result.versions.iter().map(one).collect(), result.left_out)
}

#[test]
fn hostile_lines_are_bounded() {
    let (line, world) = (write("1", r#""abc""#, "null"), World::default());
    let check = |lines: &[String], bounds, expected: (&[&str], u64)| {
        let (versions, left_out) = bounded(lines, &world, None, bounds);
        assert_eq!(versions, expected.0);
        assert_eq!(left_out, expected.1);
    };
    let usual = Bounds::USUAL;
    let strange = ["/w/../etc/a", "../a", "/w/\\u0000", "/"].map(|path| line.replace("/w/a", path));
    check(&strange, usual, (&[], 4));
    let no_json =
        ["{\"structuredPatch\"", "\"structuredPatch\" \u{0}", "[]\"structuredPatch\""].map(String::from);
    check(&no_json, usual, (&[], 3));
    check(std::slice::from_ref(&line), Bounds { line: 100, ..usual }, (&[], 1));
    check(std::slice::from_ref(&line), Bounds { file: 2, ..usual }, (&["1 partial -"], 0));
    let lines = [line.clone(), write("2", r#""def""#, r#""abc""#), write("3", r#""ghi""#, r#""def""#)];
    check(&lines, Bounds { steps: 1, ..usual }, (&["3 rebuilt ghi"], 2));
    let expected = ["1 proved abc", "2 proved def", "3 partial -"];
    check(&lines, Bounds { made: 6, ..usual }, (&expected, 0));
    let kept = Bounds { kept: 6, ..usual };
    check(&lines, kept, (&["1 partial -", "2 proved def", "3 rebuilt ghi"], 0));
    let deep = format!("{}{}", "[".repeat(100_000), "\"structuredPatch\"");
    check(&[deep], usual, (&[], 1));
}

#[test]
fn a_copy_is_only_one_by_its_name() {
    let (_, json) = copy(1);
    for name in [
        "\"../../secret\"",
        "\"0123456789abcdef@v1/../x\"",
        "\"a@v1\"",
        "\"0123456789abcdef@v\"",
        json.as_str(),
    ] {
        let strange = name.trim_matches('"');
        let world = World::default().copy(strange, b"a\n");
        let lines = [delta(name, 1), edit("1", (r#""a""#, r#""b""#), "null", (1, r#""-a","+b""#))];
        let expected = if name == json { "1 rebuilt b\n" } else { "1 partial -" };
        check_all(rebuilt, &lines, &world, &[expected]);
    }
}

#[test]
fn only_wanted_files_are_rebuilt() {
    let lines = [write("1", r#""a""#, "null"), write("2", r#""b""#, "null").replace("/w/a", "/w/b")];
    let wanted = |path: &str| bounded(&lines, &World::default(), Some(&[PathBuf::from(path)]), Bounds::USUAL);
    assert_eq!(wanted("/w/b"), (vec!["2 rebuilt b".to_owned()], 0));
    assert_eq!(wanted("/other/b"), (vec![], 0));
    assert_eq!(wanted("/w/\u{e9}"), (vec![], 0));
    // The result of a refused call does not name its file.
    let refused = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","is_error": true}]},"toolUseResult":"User rejected tool use","cwd":"/w"}"#;
    let lines = [call("1", "Write", r#""content":"x""#), refused.to_owned()];
    let wanted = [PathBuf::from("/w/a")];
    assert_eq!(bounded(&lines, &World::default(), Some(&wanted), Bounds::USUAL), (vec![], 0));
}

#[test]
fn a_copy_that_another_session_has_made_shows_the_line_ends() {
    let (name, _) = copy(3);
    let lines = [
        edit("1", (r#""b""#, r#""B""#), r#""a\nb\n""#, (1, r#"" a","-b","+B""#)),
        edit("2", (r#""a""#, r#""A""#), r#""a\nB\n""#, (1, r#""-a","+A"," B""#)),
    ];
    for (at, expected) in [
        (&b"a\r\nb\r\n"[..], ["1 proved a\r\nB\r\n", "2 rebuilt A\r\nB\r\n"]),
        (b"a\r\nB\r\n", ["1 proved a\r\nB\r\n", "2 rebuilt A\r\nB\r\n"]),
        (b"A\r\nB\r\n", ["1 proved a\r\nB\r\n", "2 proved A\r\nB\r\n"]),
        (b"other\r\n", ["1 partial a\nB\n", "2 partial A\nB\n"]),
    ] {
        check_all(rebuilt, &lines, &World::default().copy(&name, at), &expected);
        let world = World::default().copy(&name, at).present("/w/a", b"another");
        check_all(rebuilt, &lines, &world, &expected);
    }
}
