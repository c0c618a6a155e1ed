//! What has changed since an earlier answer.

use jiff::Timestamp;

use crate::core::history::diff::diff;
use crate::core::model::{Report, Topic};
use crate::present::answer::{AgentAnswer, Item, Quote};
use crate::present::change::{is_news, sentence};
use crate::present::text::age;

/// Answers what differs between two looks.
pub fn what_changed(before: &Report, now: &Report) -> AgentAnswer {
    let changes = diff(Some(before), now);
    let news: Vec<_> = changes.iter().filter(|change| is_news(change)).collect();
    let (verdict, advice) = if news.is_empty() {
        (("nothing", "same"), "Nothing has changed that counts: go on.")
    } else {
        (("changed", "differs"), "Ask again about what you rely on: may_i_edit, who_is_here or why.")
    };
    let says = news.iter().map(|change| Quote::new(&sentence(change)));
    let item = |change: &&crate::core::history::change::Change| Item {
        kind: change.event.name(),
        key: change.subject.keys().into_iter().next(),
        name: Some(Quote::new(&sentence(change))),
        ..Item::default()
    };
    let since = age::seconds(now.taken_at, before.taken_at).max(0);
    let mut answer = AgentAnswer::new("what_changed_since", now.taken_at, verdict, advice)
        .with_evidence(says, None)
        .with_items(news.iter().map(item).collect())
        .with_unread(now, Topic::All);
    answer.age_seconds = Some(since);
    answer
}

/// Answers that nothing is known about the moment of a token.
pub(crate) fn unknown_token(now: Timestamp) -> AgentAnswer {
    let advice = "This token is unknown here: too old, or of another server. Everything may have changed: ask again about what you rely on.";
    AgentAnswer::new("what_changed_since", now, ("unknown", "no-such-token"), advice)
}
