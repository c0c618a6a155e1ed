//! Stories of shared, inherited and unstable identities.

use jiff::Timestamp;

use crate::core::judge::rules::facts::{file_name, listed, window_evidence, window_name};
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::scene::{Scene, all_evidence, all_windows, carried, session_name};
use crate::core::model::report::context::CONTEXT_VARIABLE;
use crate::core::model::snapshot::process::ancestry;
use crate::core::model::{
    Cause, Code, ContextSource, Evidence, Format, JudgedRecord, Leo, RecordDetail, RecordKind, Story,
    Untrusted, WindowView,
};

/// Two processes, one session: resumed while it ran, or started with an ID that was in use.
pub(crate) fn shared_session(scene: &Scene<'_>) -> Option<Story> {
    let mut chain = Chain::default();
    scene.tell_starts(&mut chain);
    for judged in &scene.records {
        let says = judged.record.pid().map_or_else(String::new, |pid| format!(" for PID {pid}"));
        scene.tell_write(&mut chain, judged, &format!("{says}, naming {}", session_name(judged)));
    }
    let (cause, sentence) = scene.how_shared()?;
    let last = scene.windows.last()?;
    let later = window_name(last);
    let pids: Vec<String> = scene.windows.iter().map(|window| format!("PID {}", window.pid)).collect();
    let ending = Ending::new(
        cause,
        format!("close {later}, or restart it without the session's ID"),
        format!("all but one of {} gone: then only that one runs the session", listed(&pids)),
    );
    let story = chain.end(ending, so(sentence, all_windows(&scene.windows)))?;
    Some(Story { yields: vec![last.key.clone()], ..story })
}

impl Scene<'_> {
    /// Describes how the last of several windows came to the session of the first.
    fn how_shared(&self) -> Option<(Cause, String)> {
        let (first, last) = (self.windows.first()?, self.windows.last()?);
        let (earlier, later) = (window_name(first), window_name(last));
        let record = self.records.first().copied();
        // A hook's note binds a session to a window without any record.
        let session = match record {
            Some(record) => session_name(record),
            None => format!("session {}", last.session_id.as_ref()?),
        };
        if self.argument(last, &["--session-id"]).is_some() {
            let sentence = format!(
                "{later} was started with an ID that was in use: {session} was already running in {earlier}"
            );
            return Some((Cause::SessionIdInUse, sentence));
        }
        let of_last = |judged: &&&JudgedRecord| judged.record.pid() == Some(last.pid);
        let was_matched = self.records.iter().find(of_last).is_some_and(|marker| is_of_new_session(marker));
        let file = record.and_then(|record| self.file_of(record)).filter(|_| was_matched);
        Some(match file.and_then(|file| Some((file, file.record.terminal_id.as_ref()?))) {
            Some((file, terminal)) if is_weak(file) => {
                let sentence = format!(
                    "{later} began as a new window, but its hook matched {terminal}, which {earlier} has too, and took {session}"
                );
                (Cause::PortOnlyTerminal, sentence)
            }
            Some(_) | None => {
                (Cause::ResumedSession, format!("{later} resumed {session} while {earlier} still ran it"))
            }
        })
    }

    /// Returns LEO's session file of a record's session.
    fn file_of(&self, judged: &JudgedRecord) -> Option<&JudgedRecord> {
        let session = judged.record.session_id.as_ref()?;
        let mut of_session = self.facts.of_session(session);
        of_session
            .find(|other| other.record.format == Format::Leo && other.record.kind == RecordKind::Session)
    }
}

/// Returns whether a marker states that its window began a session of its own.
pub(crate) fn is_of_new_session(marker: &JudgedRecord) -> bool {
    marker.record.detail == RecordDetail::Leo(Leo::Marker { is_new_session: true })
}

/// Returns whether a record's terminal ID can belong to several windows.
fn is_weak(judged: &JudgedRecord) -> bool {
    judged.record.problems.iter().any(|problem| problem.code == Code::WeakTerminalId)
}

/// Two windows, one context ID, which their environment gave them.
pub(crate) fn shared_context(scene: &Scene<'_>) -> Option<Story> {
    let mut chain = Chain::default();
    scene.tell_starts(&mut chain);
    let id = &scene.windows.first()?.context_id;
    for window in scene.windows.iter().filter(|window| window.context_id.source == ContextSource::Env) {
        let source = format!("/proc/{}/environ", window.pid);
        let sentence =
            format!("{} has {CONTEXT_VARIABLE}={} in its environment", window_name(window), id.value);
        chain.saw(window.started_at, sentence, [Evidence::new(CONTEXT_VARIABLE, id.value.clone(), source)]);
    }
    let names: Vec<String> = scene.windows.iter().map(|window| window_name(window)).collect();
    let sentence = format!("{} were given one ID, and read and write one record", listed(&names));
    let ending = Ending::new(
        Cause::SharedEnvironment,
        format!("unset {CONTEXT_VARIABLE} where it is exported, and restart one of them"),
        format!("a different {CONTEXT_VARIABLE} in the environment of one of them"),
    );
    chain.end(ending, so(sentence, all_windows(&scene.windows)))
}

/// Several unreleased records, one terminal ID.
pub(crate) fn shared_terminal(scene: &Scene<'_>) -> Option<Story> {
    let mut chain = Chain::default();
    let terminal = scene.records.first()?.record.terminal_id.as_ref()?;
    for judged in &scene.records {
        scene.tell_begin(&mut chain, judged);
        let sentence = format!("{} took the terminal ID {terminal}", session_name(judged));
        chain.saw(judged.record.started_at, sentence, [judged.evidence()]);
        scene.tell_end(&mut chain, judged);
    }
    let is_weak = scene.records.iter().any(|judged| is_weak(judged));
    let words = scene.records.first()?.record.detail.terminal();
    let words = words.map_or_else(|| "not one conversation's own".to_owned(), Untrusted::shown);
    let (cause, sentence) = if is_weak {
        let sentence = format!(
            "{terminal} is {words}: every conversation behind it looks itself up by the same ID and finds the others' records"
        );
        (Cause::PortOnlyTerminal, sentence)
    } else {
        let sentence = format!(
            "the record of an earlier session kept {terminal}, and the next session behind it took it over"
        );
        (Cause::DeadInheritance, sentence)
    };
    let ending = Ending::new(
        cause,
        "park the record whose session is over; give each conversation an ID of its own (CLAUDE_SESSION_ID)",
        "one of the sessions seen to have ended, or a marker that ties each of them to a process",
    );
    chain.end(ending, so(sentence, all_evidence(&scene.records)))
}

/// A live window that carries an older session.
pub(crate) fn inherited(scene: &Scene<'_>) -> Option<Story> {
    let (window, judged) = (scene.windows.first()?, scene.records.first()?);
    if judged.record.format == Format::Leo {
        inherited_by_terminal(scene, window, judged)
    } else {
        inherited_by_name(scene, window, judged)
    }
}

/// The record is named by a PID that the kernel has reused; or it got that name after the window was born, and kept
/// an older time: it was copied, or moved there.
fn inherited_by_name(scene: &Scene<'_>, window: &WindowView, judged: &JudgedRecord) -> Option<Story> {
    let mut chain = Chain::default();
    let (name, file, carried) = (window_name(window), file_name(judged), carried(judged));
    let put_at = judged.record.changed_at.filter(|at| window.started_at.is_some_and(|start| *at >= start));
    let named = if put_at.is_some() { String::new() } else { format!(", for PID {}", window.pid) };
    scene.tell_begin(&mut chain, judged);
    scene.tell_write(&mut chain, judged, &named);
    scene.tell_end(&mut chain, judged);
    scene.tell_start(&mut chain, window);
    let (cause, sentence, advice) = if put_at.is_some() {
        let put = format!("{file} was put in its place, or moved, with the time of its last write kept");
        chain.saw(put_at, put, [judged.evidence()]);
        let sentence = format!(
            "{name} already existed: an older record was most likely taken over for it, and it carries that session{carried}"
        );
        let advice =
            format!("park {file} if that session is not the window's own; it then makes a record of its own");
        (Cause::DeadInheritance, sentence, advice)
    } else {
        let sentence = format!(
            "the kernel gave PID {} to {name} while {file} still named it: it now carries the dead window's session{carried}",
            window.pid
        );
        (Cause::PidReuse, sentence, format!("park {file}; the window then makes a record of its own"))
    };
    let would_change = format!("a session_start in {file} that is not before the window's own start");
    let ending = Ending::new(cause, advice, would_change);
    chain.end(ending, so(sentence, [window_evidence(window), judged.evidence()]))
}

/// The hook of a new window matched the terminal ID of a dead one's record.
fn inherited_by_terminal(scene: &Scene<'_>, window: &WindowView, marker: &JudgedRecord) -> Option<Story> {
    let session = marker.record.session_id.as_ref()?;
    let file = scene.file_of(marker)?;
    let mut chain = Chain::default();
    scene.tell_begin(&mut chain, file);
    let dead = file.record.pid().filter(|pid| scene.process(*pid).is_none());
    if let Some(pid) = dead {
        let at = file.record.heartbeat_at.unwrap_or(file.record.written_at);
        let scan = Evidence::new("pid", format!("{pid} no longer runs"), "/proc");
        chain.concluded(
            Some(at),
            format!("the session's own process, PID {pid}, ended after this last sign of it"),
            [scan, file.evidence()],
        );
    }
    let terminal = file.record.terminal_id.as_ref();
    // While its own window lives it is written all the time; the ID was in it from the start.
    let is_before = |at: &Timestamp| window.started_at.is_none_or(|start| *at <= start);
    let kept_at = Some(file.record.written_at).filter(is_before).or(file.record.started_at);
    let kept = terminal.map_or_else(String::new, |id| format!(" terminal ID {id},"));
    chain.saw(
        kept_at,
        format!("{} kept{kept} session {session}{}", file_name(file), carried(file)),
        [file.evidence()],
    );
    scene.tell_start(&mut chain, window);
    let at = marker.record.started_at.or(Some(marker.record.written_at));
    chain.saw(
        at,
        format!("the hook of {} wrote session {session} into {}", window_name(window), file_name(marker)),
        [marker.evidence()],
    );
    let (cause, how) = match (is_weak(file), terminal) {
        (true, Some(id)) => {
            (Cause::PortOnlyTerminal, format!("the hook matched {id}, which all windows there share"))
        }
        (false, Some(id)) => {
            (Cause::DeadInheritance, format!("the hook matched terminal ID {id} of an unreleased record"))
        }
        (_, None) => (
            Cause::AdoptedByConflict,
            "the database answered that the identity was taken, and the client took over that session"
                .to_owned(),
        ),
    };
    let sentence =
        format!("{how}: {} now carries the earlier window's session{}", window_name(window), carried(file));
    let ending = Ending::new(
        cause,
        format!(
            "park {}, {} {}, then restart {}: it gets a session of its own",
            file_name(marker),
            if file.record.location.path().is_some() { "park" } else { "release" },
            file_name(file),
            window_name(window)
        ),
        format!("a registry or a tick of PID {} that names another session", window.pid),
    );
    chain.end(ending, so(sentence, [window_evidence(window), marker.evidence(), file.evidence()]))
}

/// One window, a record for each shell.
pub(crate) fn unstable(scene: &Scene<'_>) -> Option<Story> {
    let window = scene.windows.first()?;
    let mut chain = Chain::default();
    scene.tell_start(&mut chain, window);
    for judged in &scene.records {
        let Some(pid) = judged.record.pid() else { continue };
        let between: Vec<String> = ancestry(&scene.facts.world.snapshot.processes, pid)
            .into_iter()
            .take_while(|process| process.id.pid != window.pid)
            .map(|process| format!("{} {}", process.comm, process.id.pid))
            .collect();
        let at = judged.record.started_at.or(Some(judged.record.written_at));
        let (name, file) = (window_name(window), file_name(judged));
        if between.is_empty() {
            let sentence = format!("a call of {name} wrote {file} under PID {pid}, which is gone");
            chain.concluded(at, sentence, judged.all_evidence());
            continue;
        }
        let sentence =
            format!("a call below {name} wrote {file} under PID {pid}, which is {}", listed(&between));
        let parents = Evidence::new(
            "parents",
            format!("{} of PID {}", between.join(" of "), window.pid),
            format!("/proc/{pid}/stat"),
        );
        chain.saw(at, sentence, [judged.evidence(), parents]);
    }
    let sentence = format!(
        "no caller found the agent by its name, so each took its own parent's PID: {} has as many context IDs as calls",
        window_name(window)
    );
    let ending = Ending::new(
        Cause::PpidFallback,
        format!(
            "let the hook ask claimtop context-id (here {}), or export {CONTEXT_VARIABLE}",
            window.context_id.value
        ),
        "two calls that write one record: then the ID is stable",
    );
    chain.end(ending, so(sentence, all_evidence(&scene.records)))
}
