//! One session that runs on two machines.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::sites::{EVIDENCE, PlacedWindow, Sites, apart};
use crate::core::fleet::merge::across::sites::Findings;
use crate::core::judge::rules::facts::listed;
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::model::{Cause, Code, Evidence, Finding, Key, Remedy, ResourceKind, Story, Untrusted};

/// Finds sessions that are run by living windows of two machines.
pub(super) fn shared<'a>(sites: &Sites<'a>, found: &mut Findings) {
    let name =
        |placed: &PlacedWindow<'a>| Some((placed.window.agent.raw(), placed.window.session_id.as_ref()?));
    // Hardly any of tens of thousands run twice: only those are listed.
    let mut seen = HashSet::new();
    let names = sites.windows().filter_map(|placed| name(&placed));
    let repeated: BTreeSet<_> = names.filter(|name| !seen.insert(*name)).collect();
    let mut several: BTreeMap<_, Vec<PlacedWindow<'_>>> = BTreeMap::new();
    for placed in sites.windows() {
        if let Some(name) = name(&placed).filter(|it| repeated.contains(it)) {
            several.entry(name).or_default().push(placed);
        }
    }
    for ((_, session), windows) in several {
        let windows = apart(&windows);
        let Some(finding) = finding(session, &windows, sites) else { continue };
        found.findings.push(finding);
        let keys: HashSet<&Key> = windows.iter().map(|placed| &placed.window.key).collect();
        let claims = sites.claims().map(|(claim, _)| claim).filter(|claim| {
            claim.resource.kind == ResourceKind::Session
                && claim.resource.id == *session
                && claim.window.as_ref().is_some_and(|key| keys.contains(key))
        });
        found.contested.extend(claims.map(|claim| claim.key.clone()));
    }
}

fn finding<'a>(session: &Untrusted, windows: &[PlacedWindow<'a>], sites: &Sites<'a>) -> Option<Finding> {
    let names: Vec<String> = windows.iter().map(PlacedWindow::name).collect();
    let message = format!(
        "{} run one session, {session}: neither knows what the other does; close one, or restart it without \
         --resume",
        listed(&names)
    );
    let records: Vec<_> = windows.iter().filter_map(|one| Some((one, one.record(sites)?))).collect();
    let subjects = windows.iter().map(|placed| placed.window.key.clone());
    let subjects = subjects.chain(records.iter().map(|(_, judged)| judged.key.clone()));
    let evidence: Vec<Evidence> = windows
        .iter()
        .take(EVIDENCE)
        .map(PlacedWindow::evidence)
        .chain(records.iter().take(EVIDENCE).map(|(at, it)| at.site.evidence(it)))
        .collect();
    let mut finding = Finding::new(Code::SharedSessionId, subjects, message, evidence, Remedy::None);
    finding.story = Some(Box::new(story(session, windows, sites)?));
    Some(finding)
}

fn story<'a>(session: &Untrusted, windows: &[PlacedWindow<'a>], sites: &Sites<'a>) -> Option<Story> {
    let (first, last) = (windows.first()?, windows.last()?);
    let mut chain = Chain::default();
    for placed in windows {
        placed.tell_start(&mut chain);
        if let Some(judged) = placed.record(sites) {
            let (at, file) = (placed.site.here(judged.written_at), placed.site.file(judged));
            let sentence = format!("{file} was last written, naming session {session}");
            chain.saw(Some(at), sentence, [placed.site.evidence(judged)]);
        }
    }
    let processes: Vec<String> = windows.iter().map(PlacedWindow::process).collect();
    // Without a start it is not known which came second.
    let is_dated = windows.iter().all(|placed| placed.started_at().is_some());
    let advice = if is_dated { format!("close {}", last.name()) } else { "close one of them".to_owned() };
    let ending = Ending::new(
        Cause::ResumedSession,
        format!("{advice}, or restart it without the session's ID"),
        format!("all but one of {} gone: then only that one runs the session", listed(&processes)),
    );
    let evidence: Vec<Evidence> = windows.iter().take(EVIDENCE).map(PlacedWindow::evidence).collect();
    let sentence = match is_dated {
        true => format!("{} resumed session {session} while {} still ran it", last.name(), first.name()),
        false => format!("session {session} was resumed on one machine while it ran on another"),
    };
    let story = chain.end(ending, so(sentence, evidence))?;
    let yields = if is_dated { vec![last.window.key.clone()] } else { Vec::new() };
    Some(Story { yields, ..story })
}
