use super::*;

const NOTE: &str = r#"{"schema":"claimtop.binding.v1","session_id":"95fe798d-3725-4649-974a-0dec79220193","agent":"claude-code","host":"vm","boot_id":"b","pid_namespace":4026531836,"pid":4711,"start_ticks":686753,"pidfd_inode":12001,"context_id":"4711","cwd":"/x","written_at":"2026-11-20T22:00:00Z","since_boot_ms":6867530}"#;

#[track_caller]
fn check(from: &str, to: &str, is_note: bool) {
    assert_eq!(BoundSession::parse(NOTE.replace(from, to).as_bytes()).is_some(), is_note, "{from} -> {to}");
}

#[test]
fn a_note_is_read_as_it_was_written() {
    let note = BoundSession::parse(NOTE.as_bytes()).unwrap();
    assert_eq!(note.file_name(), "95fe798d-3725-4649-974a-0dec79220193.4711.json");
    assert_eq!(crate::core::model::text::json::to_line(&note).unwrap(), NOTE);
}

#[test]
fn what_could_mislead_is_no_note() {
    check("", "", true);
    check("\"pidfd_inode\":12001,", "", true);
    check("\"cwd\":\"/x\"", "\"cwd\":null,\"more\":1", true);
    check("binding.v1", "binding.v2", false);
    check("95fe798d-3725", "../95fe", false);
    check("\"pid\":4711", "\"pid\":1", false);
    check("\"pid\":4711", "\"pid\":-1", false);
    check("\"pid\":4711", "\"pid\":\"4711\"", false);
    check("\"boot_id\":\"b\",", "", false);
    assert!(BoundSession::parse(b"[5]").is_none());
}

#[test]
fn a_note_that_breaks_off_is_none() {
    for end in 0..NOTE.len() {
        assert!(BoundSession::parse(&NOTE.as_bytes()[..end]).is_none(), "{end}");
    }
}

#[test]
fn a_wait_is_read_as_it_was_written_and_is_no_binding() {
    let waiting = r#"{"wants":"permission","call":null,"since":"2026-11-20T22:00:00Z"}"#;
    let text = NOTE.replace("binding.v1", "wait.v1").replace('}', &format!(",\"waiting\":{waiting}}}"));
    let note = NotedWait::parse(text.as_bytes()).unwrap();
    assert_eq!(note.file_name(), "95fe798d-3725-4649-974a-0dec79220193.4711.wait");
    assert_eq!(crate::core::model::text::json::to_line(&note).unwrap(), text);
    assert!(BoundSession::parse(text.as_bytes()).is_none() && NotedWait::parse(NOTE.as_bytes()).is_none());
    for end in 0..text.len() {
        assert!(NotedWait::parse(&text.as_bytes()[..end]).is_none(), "{end}");
    }
    assert!(NotedWait::parse(text.replace("/x", &"x".repeat(MAX_WAIT)).as_bytes()).is_none());
}

#[test]
fn what_an_older_version_noted_of_a_wait_loses_its_secrets() {
    let call =
        r#"{"id":"","tool":"Bash --token hush","target":{"command":"redis-cli -a hush"},"since":null}"#;
    let waiting = format!(r#"{{"wants":{{"other":"my password is hush"}},"call":{call},"since":null}}"#);
    let text = NOTE.replace("binding.v1", "wait.v1").replace('}', &format!(",\"waiting\":{waiting}}}"));
    let note = crate::core::model::text::json::to_line(&NotedWait::parse(text.as_bytes()).unwrap()).unwrap();
    assert!(!note.contains("hush") && note.contains("redis-cli -a ***"), "{note}");
}

#[test]
fn only_a_size_that_can_be_true_is_noted() {
    let note = |tokens| ContextSize::new("95fe798d-3725-4649-974a-0dec79220193".into(), tokens);
    for tokens in [i64::MIN, -1, 0, 999, 100_000_001, i64::MAX] {
        assert_eq!(note(tokens), None, "{tokens}");
    }
    let kept = note(200_000).unwrap();
    assert_eq!(kept.file_name(), "95fe798d-3725-4649-974a-0dec79220193.context");
    let text = crate::core::model::text::json::to_line(&kept).unwrap();
    assert_eq!(ContextSize::parse(text.as_bytes()), Some(kept));
    assert_eq!(ContextSize::parse(text.replace("200000", "0").as_bytes()), None);
    assert_eq!(ContextSize::parse(text.replace("95fe", "../9").as_bytes()), None);
    assert_eq!(ContextSize::parse(&text.as_bytes()[..20]), None);
}

proptest::proptest! {
    #[test]
    fn reading_is_total(bytes: Vec<u8>) {
        assert!(NotedWait::parse(&bytes).is_none());
        assert!(BoundSession::parse(&bytes).is_none());
    }
}
