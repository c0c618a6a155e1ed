//! The page of versions.

use super::*;
use crate::core::model::{EditFate, EditState, ListedVersion, Sureness};

fn version(path: &str, session: &str, state: EditState, diff: Option<&[&str]>) -> ListedVersion {
    ListedVersion {
        path: path.into(),
        session: session.into(),
        title: None,
        agent: "codex".into(),
        at: now() - SignedDuration::from_mins(12),
        size: 120,
        from: "kept",
        sure: Sureness::Proved,
        fate: EditFate { state, since: Some(now() - SignedDuration::from_mins(3)), ..EditFate::default() },
        diff: diff.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect()),
    }
}

#[test]
fn the_versions_of_a_window_are_read_and_shown_with_their_differences() {
    let mut report = testing::busy();
    let path = "/w/pay\u{202e}.rs";
    let window = &mut report.windows[0];
    testing::edits(window, &[path, path, "/w/cart.rs"]);
    let key = window.key.clone();
    let session = window.session_id.clone().unwrap_or_default();
    let mut state = seen(report);
    while state.selected() != Some(&key) {
        press(&mut state, "j");
    }
    let effects = press(&mut state, "V");
    assert_eq!(effects, [Effect::ReadVersions(key.clone()), Effect::Redraw]);
    assert!(panel_text(&state).contains("Reading the versions"), "{}", panel_text(&state));
    let all = vec![
        version(path, session.raw(), EditState::Gone, Some(&["@@ -1 +1,2 @@", " one", "+alpha\u{1b}[31m"])),
        version(path, "s-other\u{1b}", EditState::Present, Some(&[])),
        version("/w/cart.rs", session.raw(), EditState::Unknown, None),
    ];
    update(&mut state, Msg::Versions(key.clone(), Arc::new(all)));
    let text = panel_text(&state);
    let parts = [
        "/w/pay‹U+202E›.rs\n",
        "12 min ago  120 B  kept, proved  gone for 3 min",
        "+alpha\\x1B[31m",
        "s-other\\x1B (ended)",
        "as the file is now",
        "not compared as text",
    ];
    for part in parts {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert_eq!(text.matches("/w/pay").count(), 1, "{text}");
    // What comes for another window is not shown on this one's page.
    update(&mut state, Msg::Versions(super::key("w-none"), Arc::new(Vec::new())));
    assert_eq!(panel_text(&state), text);
    update(&mut state, Msg::Versions(key, Arc::new(Vec::new())));
    assert!(panel_text(&state).contains("No hook has kept"), "{}", panel_text(&state));
    press(&mut state, "\u{1b}");
    assert!(state.layers.is_empty());
}

#[test]
fn where_no_edits_are_known_there_are_no_versions() {
    let mut state = seen(testing::busy());
    assert_eq!(press(&mut state, "V"), [Effect::Redraw]);
    assert!(state.layers.is_empty() && state.message.is_some(), "{:?}", state.message);
}
