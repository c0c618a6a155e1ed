//! Stories of a record's owner: split, recycled, resumed, unknown, open to adoption.

use crate::core::judge::rules::facts::{file_name, listed, window_evidence, window_name};
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::identity::is_of_new_session;
use crate::core::judge::story::scene::{Scene, all_evidence, all_windows, began_at, carried, session_name};
use crate::core::model::{Binding, Cause, Evidence, JudgedRecord, RecordKind, Story, VerdictState};

/// A pointer, a marker and a record that disagree.
pub(crate) fn split(scene: &Scene<'_>) -> Option<Story> {
    let is_session = |judged: &&JudgedRecord| judged.record.kind == RecordKind::Session;
    match scene.records.iter().find(|judged| judged.record.kind == RecordKind::Pointer) {
        Some(pointer) => split_pointer(scene, pointer),
        None if !scene.windows.is_empty() && scene.records.iter().all(is_session) => split_sessions(scene),
        None => split_marker(scene),
    }
}

/// Several sessions that have not ended name one process.
fn split_sessions(scene: &Scene<'_>) -> Option<Story> {
    let window = scene.windows.first()?;
    let certain = scene.facts.world.sessions.get(&window.pid).copied();
    let mut chain = Chain::default();
    scene.tell_start(&mut chain, window);
    for judged in &scene.records {
        scene.tell_begin(&mut chain, judged);
        let says = format!(", naming PID {} for {}", window.pid, session_name(judged));
        scene.tell_write(&mut chain, judged, &says);
    }
    let is_current = |judged: &&&JudgedRecord| match certain {
        Some(session) => judged.record.session_id.as_ref() == Some(session),
        None => true,
    };
    let newest = |judged: &&&JudgedRecord| judged.record.heartbeat_at.unwrap_or(judged.record.written_at);
    let current = scene.records.iter().filter(is_current).max_by_key(newest);
    let left = scene.records.iter().filter(|judged| current.is_none_or(|current| current.key != judged.key));
    let left: Vec<&JudgedRecord> = left.copied().collect();
    let (now, names) = match (certain, current) {
        (Some(session), _) => (format!("session {session}"), "its registry says so"),
        (None, Some(current)) => (session_name(current), "that is the newest"),
        (None, None) => return None,
    };
    let left_names: Vec<String> = left.iter().map(|judged| session_name(judged)).collect();
    let sentence = format!(
        "{} moved on to {now} (resume and /clear keep the PID; {names}) without ending {}",
        window_name(window),
        listed(&left_names)
    );
    let ends: Vec<String> =
        left.iter().filter_map(|judged| Some(judged.record.context_id.as_ref()?.shown())).collect();
    let ending = Ending::new(
        Cause::ResumedSession,
        format!("before the next commit here: entire session stop {}", ends.join(", ")),
        format!("a registry that names another session for PID {}", window.pid),
    );
    let story = chain.end(ending, so(sentence, all_evidence(&scene.records)))?;
    Some(Story { yields: left.iter().map(|judged| judged.key.clone()).collect(), ..story })
}

/// The pointer of a checkout names a session without a living process.
fn split_pointer(scene: &Scene<'_>, pointer: &JudgedRecord) -> Option<Story> {
    let mut chain = Chain::default();
    let session = pointer.record.session_id.as_ref()?;
    for marker in scene.records.iter().filter(|judged| judged.key != pointer.key) {
        if let Some(window) = scene.window_of(marker) {
            scene.tell_start(&mut chain, window);
        }
        scene.tell_write(&mut chain, marker, &format!(", naming {}", session_name(marker)));
    }
    scene.tell_write(&mut chain, pointer, &format!(", naming session {session}"));
    let others = scene.facts.of_session(session);
    let of_session: Vec<&JudgedRecord> = others.filter(|judged| judged.key != pointer.key).collect();
    let has_file = of_session.iter().any(|judged| {
        judged.record.kind == RecordKind::Session && judged.verdict.state != VerdictState::Dead
    });
    let has_marker = of_session.iter().any(|judged| judged.record.kind == RecordKind::Marker);
    of_session.iter().for_each(|judged| scene.tell_begin(&mut chain, judged));
    let (cause, sentence) = if has_file && !has_marker {
        let sentence = format!(
            "session {session} has a file and no marker: its marker was swept, and nothing ties it to a process now"
        );
        (Cause::MarkerLost, sentence)
    } else {
        let sentence = "every window of the checkout writes this pointer and the last one wins: it names a session whose process is gone".to_owned();
        (Cause::PointerSplit, sentence)
    };
    let ending = Ending::new(
        cause,
        "do not look up anything by this pointer; the next session to start here rewrites it",
        format!("a living marker or tick of session {session}"),
    );
    chain.end(ending, so(sentence, all_evidence(&scene.records)))
}

/// A marker gives a window another session than its own registry.
fn split_marker(scene: &Scene<'_>) -> Option<Story> {
    let judged = scene.records.first()?;
    let Some(window) = scene.windows.first() else { return split_record(scene, judged) };
    let mut chain = Chain::default();
    scene.tell_start(&mut chain, window);
    scene.tell_write(&mut chain, judged, &format!(", naming {}", session_name(judged)));
    let registry = scene.facts.world.registered(window.pid).first().copied()?;
    let own = registry.session_id.as_ref()?;
    let path = registry.location.text().clone();
    let evidence = Evidence::new("registry", own.clone(), path).dated(registry.written_at);
    chain.saw(
        Some(registry.written_at),
        format!("the agent's own registry says session {own} for PID {}", window.pid),
        [evidence.clone()],
    );
    let sentence = format!(
        "{} moved on to session {own} (resume or /clear keep the PID), and {} was not written again",
        window_name(window),
        file_name(judged)
    );
    let ending = Ending::new(
        Cause::ResumedSession,
        format!("trust the registry; park {} if its system keeps using the old session", file_name(judged)),
        format!("{} written again with session {own}", file_name(judged)),
    );
    chain.end(ending, so(sentence, [evidence, judged.evidence()]))
}

/// A record whose name and content disagree.
fn split_record(scene: &Scene<'_>, judged: &JudgedRecord) -> Option<Story> {
    let mut chain = Chain::default();
    scene.tell_begin(&mut chain, judged);
    scene.tell_write(&mut chain, judged, "");
    let sentence = format!(
        "{} was copied, moved or written by two sessions: its name and its content disagree",
        file_name(judged)
    );
    let ending = Ending::new(
        Cause::PointerSplit,
        "find out which of the two is alive before anything is released",
        "a marker, a tick or a registry of either of the two",
    );
    chain.end(ending, so(sentence, [judged.evidence()]))
}

/// A PID that belongs to another process now.
pub(crate) fn recycled(scene: &Scene<'_>) -> Option<Story> {
    let judged = scene.records.first()?;
    let pid = judged.record.pid()?;
    let mut chain = Chain::default();
    scene.tell_begin(&mut chain, judged);
    scene.tell_end(&mut chain, judged);
    let process = scene.process(pid)?;
    let started_at = scene.facts.world.started_at(process);
    let evidence = Evidence::new("process", format!("{} {pid}", process.comm), format!("/proc/{pid}/stat"))
        .dated(started_at);
    chain.saw(started_at, format!("the kernel gave PID {pid} to {}", process.comm), [evidence]);
    let sentence = format!(
        "PID {pid} runs but is not the holder: {} and {} belong to a process that is gone",
        file_name(judged),
        session_name(judged)
    );
    let ending = Ending::new(
        Cause::PidReuse,
        format!("release {}{}", file_name(judged), carried(judged)),
        format!("a start of PID {pid} that is the recorded one, or a write of the record after it"),
    );
    chain.end(ending, so(sentence, &*judged.verdict.evidence))
}

/// A PID that is gone while the session lives elsewhere.
pub(crate) fn wrong_pid(scene: &Scene<'_>) -> Option<Story> {
    let judged = scene.records.first()?;
    let (pid, lives_in) = (judged.record.pid()?, judged.window_pid.or(judged.lives_in)?);
    let mut chain = Chain::default();
    scene.tell_begin(&mut chain, judged);
    scene.tell_write(&mut chain, judged, &format!(", for PID {pid}"));
    let window = scene.facts.window(lives_in)?;
    scene.tell_start(&mut chain, window);
    let is_own = judged.record.holder.as_ref().is_some_and(|holder| holder.binding >= Binding::Owner);
    let of_session = judged.record.session_id.as_ref().map(|session| scene.facts.of_session(session));
    let mut markers = of_session.into_iter().flatten().filter(|other| other.record.pid() == Some(lives_in));
    let is_handed_on = markers.any(is_of_new_session)
        && window.started_at.is_some_and(|start| scene.facts.world.is_after(start, began_at(judged)));
    let (cause, sentence) = if is_handed_on {
        let sentence = format!(
            "PID {pid} was an earlier window's, and {} took over its session as if it were new",
            window_name(window)
        );
        (Cause::DeadInheritance, sentence)
    } else if is_own || judged.verdict.state == VerdictState::Dead {
        let sentence = format!(
            "{} was resumed: PID {pid} is gone and {} continues it",
            session_name(judged),
            window_name(window)
        );
        (Cause::ResumedSession, sentence)
    } else {
        let sentence = format!("PID {pid} was a short-lived helper of {}", window_name(window));
        (Cause::PpidFallback, sentence)
    };
    let ending = Ending::new(
        cause,
        if is_handed_on {
            "do not release it before the inherited record is corrected"
        } else {
            "do not release it: the session is running"
        },
        format!("PID {lives_in} gone, or its registry naming another session"),
    );
    chain.end(ending, so(sentence, [window_evidence(window), judged.evidence()]))
}

/// A record that stands for a session that cannot be identified.
pub(crate) fn unknown_session(scene: &Scene<'_>) -> Option<Story> {
    let judged = scene.records.first()?;
    let mut chain = Chain::default();
    let at = judged.record.started_at.unwrap_or(judged.record.written_at);
    let title = &judged.record.title;
    chain.saw(
        Some(at),
        format!("{} was written for {title} without a usable session ID", file_name(judged)),
        [judged.evidence()],
    );
    let sentence = format!("events looked up through {} are filed under no session", file_name(judged));
    let ending = Ending::new(
        Cause::UnknownId,
        "restart the session, which writes the ID; then park what was filed under it",
        format!("a session ID in {}", file_name(judged)),
    );
    chain.end(ending, so(sentence, [judged.evidence()]))
}

/// The machine-wide file that the next window adopts.
pub(crate) fn ambiguous(scene: &Scene<'_>) -> Option<Story> {
    let judged = scene.records.first()?;
    let mut chain = Chain::default();
    scene.tell_begin(&mut chain, judged);
    scene.tell_write(&mut chain, judged, ", for no window in particular");
    scene.tell_starts(&mut chain);
    let heirs: Vec<String> = scene.windows.iter().map(|window| window_name(window)).collect();
    let who = if heirs.is_empty() {
        "the next window".to_owned()
    } else {
        format!("the first of {} to look", listed(&heirs))
    };
    let sentence =
        format!("{who} adopts {}, and with it another's {}", file_name(judged), judged.record.title);
    let ending = Ending::new(
        Cause::GlobalLegacy,
        format!("park {} before another window starts", file_name(judged)),
        "a record of its own in every window: then no window adopts it",
    );
    let evidence: Vec<Evidence> =
        [judged.evidence()].into_iter().chain(all_windows(&scene.windows)).collect();
    chain.end(ending, so(sentence, evidence))
}
