//! Odd settings, and what becomes of them.

use proptest::prelude::*;

use super::*;
use crate::core::model::{HookEntries, HookEntry, HookForm, ServerEntry};

const CLAUDE: &str = "claimtop guard --for claude";
const SERVER: &str = r#"{ "command": "claimtop", "args": ["mcp"] }"#;
const TOOLS: &str = "Write|Edit|NotebookEdit|Bash|mcp__.*";

fn hook(event: &str, matcher: &str, command: &str) -> HookEntry {
    HookEntry { event: event.to_owned(), matcher: matcher.to_owned(), command: command.to_owned() }
}

/// What belongs into Claude Code's settings.
fn claude() -> Wiring {
    Wiring::Hooks(HookEntries {
        form: HookForm::Groups,
        hooks: vec![
            hook("SessionStart", "", "claimtop bind"),
            hook("UserPromptSubmit", "", CLAUDE),
            hook("PreToolUse", TOOLS, CLAUDE),
        ],
        status_line: Some("claimtop statusline".to_owned()),
        server: None,
    })
}

/// What belongs into Gemini CLI's settings, which has two hooks at one event.
fn gemini() -> Wiring {
    let bind = "claimtop bind || true";
    let guard = "claimtop guard --for gemini || true";
    Wiring::Hooks(HookEntries {
        form: HookForm::Groups,
        hooks: vec![
            hook("SessionStart", "", bind),
            hook("AfterTool", "", bind),
            hook("AfterTool", "write_file|replace|run_shell_command", guard),
        ],
        status_line: None,
        server: Some(ServerEntry { list: "mcpServers".to_owned(), value: SERVER.to_owned() }),
    })
}

fn copilot() -> Wiring {
    let hooks = vec![
        hook("SessionStart", "", "claimtop bind || true"),
        hook("PreToolUse", "", "claimtop guard --for copilot || true"),
    ];
    Wiring::Hooks(HookEntries { form: HookForm::Flat, hooks, status_line: None, server: None })
}

#[track_caller]
fn new_text(text: Option<&[u8]>, wiring: &Wiring, way: SetupWay) -> Vec<u8> {
    match edited(text, wiring, way).unwrap().change {
        SettingsChange::New(new) => new,
        change @ (SettingsChange::Same | SettingsChange::Gone) => panic!("{change:?}"),
    }
}

/// Adds, checks that nothing was lost, that nothing is missing then, and that a removal leaves the text as it was.
#[track_caller]
fn check_round(text: &[u8], wiring: &Wiring) -> Vec<u8> {
    let shown = String::from_utf8_lossy(text);
    let added = new_text(Some(text), wiring, SetupWay::Add);
    let new = String::from_utf8_lossy(&added);
    let mut rest = added.iter();
    assert!(text.iter().all(|byte| rest.any(|other| other == byte)), "bytes are missing:\n{shown}\n{new}");
    let again = edited(Some(&added), wiring, SetupWay::Add).unwrap();
    assert_eq!(again.change, SettingsChange::Same, "{new}");
    let back = new_text(Some(&added), wiring, SetupWay::Remove);
    assert_eq!(String::from_utf8_lossy(&back), shown, "by way of:\n{new}");
    added
}

#[track_caller]
fn check_refused(text: &[u8], expected: &str) {
    let fault = edited(Some(text), &claude(), SetupWay::Add).unwrap_err();
    assert_eq!(fault.to_string(), expected);
}

const OTHERS: &str = r#"{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "/usr/local/bin/check" }
        ]
      }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "command": "beep" }] }]
  },
  "permissions": { "allow": ["Read"] }
}
"#;

/// Settings that can be read, however odd.
const ODD: [&str; 44] = [
    "",
    "\n",
    "  \r\n",
    "\u{FEFF}",
    "\u{FEFF}\n",
    "{}",
    "{}\n",
    "{ }",
    "{\n}\n",
    "{\r\n}\r\n",
    "{\n\n\n}",
    "\u{FEFF}{}\r\n",
    "// nothing yet",
    "// nothing yet\n",
    "/* nothing\n yet */",
    "{ // nothing yet\n}",
    "{ /* nothing yet */ }",
    r#"{"model":"opus"}"#,
    r#"{"model":"opus","hooks":{}}"#,
    r#"{"hooks":{"PreToolUse":[]}}"#,
    "{\n  \"hooks\": {}\n}\n",
    "{\n  \"hooks\": {\n    \"PreToolUse\": [ ]\n  }\n}\n",
    "{\n  \"hooks\": {\n    // later\n  }\n}\n",
    "{\n  \"hooks\": {\n    \"SessionStart\": [\n      // none yet\n    ]\n  }\n}\n",
    OTHERS,
    "{\n\t\"model\": \"opus\"\n}\n",
    "{\n\t\"model\": \"opus\",\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}",
    "{\n    \"model\": \"opus\"\n}",
    "{\r\n  \"model\": \"opus\"\r\n}\r\n",
    "\u{FEFF}{\r\n  \"model\": \"opus\"\r\n}",
    "{\n  \"model\": \"opus\",\n}\n",
    "{\n  \"model\": \"opus\", // the large one\n}\n",
    "{\n  \"model\": \"opus\" // the large one\n}\n",
    "{\r\n  \"model\": \"opus\" // the large one\r\n}\r\n",
    "{ \"model\": \"opus\" // the large one\n}",
    "{ \"model\": \"opus\" /* the large one */ }",
    "{\n  \"model\": \"opus\" /* the\n large one */\n  , /* a comma */\n}\n",
    "// mine\n{\n  /* all */ \"model\": \"opus\"\n}\n// end",
    "{\n  \"\\u0068ooks\": { \"PreToolUse\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"x\" }] }] }\n}\n",
    "{\"model\":\"\\ud800 alone\",\"n\":-1.5e+400,\"deep\":[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}",
    "{\"env\":{\"hooks\":{\"PreToolUse\":[]}},\"a\":{\"claimtop bind\":[1,2,{\"b\":null}]}}",
    "{\"model\":\"a\",\n\"model\":\"b\"}",
    "{\n  \"hooks\": { \"PreToolUse\": [{ \"hooks\": [] }, 5, null, { \"hooks\": 7 }, { \"hooks\": [{ \"command\": 8 }] }] }\n}",
    "{\n      \"model\": \"opus\"\n   }\n",
];

#[test]
fn odd_settings_come_back_to_the_byte() {
    for text in ODD {
        for wiring in [claude(), gemini(), copilot()] {
            check_round(text.as_bytes(), &wiring);
        }
    }
}

#[test]
fn large_settings_come_back_too() {
    let allowed: Vec<String> = (0..20_000).map(|n| format!("    \"Bash(run-{n}:*)\"")).collect();
    let text = format!("{{\n  \"allow\": [\n{}\n  ]\n}}\n", allowed.join(",\n"));
    check_round(text.as_bytes(), &claude());
    let deep = format!("{{\"a\":{}{}}}", "[".repeat(100), "]".repeat(100));
    check_round(deep.as_bytes(), &claude());
}

#[test]
fn what_cannot_be_read_is_refused_with_its_place() {
    check_refused(b"{\n  \"a\": \n}\n", "line 3, column 1: expected a value, found `}`");
    check_refused(b"{\n  \"a\": 1\n", "line 3, column 1: expected `,` or `}`, found the end");
    check_refused(b"{\"a\": 1 \"b\": 2}", "line 1, column 9: expected `,` or `}`, found `\"`");
    check_refused(b"{,}", "line 1, column 2: expected a name in quotes, found `,`");
    check_refused(b"{'a': 1}", "line 1, column 2: expected a name in quotes, found `'`");
    check_refused(b"{\"a\" 1}", "line 1, column 6: expected `:`, found `1`");
    check_refused(b"{\"a\": 01}", "line 1, column 7: expected a value, found `0`");
    check_refused(b"{\"a\": tru}", "line 1, column 7: expected a value, found `t`");
    check_refused(b"{\"a\": \"x", "line 1, column 7: a string that does not end");
    check_refused(b"{\"a\": \"\\x\"}", "line 1, column 9: a string that is not JSON");
    check_refused(b"{} {}", "line 1, column 4: expected the end, found `{`");
    check_refused(b"{}\0", "line 1, column 3: expected the end, found the character U+0000");
    check_refused(b"\0\0\0", "line 1, column 1: expected a value, found the character U+0000");
    check_refused(b"{\"a\": \"\xFF\"}", "line 1, column 8: this is not UTF-8");
    check_refused(b"\xFF\xFE{\0}\0", "line 1, column 1: this is UTF-16, not UTF-8");
    check_refused(b"{} /* a", "line 1, column 4: a comment that does not end");
    check_refused("[".repeat(200).as_bytes(), "line 1, column 130: more than 128 values in each other");
    check_refused("{\"ä\": \"ö\", x}".as_bytes(), "line 1, column 12: expected a name in quotes, found `x`");
}

#[test]
fn what_is_of_the_wrong_sort_is_refused_with_its_place() {
    check_refused(b"[]", "line 1, column 1: what is here is not an object");
    check_refused(b"\"text\"", "line 1, column 1: what is here is not an object");
    check_refused(b"{\"hooks\": []}", "line 1, column 11: `hooks` is not an object");
    check_refused(b"{\"hooks\": null}", "line 1, column 11: `hooks` is not an object");
    check_refused(b"{\"hooks\": {\"PreToolUse\": {}}}", "line 1, column 26: `PreToolUse` is not an array");
    check_refused(
        b"{\"hooks\": {},\n \"hooks\": {}}",
        "line 2, column 2: `hooks` is here for the second time",
    );
    check_refused(
        b"{\"hooks\": {\"PreToolUse\": [], \"Pre\\u0054oolUse\": []}}",
        "line 1, column 30: `PreToolUse` is here for the second time",
    );
}

#[test]
fn a_file_that_was_made_goes_again() {
    for wiring in [claude(), gemini(), copilot(), Wiring::Plugin("// claimtop".to_owned())] {
        let made = new_text(None, &wiring, SetupWay::Add);
        let again = edited(Some(&made), &wiring, SetupWay::Add).unwrap();
        assert_eq!(again.change, SettingsChange::Same);
        let gone = edited(Some(&made), &wiring, SetupWay::Remove).unwrap();
        assert_eq!(gone.change, SettingsChange::Gone, "{}", String::from_utf8_lossy(&made));
        let none = edited(None, &wiring, SetupWay::Remove).unwrap();
        assert_eq!(none.change, SettingsChange::Same);
    }
}

#[test]
fn entries_go_behind_those_of_others() {
    let added = check_round(OTHERS.as_bytes(), &claude());
    let expected = r#"{
  "model": "opus",
  "hooks": {
    "PreToolUse": [
      {
        "matcher": "Bash",
        "hooks": [
          { "type": "command", "command": "/usr/local/bin/check" }
        ]
      },
      { "matcher": "Write|Edit|NotebookEdit|Bash|mcp__.*", "hooks": [{ "type": "command", "command": "claimtop guard --for claude" }] }
    ],
    "Stop": [{ "hooks": [{ "type": "command", "command": "beep" }] }],
    "SessionStart": [
      { "hooks": [{ "type": "command", "command": "claimtop bind" }] }
    ],
    "UserPromptSubmit": [
      { "hooks": [{ "type": "command", "command": "claimtop guard --for claude" }] }
    ]
  },
  "permissions": { "allow": ["Read"] },
  "statusLine": { "type": "command", "command": "claimtop statusline" }
}
"#;
    assert_eq!(String::from_utf8(added).unwrap(), expected);
}

#[test]
fn an_earlier_form_is_updated_in_its_place() {
    let earlier = r#"{"hooks":{
  "SessionStart": [{ "hooks": [{ "type": "command", "command": "/opt/bin/claimtop bind" }] }],
  "UserPromptSubmit": [{ "hooks": [{ "command": "claimtop guard --for claude-code", "timeout": 9 }] }],
  "PreToolUse": [{ "matcher": "Write|Edit|NotebookEdit|Bash", "hooks": [{ "command": "claimtop guard --for claude" }] }]
},"statusLine":{"command":"claimtop statusline"}}"#;
    let change = edited(Some(earlier.as_bytes()), &claude(), SetupWay::Add).unwrap();
    let expected =
        earlier.replace("claude-code", "claude").replace("NotebookEdit|Bash", "NotebookEdit|Bash|mcp__.*");
    assert_eq!(change.change, SettingsChange::New(expected.into_bytes()));
    assert_eq!((change.done.as_str(), change.notes.len()), ("update 2 hooks", 0));
    let stops = r#"{"hooks":{"SessionStart":[{"hooks":[{"command":"/x/claimtop bind"}]}]}}"#;
    let new = String::from_utf8(new_text(Some(stops.as_bytes()), &gemini(), SetupWay::Add)).unwrap();
    assert!(new.contains(r#""command":"/x/claimtop bind || true""#), "{new}");
}

#[test]
fn what_a_person_has_chosen_stays() {
    let own = r#"{"statusLine":{"command":"date"},"hooks":{
  "SessionStart": [{ "hooks": [{ "command": "claimtop bind --verbose" }] }],
  "UserPromptSubmit": [{ "hooks": [{ "command": "claimtop guard --for claude || true" }] }],
  "PreToolUse": [{ "matcher": "Edit", "hooks": [{ "command": "claimtop guard --for claude" }] }]
}}"#;
    let change = edited(Some(own.as_bytes()), &claude(), SetupWay::Add).unwrap();
    assert_eq!(change.change, SettingsChange::Same);
    assert_eq!(
        change.notes,
        [
            format!("its matcher of PreToolUse stays; claimtop's is `{TOOLS}`"),
            "its own status line stays; `claimtop statusline` prints claimtop's".to_owned(),
        ]
    );
    let off = edited(Some(br#"{"disableAllHooks": true}"#), &claude(), SetupWay::Add).unwrap();
    assert_eq!(off.notes, ["`disableAllHooks` is true in it, so no hook runs"]);
}

#[test]
fn only_claimtops_own_are_removed() {
    let check = |text: &str, expected: &str| {
        let removed = new_text(Some(text.as_bytes()), &claude(), SetupWay::Remove);
        assert_eq!(String::from_utf8(removed).unwrap(), expected);
    };
    let own = r#"{ "command": "claimtop bind" }"#;
    // In a group with another's hook only the own one goes.
    check(
        &format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{{"command":"beep"}}, {own}]}}]}}}}"#),
        r#"{"hooks":{"Stop":[{"hooks":[{"command":"beep"}]}]}}"#,
    );
    check(
        &format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{own}, {{"command":"beep"}}]}}]}}}}"#),
        r#"{"hooks":{"Stop":[{"hooks":[ {"command":"beep"}]}]}}"#,
    );
    // Twice the same, in different groups and events.
    check(
        &format!(
            r#"{{"a":1,"hooks":{{"Stop":[{{"hooks":[{own}]}},{{"hooks":[{own},{own}]}}],"X":[{{"hooks":[{own}]}}]}}}}"#
        ),
        r#"{"a":1}"#,
    );
    // Comments of others stay, and end where they did.
    check(
        &format!("{{\"hooks\":{{\"Stop\":[ // mine\n{{\"hooks\":[{own}]}}]}}}}"),
        "{\"hooks\":{\"Stop\":[ // mine\n]}}",
    );
    check("{\"a\":1, // one\n \"statusLine\":{\"command\":\"claimtop statusline\"}}", "{\"a\":1 // one\n}");
    let other = br#"{"statusLine":{"command":"date; claimtop statusline"},"hooks":{"Stop":[{"hooks":[{"command":"not-claimtop bind"}]}]}}"#;
    assert_eq!(edited(Some(other), &claude(), SetupWay::Remove).unwrap().change, SettingsChange::Same);
}

#[test]
fn what_another_program_has_laid_out_anew_is_removed_all_the_same() {
    let added = new_text(Some(b"{\"model\":\"opus\"}"), &claude(), SetupWay::Add);
    let value: serde_json::Value = serde_json::from_slice(&added).unwrap();
    for text in [serde_json::to_string_pretty(&value).unwrap(), value.to_string()] {
        let removed = new_text(Some(text.as_bytes()), &claude(), SetupWay::Remove);
        let removed: serde_json::Value = serde_json::from_slice(&removed).unwrap();
        assert_eq!(removed, serde_json::json!({ "model": "opus" }));
    }
}

#[test]
fn only_an_entry_that_starts_claimtop_is_its_server() {
    let wiring = Wiring::Hooks(HookEntries {
        form: HookForm::Groups,
        hooks: Vec::new(),
        status_line: None,
        server: Some(ServerEntry { list: "mcp".to_owned(), value: SERVER.to_owned() }),
    });
    for text in [
        "{}",
        "{ \"mcp\": {} }",
        "{\r\n\t\"mcp\": {\r\n\t\t\"a\": {}, // x\r\n\t}\r\n}",
        "{\"mcp\":{\"a\":[1]}}",
    ] {
        let added = check_round(text.as_bytes(), &wiring);
        assert!(String::from_utf8(added).unwrap().contains(SERVER), "{text}");
    }
    let others = br#"{"mcp":{"claimtop":{"command":["node","claimtop.js"]}}}"#;
    let kept = edited(Some(others), &wiring, SetupWay::Add).unwrap();
    assert_eq!(
        (kept.change, kept.notes),
        (SettingsChange::Same, vec!["its own server `claimtop` stays".to_owned()])
    );
    assert_eq!(edited(Some(others), &wiring, SetupWay::Remove).unwrap().change, SettingsChange::Same);
    let list = br#"{"a":1,"mcp":{"claimtop":{"command":["/usr/bin/claimtop","mcp"]},"b":2}}"#;
    assert_eq!(new_text(Some(list), &wiring, SetupWay::Remove), br#"{"a":1,"mcp":{"b":2}}"#);
    let fault = edited(Some(b"{\n  \"mcp\": 5 }"), &wiring, SetupWay::Add).unwrap_err();
    assert_eq!(fault.to_string(), "line 2, column 10: `mcp` is not an object");
}

#[test]
fn a_plugin_of_another_is_left_alone() {
    let own = Wiring::Plugin("// claimtop 2".to_owned());
    for way in [SetupWay::Add, SetupWay::Remove] {
        let fault = edited(Some(b"export {}"), &own, way).unwrap_err();
        assert_eq!(fault.to_string(), "line 1, column 1: this file is not claimtop's");
    }
    assert_eq!(new_text(Some(b"// claimtop 1"), &own, SetupWay::Add), b"// claimtop 2");
}

#[test]
fn the_first_thing_that_is_not_json_is_named() {
    let check = |text: &str, expected: Option<&str>| {
        assert_eq!(
            beyond_json(text.as_bytes(), |_| false).map(|fault| fault.to_string()).as_deref(),
            expected
        );
    };
    check("{\"a\": \"// text\"}", None);
    check("{\n  // a\n}", Some("line 2, column 3: a comment"));
    check("{\"a\": 1,}", Some("line 1, column 8: a trailing comma"));
    check("\u{FEFF}{}", Some("line 1, column 1: a byte order mark (BOM)"));
    let taken = beyond_json(b"\xEF\xBB\xBF{} // x", |kind| kind == ExtraKind::Bom);
    assert_eq!(taken.map(|fault| fault.what).as_deref(), Some("a comment"));
}

/// White space and comments between the parts of a text.
fn gap() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => Just(String::new()),
        3 => Just(" ".to_owned()),
        3 => Just("\n  ".to_owned()),
        1 => Just("\r\n\t".to_owned()),
        1 => Just(" /* c */ ".to_owned()),
        1 => Just(" // c \u{e4}\n".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("1".to_owned()),
        Just("null".to_owned()),
        Just("\"te\\\"xt // no\"".to_owned()),
        Just("\"claimtop bind\"".to_owned()),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            list(prop::collection::vec(inner.clone(), 0..3), ('[', ']')),
            list(
                prop::collection::vec(inner, 0..3).prop_map(|all| {
                    all.iter().enumerate().map(|(n, value)| format!("\"k{n}\": {value}")).collect()
                }),
                ('{', '}')
            ),
        ]
    })
}

/// Items between brackets, with gaps everywhere and perhaps a trailing comma.
fn list(
    items: impl Strategy<Value = Vec<String>>,
    (open, close): (char, char),
) -> impl Strategy<Value = String> {
    (items, prop::collection::vec(gap(), 12), any::<bool>()).prop_map(move |(items, gaps, trails)| {
        let mut text = open.to_string();
        let mut gaps = gaps.into_iter().cycle();
        let mut gap = || gaps.next().unwrap_or_default();
        for (index, item) in items.iter().enumerate() {
            let comma = if index + 1 < items.len() || trails { "," } else { "" };
            text += &format!("{}{item}{}{comma}", gap(), gap());
        }
        format!("{text}{}{close}", gap())
    })
}

fn settings() -> impl Strategy<Value = String> {
    let group =
        prop_oneof![value(), Just(r#"{ "hooks": [{ "type": "command", "command": "beep" }] }"#.to_owned()),];
    let event = |name: &'static str| {
        list(prop::collection::vec(group.clone(), 0..3), ('[', ']'))
            .prop_map(move |groups| format!("{name}: {groups}"))
    };
    let events = (event("\"PreToolUse\""), event("\"Stop\""), event("\"SessionStart\""), 0..8_u8).prop_map(
        |(one, other, third, which)| {
            let all = [(1, one), (2, other), (4, third)];
            all.into_iter().filter(|(bit, _)| which & bit != 0).map(|(_, event)| event).collect::<Vec<_>>()
        },
    );
    let hooks = list(events, ('{', '}')).prop_map(|hooks| format!("\"hooks\": {hooks}"));
    let members = (hooks, prop::collection::vec(value(), 0..3), 0..4_usize, any::<bool>()).prop_map(
        |(hooks, others, at, is_with)| {
            let mut all: Vec<String> =
                others.iter().enumerate().map(|(n, value)| format!("\"m{n}\": {value}")).collect();
            if is_with {
                all.insert(at.min(all.len()), hooks);
            }
            all
        },
    );
    (any::<bool>(), gap(), list(members, ('{', '}')), gap()).prop_map(|(bom, before, root, after)| {
        format!("{}{before}{root}{after}", if bom { BOM_TEXT } else { "" })
    })
}

const BOM_TEXT: &str = "\u{FEFF}";

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_added_is_removed_to_the_byte(text in settings()) {
        for wiring in [claude(), gemini(), copilot()] {
            check_round(text.as_bytes(), &wiring);
        }
    }

    #[test]
    fn no_text_makes_it_fall(text in prop::collection::vec(prop_oneof![
        Just("{"), Just("}"), Just("["), Just("]"), Just("\"hooks\""), Just(":"), Just(","), Just("\""),
        Just("\\"), Just("//"), Just("/*"), Just("*/"), Just("\n"), Just("\"SessionStart\""), Just("1"), Just("\u{e4}"),
    ], 0..12)) {
        let text = text.concat();
        for way in [SetupWay::Add, SetupWay::Remove] {
            if let Ok(EditedSettings { change: SettingsChange::New(new), .. }) = edited(Some(text.as_bytes()), &claude(), way) {
                prop_assert!(scan(&new).is_ok());
            }
        }
    }
}
