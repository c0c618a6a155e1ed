//! The cast of a story: the windows, records and claims that a finding is about.

use jiff::Timestamp;

use crate::core::judge::rules::facts::{Facts, file_name, window_evidence, window_name};
use crate::core::judge::story::chain::Chain;
use crate::core::model::{
    ClaimView, Evidence, Finding, JudgedRecord, KeyKind, Process, VerdictState, WindowView,
};

/// When a record's session began, as far as is known.
pub(crate) fn began_at(judged: &JudgedRecord) -> Timestamp {
    judged.record.started_at.unwrap_or(judged.record.written_at)
}

/// The cast of one story.
pub(crate) struct Scene<'a> {
    pub(crate) facts: &'a Facts<'a>,
    /// The windows, the oldest first.
    pub(crate) windows: Vec<&'a WindowView>,
    /// The records, also those of the claims, the oldest first.
    pub(crate) records: Vec<&'a JudgedRecord>,
    pub(crate) claims: Vec<&'a ClaimView>,
}

impl<'a> Scene<'a> {
    /// Collects the subjects of a finding, in the order in which they began.
    pub(crate) fn from_finding(finding: &'a Finding, facts: &'a Facts<'a>) -> Self {
        let (of, index) =
            (|kind| finding.subjects.iter().filter(move |key| key.kind() == Some(kind)), &facts.index);
        let mut windows: Vec<&WindowView> = of(KeyKind::Window).filter_map(|key| index.window(key)).collect();
        windows.sort_by_key(|window| (window.start_ticks, window.pid));
        let claims: Vec<&ClaimView> = of(KeyKind::Claim).filter_map(|key| index.claim(key)).collect();
        let of_subjects = of(KeyKind::Record).filter_map(|key| index.record(key));
        let mut records: Vec<&JudgedRecord> =
            of_subjects.chain(claims.iter().map(|claim| &claim.record)).collect();
        records.sort_by(|a, b| (began_at(a), a.path()).cmp(&(began_at(b), b.path())));
        records.dedup_by(|a, b| a.key == b.key);
        Scene { facts, windows, records, claims }
    }

    pub(crate) fn process(&self, pid: u32) -> Option<&'a Process> {
        self.facts.world.snapshot.processes.get(pid)
    }

    /// Returns the window that a record belongs to, by its verdict or by its PID.
    pub(crate) fn window_of(&self, judged: &JudgedRecord) -> Option<&'a WindowView> {
        let pid = judged.window_pid.or_else(|| judged.record.pid())?;
        self.facts.window(pid)
    }

    /// Names the holder of a record: its window, else its session.
    pub(crate) fn who(&self, judged: &JudgedRecord) -> String {
        self.window_of(judged).map_or_else(|| session_name(judged), window_name)
    }

    /// Returns an argument of a window's process that begins with `name`, with its value.
    pub(crate) fn argument(&self, window: &WindowView, names: &[&str]) -> Option<String> {
        let argv = &self.process(window.pid)?.details.as_ref()?.argv;
        let at = argv.iter().position(|argument| names.contains(&argument.raw()))?;
        let value = argv.get(at + 1).map_or_else(String::new, |value| format!(" {value}"));
        Some(format!("{}{value}", argv.get(at)?))
    }

    pub(crate) fn tell_start(&self, chain: &mut Chain, window: &WindowView) {
        let with = self.argument(window, &["--resume", "-r", "--session-id", "--continue", "-c"]);
        let with = with.map_or_else(String::new, |argument| format!(", with {argument}"));
        let sentence = format!("{} started{with}", window_name(window));
        chain.saw(window.started_at, sentence, [window_evidence(window)]);
    }

    pub(crate) fn tell_starts(&self, chain: &mut Chain) {
        self.windows.iter().for_each(|window| self.tell_start(chain, window));
    }

    /// Describes how a record's session began, by its own statement.
    pub(crate) fn tell_begin(&self, chain: &mut Chain, judged: &JudgedRecord) {
        let Some(at) = judged.record.started_at else { return };
        let what = session_name(judged);
        chain.saw(Some(at), format!("{what} began, says {}", file_name(judged)), [judged.evidence()]);
    }

    /// Describes the last write of a record.
    pub(crate) fn tell_write(&self, chain: &mut Chain, judged: &JudgedRecord, says: &str) {
        let sentence = format!("{} was last written{says}", file_name(judged));
        chain.saw(Some(judged.record.written_at), sentence, [judged.evidence()]);
    }

    /// Describes the end of a dead record's process: its last sign of life, and that it is gone.
    pub(crate) fn tell_end(&self, chain: &mut Chain, judged: &JudgedRecord) {
        let Some(pid) = judged.record.pid().filter(|_| judged.verdict.state == VerdictState::Dead) else {
            return;
        };
        // The process that has the number now was seen too, and is not the one that ended.
        let now = self.process(pid).map(|process| process.id);
        let seen = self.facts.world.snapshot.seen_agents.iter();
        let seen = seen.filter(|seen| seen.id.pid == pid && Some(seen.id) != now);
        let seen_at = seen.map(|seen| seen.last_seen_at).max();
        if let Some(at) = seen_at {
            let evidence = Evidence::new("seen alive", format!("PID {pid}"), "an earlier look of claimtop");
            chain.saw(
                Some(at),
                format!("claimtop saw PID {pid} alive for the last time"),
                [evidence.dated(at)],
            );
        }
        let known = [judged.record.heartbeat_at, judged.record.started_at, seen_at];
        let sign_at = known.into_iter().flatten().max().unwrap_or(judged.record.written_at);
        // The process that has the number now cannot have come before the other went.
        let heir_at = self.process(pid).and_then(|heir| self.facts.world.started_at(heir));
        let sign_at = heir_at.map_or(sign_at, |heir_at| sign_at.max(judged.record.written_at).min(heir_at));
        let sentence = format!(
            "the recorded process, PID {pid}, ended after this last sign of it ({})",
            judged.verdict.reason.name()
        );
        chain.concluded(Some(sign_at), sentence, &*judged.verdict.evidence);
    }
}

/// Names a record's session, or its record.
pub(crate) fn session_name(judged: &JudgedRecord) -> String {
    match &judged.record.session_id {
        Some(session) => format!("session {session}"),
        None => format!("the session of {}", judged.record.title),
    }
}

/// Names the claims that a record carries, ready to follow a sentence.
pub(crate) fn carried(judged: &JudgedRecord) -> String {
    let claims: Vec<String> = judged
        .record
        .claims
        .iter()
        .map(|claim| format!("{} {}", claim.resource.kind.name(), claim.resource.id))
        .collect();
    if claims.is_empty() { String::new() } else { format!(" and its claim on {}", claims.join(" and ")) }
}

pub(crate) fn all_evidence(records: &[&JudgedRecord]) -> Vec<Evidence> {
    records.iter().map(|judged| judged.evidence()).collect()
}

pub(crate) fn all_windows(windows: &[&WindowView]) -> Vec<Evidence> {
    windows.iter().map(|window| window_evidence(window)).collect()
}
