//! Why something is alive, dead or held: the verdict and the evidence that `explain` shows.

use std::path::Path;

use jiff::Timestamp;

use crate::core::model::{
    Certainty, ClaimView, Evidence, Finding, LeftOver, RecordView, Releasable, Report, Topic, Verdict,
    VerdictState, WindowState, WindowView,
};
use crate::core::plan::find::{Meaning, Subject, find, findings_about};
use crate::core::plan::full_name;
use crate::core::plan::left::left_by;
use crate::present::answer::{AgentAnswer, Item, MOST_EVIDENCE, Quote, newest, windows};
use crate::present::text::age;
use crate::present::{left_over, words};

/// The advice about what lives.
const ALIVE: &str = "It is alive: leave it alone, or ask the person.";
/// The advice about what is not known to be dead.
const UNKNOWN: &str = "Nothing proves that it is dead: treat it as alive, or ask the person.";

/// What decided about a thing.
struct Decision<'a> {
    verdict: &'static str,
    reason: &'static str,
    evidence: Vec<&'a Evidence>,
    advice: String,
    item: Item,
}

/// Answers about what a name means, as `explain` finds it; `path` is the same text as an absolute path.
pub fn why(report: &Report, asked: &str, path: &Path) -> AgentAnswer {
    match find(report, asked, path) {
        _ if asked.is_empty() => nothing(report),
        Meaning::Nothing => nothing(report),
        Meaning::One(subject) => about_one(report, subject),
        Meaning::Left(record) => about_left(report, record),
        Meaning::Several(several) => about_several(report, &several),
    }
}

fn about_one(report: &Report, subject: Subject<'_>) -> AgentAnswer {
    let findings = findings_about(report, subject);
    let Decision { verdict, reason, evidence, advice, item } = decision(report, subject);
    let own = evidence.iter().map(|evidence| Quote::of_evidence(evidence));
    let sentence = |finding: &&Finding| Quote::new(&format!("{}: {}", finding.code.name(), finding.message));
    let dated = evidence.iter().filter_map(|fact| fact.at).max();
    let newest = dated.or_else(|| findings.iter().filter_map(|finding| newest(&finding.evidence)).max());
    // What is wrong with it is stated even if there is much evidence.
    let rest = MOST_EVIDENCE.saturating_sub(findings.len().min(2));
    let evidence: Vec<Quote> = own.take(rest).chain(findings.iter().map(sentence)).collect();
    AgentAnswer::new("why", report.taken_at, (verdict, reason), advice)
        .with_evidence(evidence, newest)
        .with_items(vec![item])
        .with_unread(report, Topic::All)
}

/// Answers about what a dead window has left: by the record that is meant, with all the others.
fn about_left(report: &Report, record: &RecordView) -> AgentAnswer {
    let records = left_by(report, record);
    let items = records.iter().map(|record| decision(report, Subject::Record(record)).item);
    about_one(report, Subject::Record(record)).with_items(items.collect())
}

fn about_several(report: &Report, subjects: &[Subject<'_>]) -> AgentAnswer {
    let decisions = subjects.iter().map(|subject| decision(report, *subject));
    let items = decisions.map(|one| Item { state: one.verdict, ..one.item }).collect();
    let advice = "The name means several things: ask again with one of their keys.";
    AgentAnswer::new("why", report.taken_at, ("several", "ambiguous-name"), advice)
        .with_items(items)
        .with_unread(report, Topic::All)
}

fn nothing(report: &Report) -> AgentAnswer {
    let advice = "Nothing has this name now. It may never have been there, be gone, or not have been read: this proves no death. Ask who_is_here for the windows.";
    AgentAnswer::new("why", report.taken_at, ("unknown", "no-such-name"), advice)
        .with_unread(report, Topic::All)
}

fn decision<'a>(report: &Report, subject: Subject<'a>) -> Decision<'a> {
    let key = subject.key();
    let item = |kind| Item { kind, key: Some(key.clone()), ..Item::default() };
    let (now, unsure) = (report.taken_at, |item| Decision {
        verdict: "unknown",
        reason: "not-judged",
        evidence: Vec::new(),
        advice: UNKNOWN.to_owned(),
        item,
    });
    match subject {
        Subject::Window(window) => of_window(window),
        Subject::Record(record) => {
            let item = Item {
                pid: record.pid(),
                name: Some(Quote::from(&record.title)),
                state: record.verdict.state.name(),
                path: Some(Quote::from(record.location.text())),
                age_seconds: seconds(now, record.heartbeat_at.or(Some(record.written_at))),
                ..item("record")
            };
            of_verdict(&record.verdict, dead_record(key.as_str()), item)
        }
        Subject::Claim(claim) => {
            let item = Item {
                pid: claim.record.pid(),
                name: Some(Quote::new(&full_name(report, claim))),
                state: claim.status.name(),
                age_seconds: seconds(now, claim.since),
                ..item("claim")
            };
            of_verdict(&claim.record.verdict, dead_claim(claim), item)
        }
        Subject::LeftOver(one) => of_left_over(one, item("left-over")),
        Subject::LeftTree(one) => Decision {
            reason: one.certainty.name(),
            ..unsure(Item {
                name: Some(Quote::new(&left_over::tree(one))),
                path: Some(Quote::from(&one.path)),
                ..item("left-tree")
            })
        },
        Subject::LeftStash(one) => Decision {
            verdict: "dead",
            reason: "left-stash",
            advice: "A dead window's edits are in this stash entry: leave it, or ask the person.".to_owned(),
            ..unsure(Item { name: Some(Quote::new(&left_over::stash(one))), ..item("left-stash") })
        },
        Subject::Broken(_) => Decision { reason: "unreadable", ..unsure(item("unreadable")) },
    }
}

fn seconds(now: Timestamp, then: Option<Timestamp>) -> Option<i64> {
    then.map(|then| age::seconds(now, then).max(0))
}

fn of_window<'a>(window: &'a WindowView) -> Decision<'a> {
    let is_gone = window.state == WindowState::Zombie;
    Decision {
        verdict: if is_gone { "dead" } else { "alive" },
        reason: windows::state(window),
        evidence: window.session.iter().map(|session| &session.evidence).collect(),
        advice: if is_gone { "It has exited and waits for its parent.".to_owned() } else { ALIVE.to_owned() },
        item: windows::item(window, None),
    }
}

/// Answers with the verdict on a holder.
fn of_verdict<'a>(verdict: &'a Verdict, when_dead: String, item: Item) -> Decision<'a> {
    Decision {
        verdict: verdict.state.name(),
        reason: verdict.reason.name(),
        evidence: verdict.evidence.iter().collect(),
        advice: match verdict.state {
            VerdictState::Alive => ALIVE.to_owned(),
            VerdictState::Dead => when_dead,
            VerdictState::Unknown => UNKNOWN.to_owned(),
        },
        item,
    }
}

fn of_left_over<'a>(one: &'a LeftOver, item: Item) -> Decision<'a> {
    let advice = match one.certainty {
        Certainty::Held => "Its window is alive: leave it alone.".to_owned(),
        Certainty::Exact | Certainty::Strong | Certainty::Guess | Certainty::Unknown => {
            format!("It runs. Only a person ends it: `claimtop stop {}` shows how.", one.key)
        }
    };
    Decision {
        verdict: "alive",
        reason: one.certainty.name(),
        evidence: one.evidence.iter().collect(),
        advice,
        item: Item { pid: Some(one.pid), name: Some(Quote::new(&left_over::what(one))), ..item },
    }
}

fn dead_record(key: &str) -> String {
    format!(
        "Its holder is proven dead. A person can end the record: `claimtop release {key}` shows how. Do not delete it yourself."
    )
}

fn dead_claim(claim: &ClaimView) -> String {
    let key = &claim.key;
    match claim.releasable {
        Releasable::No if claim.is_of_transcript() => {
            "Its window is dead and left uncommitted edits: keep them, and ask the person.".to_owned()
        }
        Releasable::No => {
            "Its holder is proven dead, and claimtop cannot release this: ask the person.".to_owned()
        }
        Releasable::Yes | Releasable::Confirm => format!(
            "Its holder is proven dead. A person can release it: `claimtop release {key}` shows how. Do not delete anything yourself."
        ),
    }
}

/// Answers with a verdict on what the caller has named.
pub(crate) fn alive(taken_at: Timestamp, verdict: &Verdict, pid: Option<u32>) -> AgentAnswer {
    let advice = match verdict.state {
        VerdictState::Alive => ALIVE,
        VerdictState::Dead => "It is proven dead.",
        VerdictState::Unknown => UNKNOWN,
    };
    let explained = Quote::new(words::reason(verdict.reason));
    let evidence = verdict.evidence.iter().map(Quote::of_evidence).chain([explained]);
    let item = pid.map(|pid| Item { kind: "process", pid: Some(pid), ..Item::default() });
    AgentAnswer::new("alive", taken_at, (verdict.state.name(), verdict.reason.name()), advice)
        .with_evidence(evidence, newest(&verdict.evidence))
        .with_items(item.into_iter().collect())
}
