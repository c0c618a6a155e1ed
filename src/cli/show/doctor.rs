//! `doctor`: the problems only, worst first, each with what helps.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use crate::cli::look;
use crate::cli::output::failure::{Exit, Outcome};
use crate::cli::output::{Paint, Shape, lines, print};
use crate::core::model::report::SCHEMA;
use crate::core::model::report::need::quoted;
use crate::core::model::snapshot::unread;
use crate::core::model::text::json;
use crate::core::model::text::shown;
use crate::core::model::{Finding, Key, KeyKind, NotAsked, Remedy, Report, Severity, SourceHealth, Topic};
use crate::observe::ReportSource;
use crate::present::ladder::finding;
use crate::present::machine;
use crate::present::need::unfinished::way_of;
use crate::present::report_index::Index;
use crate::present::text::page::Page;
use crate::present::text::tone::Tone;
use crate::present::text::zone::Zone;
use crate::present::words;
use crate::source::os::clock;

/// What `doctor --json` prints.
#[derive(Serialize)]
struct Diagnosis<'a> {
    schema: &'static str,
    taken_at: Timestamp,
    findings: &'a [Arc<Finding>],
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    journal: &'a [String],
    /// The sources that may hold a problem as well.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unread_sources: Vec<&'a SourceHealth>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_asked: &'a [NotAsked],
}

/// Looks once and prints what is wrong, with what the journal says of actions that were cut off. Each command that
/// is printed about another machine ends with what is `given`.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(
    reports: &mut dyn ReportSource,
    unfinished: &[String],
    given: &str,
    shape: Shape,
) -> Outcome {
    let report = reports.next_report();
    match shape {
        Shape::Text(paint) => print(&text(&report, unfinished, given, paint))?,
        Shape::Json => print(&format!("{}\n", json::to_string_pretty(&diagnosis(&report, unfinished))?))?,
    }
    Ok(exit(&report, unfinished))
}

fn diagnosis<'a>(report: &'a Report, unfinished: &'a [String]) -> Diagnosis<'a> {
    Diagnosis {
        schema: SCHEMA,
        taken_at: report.taken_at,
        findings: &report.findings,
        journal: unfinished,
        unread_sources: unread(&report.sources, Topic::All).collect(),
        not_asked: &report.not_asked,
    }
}

fn exit(report: &Report, unfinished: &[String]) -> Exit {
    let worst = report.findings.iter().map(|finding| finding.severity).max();
    match worst {
        Some(Severity::Warning | Severity::Collision) => Exit::Problems,
        _ if !unfinished.is_empty() => Exit::Problems,
        // What was not read may hold a problem.
        None | Some(Severity::Info) if look::has_failed(report) => Exit::Failed,
        None | Some(Severity::Info) => look::exit(report),
    }
}

fn text(report: &Arc<Report>, unfinished: &[String], given: &str, paint: Paint) -> String {
    let warning = |text: &str| format!("{}\n", paint.paint(Tone::Warning, text));
    let problems = problems(report, given, paint);
    let unfinished: String = unfinished.iter().map(|text| warning(text)).collect();
    let gap = if problems.is_empty() || unfinished.is_empty() { "" } else { "\n" };
    let found = format!("{problems}{gap}{unfinished}");
    let unread: Vec<&SourceHealth> = unread(&report.sources, Topic::All).collect();
    let (tone, says) = look::no_problem(report);
    let rest = match (found.is_empty(), look::unread_names(report)) {
        (true, _) => format!("{}\n", paint.paint(tone, &says)),
        (false, Some(names)) => format!("\n{}", warning(&format!("Not everything could be read ({names})."))),
        (false, None) => String::new(),
    };
    let of_machines = unread.iter().filter(|source| source.is_machine());
    let why: String =
        of_machines.map(|source| format!("  {}: {}\n", shown(&source.id), source.detail)).collect();
    found + &rest + &why + &look::not_asked_line(report, paint)
}

/// Lays the problems out.
fn problems(report: &Arc<Report>, given: &str, paint: Paint) -> String {
    let problems = report.problems();
    if problems.is_empty() {
        return String::new();
    }
    let index = Index::new(Arc::clone(report));
    let mut page = Page::for_text(report.taken_at).in_zone(&Zone(clock::zone()));
    for of_kind in by_kind(problems) {
        page.gap();
        match &of_kind[..] {
            [finding] => {
                finding::write_entry(&mut page, &index, finding);
                page.field("Do", advice(finding).unwrap_or_default(), Tone::Key);
                let command = way_of(report, finding).or_else(|| command(&index, finding, given));
                page.field("Command", &command.unwrap_or_default(), Tone::Key);
            }
            several => write_kind(&mut page, (report, &index), several, given),
        }
    }
    lines(&page, paint)
}

/// How many problems of one kind are listed one by one.
const TOLD: usize = 10;

/// Groups problems by their codes, in the order in which each comes first.
fn by_kind(problems: &[Arc<Finding>]) -> Vec<Vec<&Finding>> {
    let mut kinds: Vec<Vec<&Finding>> = Vec::new();
    for finding in problems.iter().map(Arc::as_ref) {
        match kinds.iter_mut().find(|kind| kind.first().is_some_and(|first| first.code == finding.code)) {
            Some(kind) => kind.push(finding),
            None => kinds.push(vec![finding]),
        }
    }
    kinds
}

/// Writes several problems of one kind: how many, each in a line, and what helps against all of them.
fn write_kind(page: &mut Page, (report, index): (&Report, &Index), kind: &[&Finding], given: &str) {
    let Some(first) = kind.first() else { return };
    page.problem(first.severity, first.code.name(), &format!("{} of these", kind.len()));
    let messages: Vec<(&Finding, String)> =
        kind.iter().take(TOLD).map(|finding| (*finding, machine::problem(finding))).collect();
    for (finding, text) in &messages {
        let is_alone = messages.iter().filter(|(_, other)| other == text).count() < 2;
        let subject = finding.subjects.first().filter(|_| !is_alone);
        let which = subject.map_or_else(String::new, |key| format!(" ({})", name(index, key)));
        let what = advice(finding).map_or_else(String::new, |advice| format!("; do: {advice}"));
        page.text(&format!("  {text}{which}{what}"), Tone::Plain);
    }
    if kind.len() > TOLD {
        page.text(&format!("  and {} more: claimtop ls problems", kind.len() - TOLD), Tone::Dim);
    }
    let remedy = words::remedy(first.remedy).filter(|_| kind.iter().all(|one| one.remedy == first.remedy));
    page.field("Remedy", remedy.unwrap_or_default(), Tone::Key);
    let own: Vec<String> = messages
        .iter()
        .filter_map(|(one, _)| way_of(report, one).or_else(|| one.command.as_ref().map(ToString::to_string)))
        .collect();
    for command in if own.is_empty() { together(index, &messages, given) } else { own } {
        page.field("Command", &command, Tone::Key);
    }
}

/// Returns the commands that help against several problems, one for each thing that is to be done.
fn together(index: &Index, messages: &[(&Finding, String)], given: &str) -> Vec<String> {
    let mut commands: Vec<(&str, Vec<String>, bool)> = Vec::new();
    for (finding, _) in messages {
        let Some((verb, key)) = verb(finding) else { continue };
        let is_far = key.machine().is_some();
        let name = quoted(&name(index, key));
        match commands.iter_mut().find(|(known, _, far)| *known == verb && *far == is_far) {
            // Processes are ended one by one.
            Some((_, names, _)) if verb != "stop" => names.push(name),
            Some(_) | None => commands.push((verb, vec![name], is_far)),
        }
    }
    let given = |is_far: bool| if is_far { given } else { "" };
    let line = |(verb, mut names, is_far): (&str, Vec<String>, bool)| {
        names.dedup();
        format!("claimtop {verb} {} --dry-run{}", names.join(" "), given(is_far))
    };
    commands.into_iter().map(line).collect()
}

/// Returns what the story of a finding advises.
fn advice(finding: &Finding) -> Option<&str> {
    finding.story.as_ref().map(|story| &*story.advice)
}

/// Returns the command that helps, or that shows what helps about the first thing that it can be about; on another machine
/// with what is given.
fn command(index: &Index, finding: &Finding, given: &str) -> Option<String> {
    if let Some(command) = &finding.command {
        return Some(command.to_string());
    }
    let (verb, thing) = verb(finding)?;
    let given = if thing.machine().is_some() { given } else { "" };
    Some(format!("claimtop {verb} {} --dry-run{given}", quoted(&name(index, thing))))
}

/// Returns what helps, and about which thing.
fn verb(finding: &Finding) -> Option<(&'static str, &Key)> {
    let verb = match finding.remedy {
        Remedy::Release => "release",
        Remedy::Migrate => "migrate",
        Remedy::Park => "park",
        Remedy::Stop => "stop",
        Remedy::Rescue => return Some(("rescue", finding.subjects.first()?)),
        Remedy::Undo | Remedy::None => return None,
    };
    Some((verb, finding.subjects.iter().find(|key| key.kind() != Some(KeyKind::Window))?))
}

/// Returns the name by which commands take a thing: its path, which is only its own, else its key. A path is that of a
/// file of this machine, so a thing of another one goes by its key.
fn name(index: &Index, key: &Key) -> String {
    let record = index.record(key).and_then(|record| record.location.path());
    let path = record.or_else(|| Some(&*index.broken(key)?.path)).and_then(Path::to_str);
    let path = path.filter(|path| shown(path) == *path && key.machine().is_none());
    path.map_or_else(|| key.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::Code;
    use crate::core::testing::{busy, quiet};

    fn diagnosed(report: Report) -> (String, Exit) {
        let report = Arc::new(report);
        (text(&report, &[], "", Paint::Plain), exit(&report, &[]))
    }

    #[test]
    fn an_action_that_was_cut_off_is_a_problem() {
        let unfinished = ["Entry 1 was interrupted".to_owned()];
        let told = |report: Report| text(&Arc::new(report), &unfinished, "", Paint::Plain);
        assert_eq!(told(quiet()), "Entry 1 was interrupted\n");
        let rest = "\n\nEntry 1 was interrupted\n\nNot everything could be read (entire).\n";
        assert!(told(busy()).ends_with(rest), "{}", told(busy()));
        assert_eq!(exit(&quiet(), &unfinished), Exit::Problems);
    }

    #[test]
    fn a_window_that_no_system_knows_is_no_problem() {
        let mut report = quiet();
        let unknown = busy().findings.into_iter().filter(|finding| finding.code == Code::NoRecord);
        report.findings = unknown.collect();
        assert_eq!(report.findings.len(), 1);
        let (told, exit) = diagnosed(report);
        assert_eq!((told.as_str(), exit), ("No problem was found.\n", Exit::Fine));
    }

    #[test]
    fn windows_and_records_are_named_and_keys_are_not() {
        let report = busy();
        let keys: Vec<Key> = report.windows.iter().map(|window| window.key.clone()).collect();
        let (told, exit) = diagnosed(report);
        assert_eq!(exit, Exit::Problems);
        assert!(keys.iter().all(|key| !told.contains(key.as_str())), "{told}");
        assert!(told.contains("cart api 4711, cart tests 4890"), "{told}");
        assert!(told.contains("claimtop release "), "{told}");
    }

    #[test]
    fn a_thing_of_another_machine_goes_by_its_key() {
        let mut report = busy();
        for record in &mut report.records {
            let record = Arc::make_mut(record);
            record.key = record.key.on_machine("far");
        }
        for finding in &mut report.findings {
            let finding = Arc::make_mut(finding);
            finding.subjects = finding.subjects.iter().map(|key| key.on_machine("far")).collect();
        }
        let (told, _) = diagnosed(report);
        let commands: Vec<&str> = told.lines().filter(|line| line.contains("claimtop ")).collect();
        assert!(!commands.is_empty(), "{told}");
        assert!(commands.iter().all(|command| command.contains("@far")), "{commands:?}");
    }
}
