//! Collisions of one kind as one line, where there are many.

use std::collections::BTreeSet;

use crate::core::model::{Code, Key, KeyKind, Need, NeedKind};
use crate::present::need::between::saying;
use crate::present::text::count;

/// So many of one kind are reported one by one.
const MOST: usize = 3;

/// Makes one need of more than three collisions of one kind, in the place of the first.
///
/// Lost edits and windows that run one session stay by themselves, for each has a key of its own.
pub(crate) fn merged(mut needs: Vec<Need>) -> Vec<Need> {
    let kinds: BTreeSet<Code> = needs.iter().filter_map(kind).collect();
    for code in kinds {
        let is_it = |need: &Need| kind(need) == Some(code);
        if needs.iter().filter(|need| is_it(need)).count() <= MOST {
            continue;
        }
        let Some(first) = needs.iter().position(is_it) else { continue };
        let (alike, others): (Vec<Need>, Vec<Need>) = needs.into_iter().partition(is_it);
        needs = others;
        if let Some(one) = alike.first() {
            let key = Key::derive(KeyKind::Need, &["alike", code.name()]);
            let subject = one.subject.clone();
            needs.insert(
                first,
                Need { key, subject, since: None, kind: NeedKind::Alike { code, needs: alike } },
            );
        }
    }
    needs
}

/// Returns the kind of a collision that may be reported with others.
fn kind(need: &Need) -> Option<Code> {
    let NeedKind::Collision { code, .. } = &need.kind else { return None };
    Some(*code).filter(|code| !matches!(code, Code::LostEdits | Code::SharedSessionId))
}

/// Says what several collisions of one kind are about, and the way out that is the same for all.
pub(crate) fn described(code: Code, needs: &[Need]) -> (String, String) {
    let windows: BTreeSet<&Key> = needs
        .iter()
        .filter_map(
            |need| if let NeedKind::Collision { windows, .. } = &need.kind { Some(windows) } else { None },
        )
        .flatten()
        .collect();
    let number = match windows.len() {
        0 => count(needs.len(), "collision"),
        windows => count(windows, "window"),
    };
    let (_, shared, alone, way) = saying(code).unwrap_or((code, code.name(), None, ""));
    let alone = alone.map(|alone| alone.strip_prefix("has ").unwrap_or(alone));
    let what = alone.filter(|alone| alone.starts_with("a ")).unwrap_or(shared);
    let way = if way.contains("{}") { "" } else { way };
    (format!("{number}: {what}"), way.to_owned())
}
