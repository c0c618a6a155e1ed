//! Items whose two surfaces disagree, and items without a holder or with a wrong one.

use crate::core::judge::rules::system::leo::book::{Book, named, of_item};
use crate::core::model::{
    Code, Evidence, Finding, JudgedRecord, Key, Remedy, Stage, Untrusted, VerdictState, WorkItem,
};

/// Finds what is wrong with single items.
pub(crate) fn findings(book: &Book<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for item in book.work {
        match item.stage {
            Stage::Finished => found.extend(finished(item, book)),
            Stage::Unread => {}
            Stage::Open | Stage::InProgress | Stage::Absent => {
                found.extend(item.mirrors.iter().filter_map(|session| mirror(item, session, book)));
                found.extend(owner(item, book));
                found.extend(stranded(item, book));
            }
        }
    }
    found
}

/// A finished item that is still claimed, on either surface.
fn finished(item: &WorkItem, book: &Book<'_>) -> Option<Finding> {
    let holders: Vec<&JudgedRecord> =
        item.mirrors.iter().chain(&item.owner).filter_map(|session| book.session(session)).collect();
    let own = || item.record.as_ref().and_then(|key| book.facts.index.record(key));
    let first = holders.first().copied().or_else(own)?;
    let message = format!(
        "{} is {} and still claimed by {}: it cannot be worked on, and its session can claim nothing else",
        item.key,
        item.status,
        named(first, book.claim(&first.key, item))
    );
    let evidence = [of_item(item), first.evidence()];
    Some(Finding::new(
        Code::FinishedItemClaimed,
        [book.subject(first, item)],
        message,
        evidence,
        Remedy::Release,
    ))
}

/// A session whose row names an item that does not name it.
fn mirror(item: &WorkItem, session: &Untrusted, book: &Book<'_>) -> Option<Finding> {
    if item.owner.as_ref() == Some(session) {
        return None;
    }
    let mirrors = book.session(session)?;
    let owns = item.owner.as_ref().and_then(|owner| book.session(owner));
    if let Some(owns) = owns.filter(|owns| is_alive(owns) && is_alive(mirrors)) {
        return contested(item, mirrors, owns, book);
    }
    let other = match (&item.owner, owns) {
        _ if item.stage == Stage::Absent => "there is no such item".to_owned(),
        (Some(_), Some(owns)) => format!("the item names {}", named(owns, book.claim(&owns.key, item))),
        (Some(owner), None) => format!("the item names {owner}, which has no row"),
        (None, _) => "the item names no owner".to_owned(),
    };
    let released = match reason(mirrors).filter(|_| mirrors.record.has_ended) {
        Some(reason) => format!(", released ({reason}) but still with its key,"),
        None => String::new(),
    };
    // LEO's own guard gives the item to any session once the mirror is released.
    let (advice, remedy) = if is_alive(mirrors) {
        ("its session is alive and has to claim the item again", Remedy::None)
    } else if mirrors.record.has_ended || mirrors.verdict.state == VerdictState::Dead {
        ("release the mirror", Remedy::Release)
    } else {
        ("let its session claim the item again, or release the mirror if it has ended", Remedy::None)
    };
    let message = format!(
        "{}: {}{released} claims to work on it, but {other}: {advice}",
        item.key,
        named(mirrors, book.claim(&mirrors.key, item)),
    );
    let own = mirrors.verdict.evidence.iter().cloned().chain([mirrors.evidence()]);
    let evidence: Vec<Evidence> = own.chain([of_item(item)]).collect();
    let subjects = [book.subject(mirrors, item)];
    Some(Finding::new(Code::GhostMirror, subjects, message, evidence, remedy))
}

/// Returns why a session was released.
fn reason(session: &JudgedRecord) -> Option<&Untrusted> {
    session.record.detail.leo_row()?.released_reason.as_ref()
}

/// Two live sessions, one item: one is named by the item, the other one names it. Two windows of
/// this machine are reported by the rule for all formats.
fn contested(
    item: &WorkItem,
    mirrors: &JudgedRecord,
    owns: &JudgedRecord,
    book: &Book<'_>,
) -> Option<Finding> {
    if mirrors.window_pid.zip(owns.window_pid).is_some_and(|(one, other)| one != other) {
        return None;
    }
    let message = format!(
        "{}: the item names {}, and {} works on it as well; both are alive: let one of them release it",
        item.key,
        named(owns, book.claim(&owns.key, item)),
        named(mirrors, book.claim(&mirrors.key, item)),
    );
    let subjects = [book.subject(owns, item), book.subject(mirrors, item)];
    let evidence = [of_item(item), owns.evidence(), mirrors.evidence()];
    Some(Finding::new(Code::ContestedClaim, subjects, message, evidence, Remedy::Release))
}

fn is_alive(judged: &JudgedRecord) -> bool {
    judged.verdict.state == VerdictState::Alive && !judged.record.has_ended
}

/// An item whose owner is gone, or does not name it.
fn owner(item: &WorkItem, book: &Book<'_>) -> Option<Finding> {
    let session = item.owner.as_ref()?;
    let row = book.session(session);
    let why = match row {
        None => "which has no row".to_owned(),
        Some(row) if row.record.has_ended => {
            let reason = reason(row).map_or("no reason given".to_owned(), Untrusted::shown);
            format!("which is released ({reason})")
        }
        Some(_) if item.mirrors.contains(session) || is_part_of_more(item, session, book) => return None,
        Some(row) if is_stolen(item, row, book) => return None,
        Some(row) => match crate::core::judge::rules::system::leo::sessions::mirrored(session, book) {
            Some(other) => {
                format!("whose own row names {} instead ({})", other.key, row.verdict.reason.name())
            }
            None => format!("whose own row names nothing ({})", row.verdict.reason.name()),
        },
    };
    let code = match is_stranded_fix(item, row) {
        true => Code::StrandedItem,
        false => Code::GhostOwner,
    };
    // claim_sd asks whether the owner's own row is live (`drift_recovery`, `claimed_by_live_peer`).
    let lives = row.is_some_and(|row| !row.record.has_ended && row.verdict.state != VerdictState::Dead);
    let so = match lives {
        true => "while that row looks alive, claim_sd gives it to no one else",
        false => "it looks taken, but claim_sd gives it to any session that asks",
    };
    let message = format!("{}: it names session {session} as its owner, {why}: {so}", item.key);
    let subject = match row {
        Some(row) => book.subject(row, item),
        None => item.record.clone().map(|record| of_claim(&record, item, book))?,
    };
    let evidence: Vec<Evidence> = row.map(|row| row.evidence()).into_iter().chain([of_item(item)]).collect();
    Some(Finding::new(code, vec![subject], message, evidence, Remedy::Release))
}

/// Returns whether another living session works on the item: that is reported as a contest.
fn is_stolen(item: &WorkItem, owns: &JudgedRecord, book: &Book<'_>) -> bool {
    is_alive(owns) && item.mirrors.iter().any(|session| book.session(session).is_some_and(is_alive))
}

fn of_claim(record: &Key, item: &WorkItem, book: &Book<'_>) -> Key {
    book.claim(record, item).map_or_else(|| record.clone(), |claim| claim.key.clone())
}

/// Returns whether a session holds more than this item: that is reported as one thing.
fn is_part_of_more(item: &WorkItem, session: &Untrusted, book: &Book<'_>) -> bool {
    book.held(session).iter().any(|other| other.key != item.key)
}

/// Returns whether a quick fix was begun, came to nothing, and waits for a holder that is gone.
fn is_stranded_fix(item: &WorkItem, owner: Option<&JudgedRecord>) -> bool {
    item.table == "quick_fixes"
        && item.stage == Stage::InProgress
        && !item.has_result
        && owner.is_none_or(|owner| owner.record.has_ended)
}

/// An item that stands as begun, and that has no holder.
fn stranded(item: &WorkItem, book: &Book<'_>) -> Option<Finding> {
    let record = item.record.as_ref().filter(|_| item.owner.is_none() && item.mirrors.is_empty())?;
    let part = book.parts.get(&item.key);
    let (why, evidence) = match part {
        Some(part) => (
            format!("its part {} has taken its session's only claim", part.key),
            vec![of_item(item), of_item(part)],
        ),
        None => ("no session holds it".to_owned(), vec![of_item(item)]),
    };
    let message =
        format!("{}: its status is {}, but {why}; LEO's own sweep resets it", item.key, item.status);
    Some(Finding::new(Code::StrandedItem, vec![record.clone()], message, evidence, Remedy::None))
}
