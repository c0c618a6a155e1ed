//! Sessions that hold too much, or that live in a way that LEO's own signs do not show.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::rules::facts::{count, listed};
use crate::core::judge::rules::system::leo::book::{Book, named, of_item};
use crate::core::model::{
    Code, Evidence, Finding, JudgedRecord, Remedy, SignOfLife, Untrusted, VerdictState, WorkItem,
};

/// How long a session may tick without using a tool before it is reported: 60 min, LEO's own limit.
const FROZEN_AFTER: SignedDuration = SignedDuration::from_mins(60);

/// How close together the heartbeats of one host stop if that is not a death: 10 min, LEO's own rule.
const FREEZE_WITHIN: SignedDuration = SignedDuration::from_mins(10);

/// For how long such a stop is reported: 45 min, LEO's own rule.
const FREEZE_TOLD_FOR: SignedDuration = SignedDuration::from_mins(45);

/// Finds what is wrong with single sessions, and with all of a host together.
pub(crate) fn findings(book: &Book<'_>) -> Vec<Finding> {
    let several = book.held.iter().filter_map(|(session, items)| multiple(session, items, book));
    let mut found: Vec<Finding> = several.collect();
    found.extend(book.rows.iter().filter_map(|(_, judged)| frozen(judged, book)));
    found.extend(freezes(book));
    found
}

/// Returns the item that a session's own row names.
pub(crate) fn mirrored<'a>(session: &Untrusted, book: &Book<'a>) -> Option<&'a WorkItem> {
    book.held(session).iter().copied().find(|item| item.mirrors.contains(session))
}

/// One session that several items name or that names another one. A directive and one of its parts
/// may be held together.
fn multiple(session: &Untrusted, items: &[&WorkItem], book: &Book<'_>) -> Option<Finding> {
    let is_whole = |item: &&&WorkItem| items.iter().any(|part| part.parent.as_ref() == Some(&item.key));
    let own: Vec<&&WorkItem> = items.iter().filter(|item| !is_whole(item)).collect();
    let judged = book.session(session).filter(|_| own.len() > 1)?;
    let shown = match mirrored(session, book) {
        Some(item) => format!("its own row names only {}", item.key),
        None => "its own row names none".to_owned(),
    };
    let names: Vec<String> = own.iter().map(|item| item.key.shown()).collect();
    let message = format!(
        "{} holds {}, {}; {shown}: release those that it does not work on",
        named(judged, None),
        count(own.len(), "item"),
        listed(&names)
    );
    let subjects = own.iter().map(|item| book.subject(judged, item));
    let evidence: Vec<Evidence> = own.iter().map(|item| of_item(item)).chain([judged.evidence()]).collect();
    Some(Finding::new(Code::MultipleClaims, subjects, message, evidence, Remedy::Release))
}

/// A session that ticks and has used no tool for long: a prompt may wait for an answer.
fn frozen(judged: &JudgedRecord, book: &Book<'_>) -> Option<Finding> {
    let now = book.facts.world.snapshot.taken_at;
    let ticks = judged.record.signs.iter().any(|sign| sign.what == SignOfLife::Tick && sign.until > now);
    let is_holding = ticks && !judged.record.claims.is_empty() && judged.verdict.state == VerdictState::Alive;
    let last: Timestamp = judged.record.detail.leo_row().filter(|_| is_holding)?.last_tool_at?;
    let silent_for = now.duration_since(last);
    if silent_for < FROZEN_AFTER {
        return None;
    }
    let message = format!(
        "{}: its daemon still ticks, but no tool was used for {} min; a question may be waiting in its window",
        judged.record.title,
        silent_for.as_mins()
    );
    let evidence = judged.verdict.evidence.clone();
    Some(Finding::new(Code::QuietHolder, [judged.key.clone()], message, evidence, Remedy::None))
}

/// Sessions of one host whose heartbeats have stopped together: an account's limit or a lost
/// network is more likely than deaths.
fn freezes(book: &Book<'_>) -> Vec<Finding> {
    let now = book.facts.world.snapshot.taken_at;
    let mut hosts: BTreeMap<&Untrusted, Vec<(Timestamp, &JudgedRecord)>> = BTreeMap::new();
    for (_, judged) in &book.rows {
        let host = judged.record.holder.as_ref().and_then(|holder| holder.host());
        if let (Some(host), Some(at)) = (host, stopped_at(judged, now)) {
            hosts.entry(host).or_default().push((at, judged));
        }
    }
    hosts.into_iter().filter_map(|(host, stopped)| freeze(host, stopped)).collect()
}

/// Returns when a session that holds something and is not known to live was last heard of.
fn stopped_at(judged: &JudgedRecord, now: Timestamp) -> Option<Timestamp> {
    let is_open = judged.verdict.state == VerdictState::Unknown && !judged.record.has_ended;
    let at = judged.record.heartbeat_at.filter(|_| is_open && !judged.record.claims.is_empty())?;
    let age = now.duration_since(at);
    (age > SignedDuration::from_mins(5) && age < FREEZE_TOLD_FOR).then_some(at)
}

fn freeze(host: &Untrusted, mut stopped: Vec<(Timestamp, &JudgedRecord)>) -> Option<Finding> {
    stopped.sort_by_key(|(at, _)| *at);
    let (first, last) = (stopped.first()?.0, stopped.last()?.0);
    if stopped.len() < 2 || last.duration_since(first) > FREEZE_WITHIN {
        return None;
    }
    let message = format!(
        "{} of host {host} fell silent within {} min of each other: probably an account limit or a lost \
         network, not deaths; wait before releasing",
        count(stopped.len(), "session"),
        last.duration_since(first).as_mins() + 1
    );
    let subjects = stopped.iter().map(|(_, judged)| judged.key.clone());
    let evidence: Vec<Evidence> = stopped.iter().map(|(_, judged)| judged.evidence()).collect();
    Some(Finding::new(Code::QuietHolder, subjects, message, evidence, Remedy::None))
}
