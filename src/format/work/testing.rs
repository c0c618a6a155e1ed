//! Checks that every adapter's tests share.

use crate::format::work::{Adapter, Draft};

/// Reads a text whole.
pub(crate) fn whole(adapter: Adapter, text: &str) -> Draft {
    let mut draft = Draft::default();
    text.lines().for_each(|line| draft.line(adapter, line.as_bytes()));
    draft
}

/// Checks that whatever tail is enough says what the whole text says, wherever the text ends.
/// Returns how many states that were.
#[track_caller]
pub(crate) fn check_tails(adapter: Adapter, text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    for end in 1..=lines.len() {
        let all = whole(adapter, &lines[..end].join("\n")).doing();
        let settled = (0..end).rev().map(|start| whole(adapter, &lines[start..end].join("\n")));
        let shortest = settled.enumerate().find(|(_, draft)| (adapter.is_settled)(draft));
        if let Some((lines, draft)) = shortest {
            let mut tail = draft.doing();
            if !draft.has_all_edits {
                assert!(tail.edits.iter().all(|edit| all.edits.contains(edit)));
                tail.edits.clone_from(&all.edits);
            }
            assert_eq!(tail, all, "the last {} lines of {end}", lines + 1);
        }
    }
    lines.len()
}
