//! What is reported of a thing, and the pages over the table with their ways out.

use std::path::PathBuf;

use super::*;
use crate::app::layer::Layer;
use crate::app::page::panel::Pick;
use crate::app::page::summary::summary;
use crate::app::rows;
use crate::app::rows::collisions::Collisions;
use crate::app::state::activity::Activity;
use crate::app::table::view::View;
use crate::core::model::text::is_forbidden;
use crate::core::model::{
    ClaimStatus, Code, CommitState, Edit, Evidence, Format, MachineState, MachineView, Member, Port,
    ProcessId, Reason, Remedy, Request, Role, Signal, UnreadWork, WhyUnread, WindowView,
};
use crate::present::report_index::Index;
use crate::present::text::tone::{Span, of_claim};

#[track_caller]
fn check_evidence(keys: &str, parts: &[&str]) {
    let mut state = seen(testing::busy());
    press(&mut state, keys);
    let text = panel_text(&state);
    for part in parts {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
}

#[test]
fn the_evidence_names_facts_values_sources_and_moments() {
    check_evidence("\n", &["same-worktree", "/proc/4711/cwd, 10:00:00Z", "Context ID", "SD-101", "2 h ago"]);
    check_evidence(
        "3j\n",
        &["no-process", "/proc/3999/stat", "dead-holder", "r shows how to release", "/tmp/gamma"],
    );
    check_evidence("4\n", &["two live holders", "unread", "typed confirmation", "same-process"]);
    check_evidence("5\n", &["two live windows", "About cart api 4711", "About cart tests 4890"]);
}

#[test]
fn what_is_not_stale_is_told_with_what_would_be() {
    check_evidence("3\n", &["Stale           no; stale means: heartbeat older than 900 s"]);
    let mut report = testing::busy();
    for record in &mut report.records {
        Arc::make_mut(&mut Arc::make_mut(record).record).expiry = None;
    }
    let mut state = seen(report);
    press(&mut state, "3\n");
    assert!(panel_text(&state).contains("Stale           no: its system has no time limit for it"));
}

#[test]
fn whose_a_pid_is_reads_as_in_the_evidence_unless_its_process_tells_more() {
    check_evidence("3\n", &["Holder          PID 4711 (agent)"]);
    let mut report = testing::busy();
    Arc::make_mut(&mut report.records[0]).role = Role::Shell;
    let mut state = seen(report);
    press(&mut state, "3\n");
    assert!(panel_text(&state).contains("PID 4711 (shell, as its process shows)"));
    assert_eq!(Evidence::pid(4711, Role::Shell).value.raw(), "4711 (shell)");
}

#[test]
fn whose_a_pid_is_and_why_its_end_proves_nothing_agree() {
    for role in [Role::Shell, Role::Hook, Role::Daemon, Role::Unknown] {
        let mut report = testing::busy();
        let record = Arc::make_mut(&mut report.records[0]);
        record.role = role;
        record.verdict.reason = Reason::WrongRole;
        let mut state = seen(report);
        press(&mut state, "3\n");
        let text = panel_text(&state);
        assert!(text.contains(role.whose()) && text.contains("may be a helper's"), "{text}");
    }
}

#[test]
fn what_a_window_waits_for_is_told_with_one_word() {
    check_evidence("j\n", &["State           asks you", "Agent says      waiting: permission prompt"]);
    check_evidence("\n", &["State           working", "Agent says      busy"]);
}

#[test]
fn sub_agents_that_edited_one_uncommitted_file_are_named() {
    let mut report = testing::busy();
    testing::edits(&mut report.windows[0], &["/a/pay.rs", "/a/tax.rs", "/a/cart.rs"]);
    let work = Arc::make_mut(report.windows[0].work.as_mut().unwrap());
    let by = |edit: &mut Edit, ids: &[&str], committed| {
        let mut ids = ids.iter().map(|id| (*id).into());
        (edit.by, edit.also, edit.fate.committed) = (ids.next(), ids.collect(), committed);
    };
    by(&mut work.doing.edits[0], &["a2", "a1"], CommitState::No);
    by(&mut work.doing.edits[1], &["a1"], CommitState::No);
    by(&mut work.doing.edits[2], &["a2", "a1"], CommitState::Yes);
    let mut state = seen(report);
    press(&mut state, "\n");
    let text = panel_text(&state);
    let told: Vec<&str> = text.lines().filter(|line| line.contains("Sub-agents")).map(str::trim).collect();
    assert_eq!(told, ["Sub-agents      2 have edited /a/pay.rs, not committed: a2, a1"], "{text}");
    assert!(text.contains("Not seen        edits by shell commands"), "{text}");
}

#[test]
fn who_else_has_edited_a_file_is_told_of_those_on_its_machine() {
    let mut report = testing::busy();
    testing::edits(&mut report.windows[0], &["/a/pay.rs"]);
    let copy = |key: &str, name: &str| {
        let mut window = report.windows[0].clone();
        (window.key, window.name) = (Key::typed(key), Some(name.into()));
        window
    };
    let mut all: Vec<_> = (1..=9).map(|at| copy(&format!("w-copy{at}"), &format!("copy-{at}"))).collect();
    all.push(copy("w-far1@devbox", "far"));
    let told = |windows: &[WindowView]| {
        let mut report = report.clone();
        report.windows.extend(windows.iter().cloned());
        let mut state = seen(report);
        press(&mut state, "\n");
        panel_text(&state)
    };
    let far = told(&all[9..]);
    assert!(far.contains("pay.rs") && !far.contains("also by"), "{far}");
    let near = told(&all);
    assert!(
        near.contains("also by copy-1, copy-2") && near.contains("more") && !near.contains("copy-9"),
        "{near}"
    );
}

#[test]
fn why_it_is_not_known_what_a_window_does_is_told() {
    let mut report = testing::busy();
    report.windows[0].unread = Some(Box::new(UnreadWork {
        format: Format::ClaudeCode,
        session: "95fe798d".into(),
        path: PathBuf::from("/a/95fe798d.jsonl").into(),
        why: WhyUnread::Link,
    }));
    let mut state = seen(report.clone());
    let index = Index::new(Arc::new(report.clone()));
    let row =
        rows::now::window((&Collisions::from_index(&index), &Activity::default()), &report.windows[0], now());
    let told = "not known: its session file is a symbolic link, which is not followed";
    assert_eq!(row.cells[3].span.text(), told);
    press(&mut state, "\n");
    let text = panel_text(&state);
    let line = "not known: /a/95fe798d.jsonl is a symbolic link";
    assert!(text.contains(line), "{text}");
}

#[test]
fn what_else_was_not_read_is_told_beside_what_a_window_does() {
    let mut report = testing::busy();
    testing::edits(&mut report.windows[0], &["/a/pay.rs"]);
    report.windows[0].unread = Some(Box::new(UnreadWork {
        format: Format::ClaudeCode,
        session: "95fe798d".into(),
        path: PathBuf::from("/a/95fe798d/subagents/agent-a1.jsonl").into(),
        why: WhyUnread::NoPermission,
    }));
    let mut state = seen(report);
    press(&mut state, "\n");
    let text = panel_text(&state);
    let line = "/a/95fe798d/subagents/agent-a1.jsonl may not be read";
    assert!(text.contains("Not read") && text.contains(line), "{text}");
    assert!(!text.contains("not known"), "{text}");
}

#[test]
fn the_map_has_the_sign_of_each_claim_that_the_claims_view_has() {
    let mut state = seen(testing::busy());
    press(&mut state, "v");
    let lines = state.panel.as_ref().map(|panel| panel.page.lines.clone()).unwrap_or_default();
    for claim in testing::busy().claims {
        let what = format!("{} {}", claim.resource.kind.name(), claim.resource.id);
        let line = lines.iter().find(|line| line.plain().ends_with(&what)).expect(&what);
        let sign = line.0.iter().rev().find_map(Span::mark);
        assert_eq!(sign, Some(of_claim(claim.status).0), "{what}");
    }
    assert_ne!(of_claim(ClaimStatus::Expired).0, of_claim(ClaimStatus::Dead).0);
}

#[test]
fn enter_on_the_map_goes_to_the_thing() {
    check_map("", View::Windows, "w-4711");
    check_map("l", View::Sessions, "r-alpha");
    check_map("ll", View::Claims, "c-SD-101");
    check_map("llh", View::Sessions, "r-alpha");
    let mut state = seen(testing::busy());
    press(&mut state, "/docs\nv\n");
    assert_eq!((state.selected(), state.filter.text.as_str()), (Some(&key("w-4711")), ""));
}

#[track_caller]
fn check_map(keys: &str, view: View, selected: &str) {
    let mut state = seen(testing::busy());
    press(&mut state, &format!("5v{keys}\n"));
    assert_eq!((state.view, state.selected().map(Key::as_str)), (view, Some(selected)), "{keys}");
    assert!(state.layers.is_empty());
}

#[test]
fn every_thing_on_the_map_can_be_chosen_and_is_in_sight_then() {
    for (width, height) in [(60, 15), (80, 24), (200, 50)] {
        let mut state = seen(testing::busy());
        update(&mut state, Msg::Resized(Size { width, height }));
        press(&mut state, "v");
        let choices = state.panel.as_ref().map(|panel| panel.choices.clone()).unwrap_or_default();
        for window in testing::busy().windows {
            assert!(choices.iter().any(|choice| choice.pick == Pick::Thing(window.key.clone())));
        }
        for (at, choice) in choices.iter().enumerate() {
            let (panel, layer) = (state.panel.as_ref().unwrap(), state.layers.last().unwrap());
            assert_eq!(layer.chosen(), at);
            let shown = panel.page.pinned + layer.scroll()..layer.scroll() + state.size.panel_lines();
            assert!(shown.contains(&choice.line), "{at} at {width}x{height}");
            press(&mut state, "l");
        }
    }
}

#[test]
fn evidence_of_what_is_gone_says_so() {
    let mut state = seen(testing::busy());
    press(&mut state, "\n");
    look(&mut state, testing::quiet());
    assert!(panel_text(&state).contains("Gone since the last look"));
}

#[test]
fn panels_scroll_within_their_lines() {
    let mut state = seen(testing::busy());
    update(&mut state, Msg::Resized(Size { width: 60, height: 15 }));
    press(&mut state, "\nG");
    let lines = state.panel.as_ref().map_or(0, |panel| panel.page.lines.len());
    assert_eq!(state.layers.last().map(Layer::scroll), Some(lines - state.size.panel_lines()));
    update(&mut state, Msg::Resized(Size { width: 200, height: 50 }));
    assert_eq!(state.layers.last().map(Layer::scroll), Some(0));
}

#[test]
fn escape_closes_one_level_and_never_quits() {
    let mut state = seen(testing::busy());
    press(&mut state, " /cart\n\nm?");
    assert_eq!(state.layers.len(), 2, "{:?}", state.layers);
    let left = |state: &State| (state.layers.len(), state.filter.text.len(), state.marks.len());
    let mut levels = Vec::new();
    for _ in 0..6 {
        let effects = press(&mut state, "\u{1b}");
        assert!(!effects.contains(&Effect::Quit));
        levels.push(left(&state));
    }
    assert_eq!(levels, [(1, 4, 1), (0, 4, 1), (0, 0, 1), (0, 0, 0), (0, 0, 0), (0, 0, 0)]);
}

#[test]
fn q_closes_what_is_open_and_quits_where_nothing_is() {
    let mut state = seen(testing::busy());
    press(&mut state, "\n?");
    for left in [1, 0] {
        assert_eq!(press(&mut state, "q"), [Effect::Redraw]);
        assert_eq!(state.layers.len(), left);
    }
    assert_eq!(press(&mut state, "q"), [Effect::Quit]);
}

#[test]
fn control_c_quits_from_anywhere_and_the_filter_takes_a_q() {
    for keys in ["/q", "\n?", "4jr", "v", "D"] {
        let mut state = seen(testing::busy());
        assert!(!press(&mut state, keys).contains(&Effect::Quit), "{keys}");
        assert_eq!(update(&mut state, Msg::Pressed(Press::Ctrl('c'))), [Effect::Quit], "{keys}");
    }
}

#[test]
fn the_keys_of_the_table_go_on_from_what_is_open() {
    for open in ["\n", "v", "t", "D", "?", "\n?"] {
        let mut state = seen(testing::busy());
        press(&mut state, open);
        press(&mut state, "4");
        assert_eq!((state.layers.len(), state.view), (0, View::Claims), "4 after {open:?}");
        press(&mut state, open);
        press(&mut state, "\t");
        assert_eq!((state.layers.len(), state.view), (0, View::Problems), "Tab after {open:?}");
        press(&mut state, "2");
        press(&mut state, open);
        press(&mut state, "n");
        assert_eq!((state.layers.len(), state.selected()), (0, Some(&key("w-4890"))), "n after {open:?}");
    }
}

#[test]
fn a_plan_stays_open_and_says_why() {
    for (keys, open) in [("3jr", 1), ("3jr?", 2)] {
        for away in ["4", "\t", "n", "N"] {
            let mut state = seen(testing::busy());
            press(&mut state, keys);
            press(&mut state, away);
            assert_eq!((state.layers.len(), state.view), (open, View::Sessions));
            assert_eq!(
                state.message.as_deref(),
                Some("A plan is open: Esc closes it"),
                "{away:?} after {keys}"
            );
        }
    }
}

#[test]
fn a_key_that_does_nothing_here_says_why() {
    check_message("\ns", "Not while this is open: Esc closes it");
    check_message("7s", "History is sorted by time only");
    check_message("jjjjr", "There is nothing here to release");
    check_message("w", "Nothing can be recorded here");
}

#[track_caller]
fn check_message(keys: &str, said: &str) {
    let mut state = seen(testing::busy());
    press(&mut state, keys);
    assert_eq!(state.message.as_deref(), Some(said));
}

#[track_caller]
fn check_summary(keys: &str, what: &str, hint: &str) {
    let mut state = seen(testing::busy());
    press(&mut state, keys);
    let said = summary(&state);
    assert_eq!((said.what.plain().as_str(), said.hint.plain().as_str()), (what, hint));
}

#[test]
fn one_sentence_says_what_is_wrong_and_which_key_helps() {
    check_summary(
        "3j",
        "dead-holder: PID 3999 is gone since 3 min and still holds SD-099",
        "r shows how to release",
    );
    check_summary("jj", "suspended-holder: PID 5333 is stopped and keeps its claims", "Enter shows why");
    check_summary("jjjj", "No problem found with this one", "");
    check_summary("J", "cart api is in tmux pane %0 of session $0 (socket /tmp/tmux-1000/default)", "");
    check_summary("5J", "cart api is in tmux pane %0 of session $0 (socket /tmp/tmux-1000/default)", "");
    check_summary("5jJ", "cart api is in tmux pane %0 of session $0 (socket /tmp/tmux-1000/default)", "");
    check_summary("z", "There is nothing to undo", "");
}

#[test]
fn of_a_machine_that_is_not_heard_nothing_is_called_right() {
    let mut report = testing::quiet();
    let told = |name: &str, state, detail: &str| {
        let mut machine = MachineView::new(name, format!("ssh {name}"));
        (machine.state, machine.detail) = (state, detail.into());
        machine
    };
    report.machines = vec![
        told("devbox", MachineState::Live, ""),
        told("gpu", MachineState::Unreached, "no route to host"),
    ];
    let mut state = seen(report);
    press(&mut state, "8");
    let said = summary(&state).what.plain();
    assert_eq!(said, "gpu is unreached: no route to host");
    press(&mut state, "j");
    assert_eq!(summary(&state).what.plain(), "No problem found with this one");
}

#[track_caller]
fn check_copied(keys: &str, what: &str, text: &str) {
    let mut state = seen(testing::busy());
    assert_eq!(press(&mut state, keys)[0], Effect::Copy(text.to_owned()), "{keys}");
    assert_eq!(state.message, Some(format!("Copied {what} {text}")), "{keys}");
}

#[test]
fn copying_takes_what_is_of_use_and_says_what_it_was() {
    check_copied("y", "session ID", "0b7c9c1e-5a55-4c0e-9d55-2d1f1c1f7a10");
    check_copied("3jy", "path", "/tmp/gamma");
    check_copied("4y", "work-item", "SD-101");
    // Of a problem, whom it is about.
    check_copied("5y", "session ID", "0b7c9c1e-5a55-4c0e-9d55-2d1f1c1f7a10");
    check_copied("Y", "key", "w-4711");
    check_copied("3jY", "key", "r-gamma");
    check_copied("3j\nY", "key", "r-gamma");
    let mut state = seen(testing::busy());
    let mut later = testing::busy();
    later.windows.retain(|window| window.pid != 5120);
    look(&mut state, later);
    assert_eq!(press(&mut state, "7y")[0], Effect::Copy("shop-docs (codex) is no longer seen".to_owned()));
}

#[test]
fn of_a_problem_that_a_command_helps_against_that_is_copied() {
    let mut report = testing::busy();
    Arc::make_mut(&mut report.findings[0]).command = Some("git branch x y".into());
    let mut state = seen(report);
    assert_eq!(press(&mut state, "5y")[0], Effect::Copy("git branch x y".to_owned()));
    assert_eq!(state.message.as_deref(), Some("Copied the command git branch x y"));
}

#[test]
fn no_copied_text_can_press_enter_where_it_is_pasted() {
    for keys in ["2y", "3y", "4y", "5y", "2Y", "5Y"] {
        let mut state = seen(testing::hostile());
        let effects = press(&mut state, keys);
        let Some(Effect::Copy(text)) = effects.first() else { panic!("{effects:?}") };
        assert!(!text.chars().any(is_forbidden), "{text:?} after {keys}");
    }
}

#[track_caller]
fn check_help(keys: &str, listed: &str, not: &str) {
    let mut state = seen(testing::busy());
    update(&mut state, Msg::Resized(Size { width: 100, height: 60 }));
    press(&mut state, keys);
    press(&mut state, "?");
    let text = panel_text(&state);
    let names: Vec<&str> = text.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for key in listed.chars() {
        assert!(names.contains(&key.to_string().as_str()), "{key} is missing after {keys:?}:\n{text}");
    }
    for key in not.chars() {
        assert!(!names.contains(&key.to_string().as_str()), "{key} is there after {keys:?}:\n{text}");
    }
}

#[test]
fn the_help_lists_the_keys_that_are_active_and_no_others() {
    check_help("", "nsyJvx/q?", "zbwm.]");
    check_help("3j", "ry", "m");
    check_help("jjjj", "Jx", "rm");
    check_help("7", "q/", "rmxsJ");
    check_help("\n", "yq", "s/v");
    let mut state = seen(testing::quiet());
    press(&mut state, "?");
    assert!(!panel_text(&state).contains("next problem") && !panel_text(&state).contains("Evidence"));
}

/// Returns the windows whose processes these effects ask for.
fn measured(effects: &[Effect]) -> Vec<&str> {
    fn key(effect: &Effect) -> Option<&str> {
        if let Effect::Measure(of) = effect { Some(of.key.as_str()) } else { None }
    }
    effects.iter().filter_map(key).collect()
}

#[test]
fn what_the_processes_of_a_window_take_is_asked_for_while_its_evidence_is_open() {
    let busy = testing::busy();
    let mut state = seen(busy.clone());
    assert_eq!(measured(&look(&mut state, busy.clone())), [] as [&str; 0], "nobody asks");
    let effects = press(&mut state, "\n");
    assert_eq!(measured(&effects), ["w-4711"]);
    let port = Port { number: 3000, address: "0.0.0.0".parse().unwrap(), clients: Some(2) };
    let member = |pid, parent, command: &str, ports: &[Port]| Member {
        id: ProcessId { pid, start_ticks: 9 },
        parent,
        started_at: Some(now()),
        command: command.into(),
        folder: None,
        memory: Some(2_700_000_000),
        cpu_time: Some(61_000),
        ports: ports.to_vec(),
    };
    let members = vec![member(4711, 1, "claude", &[]), member(4712, 4711, "node server.js", &[port])];
    update(&mut state, Msg::Household(key("w-4711"), members));
    let text = panel_text(&state);
    for part in [
        "Uses            5.4 GB in 2 processes, listens on :3000",
        "4712           node server.js · 0 s · 2.7 GB · 61 s CPU",
    ] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    assert_eq!(measured(&look(&mut state, busy.clone())), [] as [&str; 0], "it was just measured");
    let later = Msg::Tick(now() + SignedDuration::from_secs(6));
    update(&mut state, later);
    assert_eq!(measured(&look(&mut state, busy.clone())), ["w-4711"]);
    assert!(panel_text(&state).contains("Uses"), "it stays until it is known anew");
    press(&mut state, "\u{1b}f");
    assert_eq!(measured(&press(&mut state, "\n")), [] as [&str; 0], "a frozen picture is as it was");
}

#[test]
fn what_a_left_over_takes_is_measured_while_its_evidence_is_open() {
    let report = testing::busy();
    let one = report.left_overs.iter().find(|one| one.key == key("l-7001")).unwrap().clone();
    let mut state = seen(report);
    assert_eq!(measured(&press(&mut state, "6\n")), ["l-7001"]);
    let grown =
        |member: &Member| Member { memory: Some(2_700_000_000), command: "another".into(), ..member.clone() };
    let members: Vec<Member> = one.tree.iter().map(grown).collect();
    update(&mut state, Msg::Household(one.key.clone(), members));
    let text = panel_text(&state);
    assert!(text.contains("2.7 GB") && text.contains(one.tree[0].command.raw()), "{text}");
    assert!(!text.contains("another"), "it is called as the look has it:\n{text}");
}

#[test]
fn a_story_names_the_key_where_it_ends_the_window_that_is_to_be_closed() {
    let mut report = testing::contested();
    let finding = Arc::make_mut(&mut report.findings[0]);
    (finding.code, finding.remedy) = (Code::SharedSessionId, Remedy::None);
    finding.subjects = [key("w-4711"), key("w-4890")].into();
    let story = finding.story.as_mut().unwrap();
    (story.advice, story.yields) = ("close it".to_owned(), vec![key("w-4890")]);
    let named_on = ["5\n", "2\n", "2j\n", "2jj\n"].map(|keys| {
        let mut state = seen(report.clone());
        press(&mut state, keys);
        let is_named = panel_text(&state).contains("close it; x shows how to end it");
        let ended = Request::Stop { key: key("w-4890"), signal: Signal::Term };
        let offered = press(&mut state, "x");
        let is_offered = offered.contains(&Effect::Offer([ended].into()));
        assert_eq!(is_named, is_offered, "{keys:?}: {offered:?}");
        is_named
    });
    assert_eq!(named_on, [true, false, true, false]);
}

#[test]
fn what_to_do_stands_first_on_every_page() {
    let mut state = seen(testing::contested());
    let mut pages = 0;
    for view in ["2", "3", "4", "5"] {
        press(&mut state, view);
        for _ in 0..state.table.rows.len() {
            press(&mut state, "\n");
            let text = panel_text(&state);
            press(&mut state, "\u{1b}");
            let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
            if let Some(at) = lines.iter().position(|line| line.starts_with("Do ")) {
                pages += 1;
                assert_eq!(at, 0, "{text}");
            }
            press(&mut state, "j");
        }
    }
    assert!(pages > 3, "{pages}");
}
