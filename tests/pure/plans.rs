//! The plans of claimtop for each sort of record, over all worlds, as one readable table.
//!
//! `CLAIMTOP_WRITE_EXPECTED=1 cargo test --test pure plans` writes `tests/pure/plans.txt` again. Look at the changes:
//! each line is the effect of a key.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use claimtop::core::model::{
    Code, Key, KeyKind, Location, NeedKind, RecordView, Releasable, Remedy, Report, VerdictState,
};
use claimtop::testing::core::{
    Action, Confirmation, Meaning, Plan, Step, Subject, find, full_name, left_by, plan_for, plan_left,
};

use crate::common;

const ACTIONS: [Action; 3] = [Action::Release, Action::Park, Action::Migrate];

/// The effect of each action on each sort of record; and the terms of all plans.
#[derive(Default)]
struct Table {
    sorts: BTreeMap<String, BTreeMap<String, BTreeSet<String>>>,
    terms: BTreeSet<String>,
}

/// Names the sort of a record, as far as it matters to its plans.
fn sort_of(record: &RecordView) -> String {
    let place = match &record.location {
        Location::File(_) => "file",
        Location::Row(row) => row.table,
    };
    let ended = if record.has_ended { ", ended" } else { "" };
    let [kind, generation] =
        [common::expect::json_name(&record.kind), common::expect::json_name(&record.generation)];
    let state = record.verdict.state.name();
    format!("{} {kind} ({place}, {generation}), {state}{ended}", record.format.name())
}

/// Describes a plan without the names of one world.
fn told(plan: &Plan, record: &RecordView) -> String {
    let title = record.title.shown();
    let what = if title.is_empty() { plan.what.clone() } else { plan.what.replace(&title, "<title>") };
    let what: Vec<&str> = what.split(' ').map(masked).collect();
    let what = what.join(" ");
    if plan.steps.is_empty() {
        assert_eq!(plan.inverse, "nothing to undo");
        let instead = numbers_masked(&plan.why.join("; "));
        return format!("{}: {what}; {instead}", common::expect::json_name(&plan.confirmation));
    }
    let steps: BTreeSet<&str> = plan.steps.iter().map(step).collect();
    let steps: Vec<&str> = steps.into_iter().collect();
    let then = if plan.follows.is_empty() { "" } else { ", and then its files by themselves" };
    format!("{}: {what}, by {}{then}", common::expect::json_name(&plan.confirmation), steps.join(" and "))
}

/// States when plans with such steps refuse, and how they are undone.
fn terms(plan: &Plan) -> String {
    let steps: BTreeSet<&str> = plan.steps.iter().map(step).collect();
    let steps: Vec<&str> = steps.into_iter().collect();
    let whose = plan.steps.iter().find_map(|step| match step {
        Step::Row { format, .. } => Some(format!(" of {}", format.name())),
        Step::Park { .. }
        | Step::Move { .. }
        | Step::Restore { .. }
        | Step::BringBack { .. }
        | Step::Merge { .. }
        | Step::Settings { .. }
        | Step::EndEntireSession { .. }
        | Step::Stop { .. } => None,
    });
    let not_if: String = plan.refuses_when.iter().map(|why| format!("    not if {why}\n")).collect();
    format!("{}{}\n{not_if}    {}\n", steps.join(" and "), whose.unwrap_or_default(), plan.inverse)
}

/// Hides a word that names something of one world: a path, an item, a context ID.
fn masked(word: &str) -> &str {
    let is_name = word.contains('/') || word.chars().any(|c| c.is_ascii_digit());
    if is_name { "<name>" } else { word }
}

fn numbers_masked(text: &str) -> String {
    let parts: Vec<&str> = text.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect();
    parts.join("#")
}

fn step(step: &Step) -> &'static str {
    match step {
        Step::Park { .. } => "parking",
        Step::Move { .. } => "moving",
        Step::Restore { .. } => "restoring",
        Step::BringBack { .. } => "bringing back",
        Step::Merge { .. } => "merging",
        Step::Settings { .. } => "changing settings",
        Step::EndEntireSession { .. } => "exchanging",
        Step::Row { .. } => "changing rows",
        Step::Stop { .. } => "ending processes",
    }
}

/// Returns the plans about files that are not records, each of which can only be parked.
fn broken(report: &Report) -> impl Iterator<Item = Plan> {
    let is_no_record = |key: &&Key| !report.records().any(|record| record.key == **key);
    let codes = [Code::CorruptRecord, Code::TornRecord];
    let of_files = report.findings.iter().filter(move |finding| codes.contains(&finding.code));
    let keys: Vec<&Key> =
        of_files.filter_map(|finding| finding.subjects.first()).filter(is_no_record).collect();
    let plan = |key: &Key| {
        for action in [Action::Release, Action::Migrate, Action::Undo, Action::Stop] {
            assert_eq!(plan_for(report, key, action).confirmation, Confirmation::Refused);
        }
        let plan = plan_for(report, key, Action::Park);
        assert_eq!(plan.confirmation, Confirmation::Code);
        assert_eq!((&plan.subject, &plan.record), (key, key));
        plan
    };
    keys.into_iter().map(plan)
}

fn table() -> Table {
    let mut table = Table::default();
    for case in common::cases() {
        let report = case.report();
        table.terms.extend(broken(report).map(|plan| terms(&plan)));
        for record in &report.records {
            assert!(plan_for(report, &record.key, Action::Undo).steps.is_empty(), "a record is no entry");
            assert!(plan_for(report, &record.key, Action::Stop).steps.is_empty(), "a record is no process");
            for action in ACTIONS {
                let plan = plan_for(report, &record.key, action);
                let of_sort = table.sorts.entry(sort_of(record)).or_default();
                of_sort.entry(told(&plan, record)).or_default().insert(common::expect::json_name(&action));
                table.terms.extend((!plan.steps.is_empty()).then(|| terms(&plan)));
            }
        }
    }
    table
}

fn text_of(table: &Table) -> String {
    let mut text = String::new();
    for (sort, outcomes) in &table.sorts {
        let _ = writeln!(text, "{sort}");
        for (told, actions) in outcomes {
            let actions: Vec<&str> = actions.iter().map(String::as_str).collect();
            let _ = writeln!(text, "    {}: {told}", actions.join(", "));
        }
    }
    table.terms.iter().fold(text, |text, terms| format!("{text}\n{terms}"))
}

#[test]
fn a_plan_about_a_claim_is_one_about_its_record_and_names_what_is_held() {
    for case in common::cases() {
        let report = case.report();
        for claim in &report.claims {
            let plan = plan_for(report, &claim.key, Action::Release);
            assert_eq!(plan.subject, claim.key);
            if !plan.steps.is_empty() {
                assert_eq!(plan.record, claim.record.key);
                assert!(plan.name.ends_with(&claim.resource.id.shown()), "{}", plan.name);
            }
        }
    }
}

#[test]
fn the_table_of_plans_is_as_it_was_read() {
    let text = text_of(&table());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pure/plans.txt");
    if std::env::var_os("CLAIMTOP_WRITE_EXPECTED").is_some() {
        std::fs::write(&path, &text).expect("the table is written");
    }
    let expected = std::fs::read_to_string(&path).expect("the table is there");
    let news: Vec<&str> = text.lines().filter(|line| !expected.lines().any(|known| known == *line)).collect();
    assert!(
        text == expected,
        "the table has changed, write it anew and read it; new lines:\n{}",
        news.join("\n")
    );
}

/// The promise of the list of claims is what the sheet then requires.
#[test]
fn a_claim_says_how_its_plan_is_confirmed() {
    let mut wrong = BTreeMap::<String, usize>::new();
    for case in common::cases() {
        let report = case.report();
        for claim in &report.claims {
            let plan = plan_for(report, &claim.key, Action::Release);
            let asked = match plan.confirmation {
                Confirmation::Yes => Releasable::Yes,
                Confirmation::Code | Confirmation::FullName => Releasable::Confirm,
                Confirmation::Refused => Releasable::No,
            };
            if claim.releasable != asked {
                let record = report.records().find(|record| record.key == claim.record.key).unwrap();
                let what = format!(
                    "{}, {:?}: {:?}, but {:?} ({})",
                    sort_of(record),
                    claim.status,
                    claim.releasable,
                    asked,
                    plan.what
                );
                *wrong.entry(what).or_default() += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every offer of a finding can be carried out.
#[test]
fn no_remedy_is_refused() {
    let mut wrong = BTreeMap::<String, usize>::new();
    for case in common::cases() {
        let report = case.report();
        for finding in &report.findings {
            let action = match finding.remedy {
                Remedy::Release => Action::Release,
                Remedy::Park => Action::Park,
                Remedy::Migrate => Action::Migrate,
                Remedy::Rescue => Action::Rescue,
                Remedy::Undo | Remedy::Stop | Remedy::None => continue,
            };
            let plans: Vec<_> = finding.subjects.iter().map(|key| plan_for(report, key, action)).collect();
            if plans.iter().all(|plan| plan.confirmation == Confirmation::Refused) {
                let plan = plans.last().unwrap();
                let record = report.records().find(|record| record.key == plan.record);
                let sort = record.map_or_else(String::new, sort_of);
                *wrong
                    .entry(format!("{}: {action:?} of {sort}: {}", finding.code.name(), plan.what))
                    .or_default() += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a dead window has lost can be brought back from its line in Now.
#[test]
fn the_line_of_a_dead_window_brings_back_what_it_has_lost() {
    let mut seen = 0;
    for case in common::cases() {
        for need in &case.report().needs {
            let NeedKind::Died(left) = &need.kind else { continue };
            let plan = plan_for(case.report(), &need.subject, Action::Rescue);
            assert_eq!(
                plan.confirmation == Confirmation::Yes,
                left.lost > 0,
                "{}: {need:?}",
                case.path.display()
            );
            assert_eq!(plan.steps.len(), left.lost, "{}: {need:?}", case.path.display());
            seen += left.lost;
        }
    }
    assert!(seen > 0);
}

/// Returns whether any plan of a record takes a plain yes.
fn takes_yes(report: &Report, key: &Key) -> bool {
    let actions = [Action::Release, Action::Park];
    actions.iter().any(|action| plan_for(report, key, *action).confirmation == Confirmation::Yes)
}

/// An action that a finding advises against never takes a plain yes.
#[test]
fn nothing_is_let_go_by_a_plain_yes_that_a_finding_tells_to_keep() {
    let mut seen = 0;
    for case in common::cases() {
        let (path, report) = (&case.path, case.report());
        for finding in &report.findings {
            let advice = finding.story.as_ref().map_or("", |story| &story.advice);
            let says = format!("{} {advice}", finding.message);
            if !says.contains("do not release") {
                continue;
            }
            let records = finding.subjects.iter().filter(|key| key.kind() != Some(KeyKind::Window));
            for key in records {
                seen += 1;
                assert!(!takes_yes(report, key), "{}: {says}", path.display());
            }
        }
    }
    assert!(seen > 10, "only {seen} findings tell to keep something");
}

/// A holder that a finding calls dead and offers to release is released by a plain yes, or the finding gives the
/// reason why more is required.
#[test]
fn what_a_finding_calls_dead_takes_a_plain_yes_or_it_says_why_not() {
    let codes = [Code::DeadHolder, Code::RecycledPid, Code::RebootedHolder, Code::StaleLock];
    let (mut plain, mut told) = (0, 0);
    for case in common::cases() {
        let (path, report) = (&case.path, case.report());
        let offers = report.findings.iter().filter(|finding| finding.remedy != Remedy::None);
        for finding in offers.filter(|finding| codes.contains(&finding.code)) {
            if finding.message.to_string().contains("; but ") {
                told += 1;
                continue;
            }
            let keys = finding.subjects.iter();
            let asks_for_more = |key: &Key| {
                let plan = plan_for(report, key, Action::Release);
                !matches!(plan.confirmation, Confirmation::Yes | Confirmation::Refused)
            };
            plain += 1;
            assert!(!keys.clone().any(asks_for_more), "{}: {}", path.display(), finding.message);
        }
    }
    assert!(plain > 50 && told > 0, "{plain} take a plain yes, {told} say why not");
}

/// Two live holders of one thing are distinguished by what must be typed, and the plan names the holder.
#[test]
fn no_two_plans_that_take_from_the_living_ask_for_the_same_text() {
    let mut of_windows = 0;
    for case in common::cases() {
        let (path, report) = (&case.path, case.report());
        let mut names = BTreeMap::new();
        for claim in &report.claims {
            let plan = plan_for(report, &claim.key, Action::Release);
            if plan.confirmation != Confirmation::FullName {
                continue;
            }
            let window = report.windows.iter().find(|window| Some(&window.key) == claim.window.as_ref());
            if let Some(window) = window {
                of_windows += 1;
                let held_by = plan.held_by.expect("a live window holds it");
                assert!(
                    held_by.starts_with(&format!("{} (PID {})", window.title(), window.pid)),
                    "{held_by}"
                );
                let pid = format!("PID {}", window.pid);
                assert!(
                    plan.name.starts_with(&window.title()) || plan.name.starts_with(&pid),
                    "{}",
                    plan.name
                );
            }
            let pid = claim.record.pid().filter(|_| claim.window.is_none());
            let holder = (&claim.window, pid);
            let other = names.insert(plan.name.clone(), holder);
            assert!(other.is_none_or(|other| other == holder), "{}: {}", path.display(), plan.name);
        }
    }
    assert!(of_windows > 5, "only {of_windows}");
}

/// Returns the keys of everything that a name can mean.
fn meant(report: &Report, asked: &str) -> Vec<Key> {
    let keys = |subjects: &[Subject<'_>]| subjects.iter().map(|subject| subject.key().clone()).collect();
    match find(report, asked, &Path::new("/nowhere").join(asked)) {
        Meaning::Nothing => Vec::new(),
        Meaning::One(subject) => keys(&[subject]),
        Meaning::Several(several) => keys(&several),
        Meaning::Left(record) => left_by(report, record).iter().map(|record| record.key.clone()).collect(),
    }
}

/// Every name on the screen finds its thing, or several things including it; a claim can be found by its window or its
/// record.
#[test]
fn every_name_on_the_screen_finds_what_bears_it() {
    let mut asked = 0;
    let mut check = |report: &Report, name: &str, wanted: &[Option<&Key>], path: &Path| {
        asked += 1;
        let found = meant(report, name);
        let is_found = wanted.iter().flatten().any(|key| found.contains(key));
        assert!(is_found || name.is_empty(), "{}: {name:?} means {found:?}, not {wanted:?}", path.display());
    };
    for case in common::cases() {
        let (path, report) = (&case.path, case.report());
        for window in &report.windows {
            let session = window.session_id.iter().map(|id| id.raw().to_owned());
            let names = [window.title(), window.pid.to_string(), window.key.to_string()];
            let context = [window.context_id.value.raw().to_owned()];
            for name in session.chain(names).chain(context) {
                check(report, &name, &[Some(&window.key)], path);
            }
        }
        for record in report.records() {
            let names = record.session_id.iter().chain(&record.context_id).map(|id| id.raw().to_owned());
            let places = match &record.location {
                Location::File(path) => Some(path.text().raw().to_owned()),
                Location::Row(_) => None,
            };
            let is_listed = left_by(report, record).iter().any(|one| one.key == record.key);
            let all = names.filter(|_| is_listed).chain(places).chain([record.key.to_string()]);
            for name in all {
                check(report, &name, &[Some(&record.key), record.window.as_ref()], path);
            }
        }
        for claim in &report.claims {
            let kind = claim.resource.kind.name();
            let names = [claim.resource.id.shown(), format!("{kind} {}", claim.resource.id.shown())];
            let wanted = [Some(&claim.key), Some(&claim.record.key), claim.window.as_ref()];
            for name in names.into_iter().chain([full_name(report, claim), claim.key.to_string()]) {
                check(report, &name, &wanted, path);
            }
        }
    }
    assert!(asked > 2_000, "{asked}");
}

/// The left-overs of an ended window are released together by a plain yes only if each part is proven dead and takes a
/// plain yes by itself; the parts that stay are named.
#[test]
fn all_that_a_window_has_left_is_what_takes_a_plain_yes_by_itself() {
    let (mut several, mut stay) = (0, 0);
    for case in common::cases() {
        let (path, report) = (&case.path, case.report());
        for record in report.records() {
            let plan = plan_left(report, &record.key);
            let left = left_by(report, record);
            assert!(left.iter().all(|one| one.verdict.state != VerdictState::Alive), "{}", path.display());
            assert!(plan.steps.is_empty(), "it only holds the parts together");
            let is_refused = plan.confirmation == Confirmation::Refused;
            assert_eq!(is_refused, plan.follows.is_empty(), "{}: {plan:?}", path.display());
            for part in &plan.follows {
                let alone = plan_for(report, &part.subject, Action::Release);
                assert_eq!(alone.confirmation, Confirmation::Yes, "{}", path.display());
                assert_eq!(part.steps, alone.steps);
            }
            several += usize::from(plan.follows.len() > 1);
            stay += usize::from(plan.why.iter().any(|why| why.starts_with("stays: ")));
        }
    }
    assert!(several > 20 && stay > 0, "{several} of several parts, {stay} with what stays");
}
