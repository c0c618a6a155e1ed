//! Checks shared by the tests of all adapters.

use crate::core::model::snapshot::work::{Call, Doing, Edit};
use crate::format::testing::fixture;
use crate::format::work::{Adapter, Draft};

/// Reads a text whole.
pub(crate) fn whole(adapter: Adapter, text: &str) -> Draft {
    let mut draft = Draft::default();
    text.lines().for_each(|line| draft.line(adapter, line.as_bytes()));
    draft
}

/// Checks that any tail that is enough gives the same facts as the whole text, wherever the text ends. Returns how
/// many such states there were.
#[track_caller]
pub(crate) fn check_tails(adapter: Adapter, text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    for end in 1..=lines.len() {
        let all = whole(adapter, &lines[..end].join("\n")).doing();
        let settled = (0..end).rev().map(|start| whole(adapter, &lines[start..end].join("\n")));
        let shortest = settled.enumerate().find(|(_, draft)| (adapter.is_settled)(draft));
        if let Some((lines, draft)) = shortest {
            let mut tail = draft.doing();
            // A list names files and not when they were edited; results, which come before it, do.
            let is_known = |edit: &Edit| all.edits.iter().any(|other| other.path == edit.path);
            assert!(tail.edits.iter().all(is_known));
            if !draft.has_all_edits {
                assert!(tail.edits.iter().all(|edit| all.edits.contains(edit)));
            }
            tail.edits.clone_from(&all.edits);
            // As many of the last commands as stand in it.
            assert!(all.commands.ends_with(&tail.commands));
            tail.commands.clone_from(&all.commands);
            assert_eq!(tail, all, "the last {} lines of {end}", lines + 1);
        }
    }
    lines.len()
}

/// Checks that a line that breaks off at any place is counted and has no effect.
#[track_caller]
pub(crate) fn check_torn(adapter: Adapter, lines: &[&str]) {
    for (line, end) in lines.iter().flat_map(|line| (1..line.len()).map(move |end| (line, end))) {
        let mut draft = Draft::default();
        draft.line(adapter, &line.as_bytes()[..end]);
        assert_eq!((draft.skipped, draft.doing()), (1, Doing::default()), "the first {end} bytes of {line}");
    }
}

/// Checks the tails of real files, if they exist, and that each file is enough as a whole. Returns the facts at the
/// end of each.
#[track_caller]
pub(crate) fn check_fixtures<const N: usize>(adapter: Adapter, names: [&str; N]) -> Option<[Doing; N]> {
    let mut found = names.map(|_| Doing::default());
    for (doing, name) in found.iter_mut().zip(names) {
        let text = fixture(&format!("work/{name}"))?;
        let text = String::from_utf8_lossy(&text);
        check_tails(adapter, &text);
        let draft = whole(adapter, &text);
        assert!((adapter.is_settled)(&draft), "{name}");
        assert_eq!(draft.skipped, 0, "{name}");
        *doing = draft.doing();
    }
    Some(found)
}

/// Returns the open calls: each tool, and its target.
pub(crate) fn calls(doing: &Doing) -> Vec<(&str, &str)> {
    fn pair(call: &Call) -> (&str, &str) {
        (call.tool.raw(), call.target.as_ref().map_or("", |target| target.text().raw()))
    }
    doing.calls.iter().map(pair).collect()
}

/// Returns the paths of the edited files.
pub(crate) fn edits(doing: &Doing) -> Vec<&str> {
    doing.edits.iter().map(|edit| edit.path.raw()).collect()
}

/// Returns the last prompt.
pub(crate) fn prompt(doing: &Doing) -> Option<&str> {
    doing.prompt.as_ref().map(|prompt| prompt.text.raw())
}
