//! What stands on the screen at each size, in each theme, and whatever the text is.

use std::sync::Arc;

use ratatui::buffer::Buffer;
use ratatui::style::Color;

use super::theme::{Colors, Palette};
use super::{Look, pointed, render, svg};
use crate::app::keys::command::Command;
use crate::app::msg::{Hints, Msg, Press, RecordingEvent, Target};
use crate::app::state::{Options, State};
use crate::app::table::geometry::Size;
use crate::app::table::view::View;
use crate::app::update;
use crate::config::{Access, Glyphs, Theme};
use crate::core::model::text::is_forbidden;
use crate::core::model::{
    Code, Need, NeedKind, Offer, Report, Request, SourceState, WindowFacts, WindowView,
};
use crate::core::plan::about::plan_for;
use crate::core::testing;

const SIZES: [(u16, u16); 6] = [(60, 15), (80, 24), (100, 40), (120, 30), (200, 50), (20, 5)];
/// Each view, each panel, the filter, marks and a frozen picture.
const KEYS: [&str; 18] =
    ["", "1", "3", "4 ", "5", "6", "7", "\n", "4jr", "?", "/zzz", "f", "t", "v", ":", ":sort", "c ", "s"];

fn state(report: Report, (width, height): (u16, u16), keys: &str) -> State {
    let mut state = State::new(Options::default(), Size { width, height }, testing::now());
    update(&mut state, Msg::Looked(Arc::new(report)));
    // The windows, unless another view is asked for.
    for c in std::iter::once('2').chain(keys.chars()) {
        let press = if c == '\n' { Press::Enter } else { Press::Char(c) };
        update(&mut state, Msg::Pressed(press));
    }
    state
}

fn look(glyphs: Glyphs) -> Look {
    Look { palette: Palette::new(Theme::Dark, Colors::Used), glyphs }
}

fn lines(buffer: &Buffer) -> Vec<String> {
    let width = usize::from(buffer.area.width).max(1);
    buffer
        .content()
        .chunks(width)
        .map(|cells| cells.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned())
        .collect()
}

fn screen(report: Report, size: (u16, u16), keys: &str) -> String {
    lines(&render(&state(report, size, keys), look(Glyphs::Unicode))).join("\n")
}

#[track_caller]
fn check(size: (u16, u16), keys: &str, parts: &[&str]) {
    let screen = screen(testing::busy(), size, keys);
    for part in parts {
        assert!(screen.contains(part), "{part} is missing in:\n{screen}");
    }
}

#[test]
fn a_small_screen_has_what_matters() {
    insta::assert_snapshot!(screen(testing::busy(), (60, 15), ""), @r"
     5 windows  ◆ 2 collisions  ✗ 1 dead claim  ▲ 2  [1 unread]
     1 Now  2 Windows  3 Sess  4 Claims  5 Prob  6 Left  7 Hist
      State       Window                PID Problem
    ▌ ● working   cart api             4711 ◆ same worktree +1
      ◐ asks you  cart tests           4890 ◆ same worktree
      ◌ stopped   search index         5333 ▲ suspended holder
      ● working   shop-docs (codex)    5120
      ✗ zombie    shop-fix (opencode)  6001
      ● working   release notes        6200




     ◆ same-worktree: two live windows work… · Enter shows why
     Enter why  n next problem  / filter  ? keys  q quit
    ");
}

#[test]
fn a_common_screen_has_the_evidence_of_the_selected_window_below() {
    insta::assert_snapshot!(screen(testing::busy(), (80, 24), ""), @r"
     5 windows  ◆ 2 collisions  ✗ 1 dead claim  ▲ 2 warnings        [entire failed]
     1 Now 0  2 Windows 6  3 Sess 5  4 Claims 7  5 Prob 5  6 Left-overs 2  7 History
      State       Window           PID Problem            Claims Branch         Age
    ▌ ● working   cart api        4711 ◆ same worktree +1      1 feature/ca…    2 h
      ◐ asks you  cart tests      4890 ◆ same worktree         1 feature/ca… 31 min
      ◌ stopped   search index    5333 ▲ suspended holder      1 feature/se…   25 h
      ● working   shop-docs (co…  5120                           feature/do…  5 min
      ✗ zombie    shop-fix (ope…  6001                                         40 s
      ● working   release notes   6200                           feature/no…    6 d


    ── Evidence ────────────────────────────────────────────────────────────────────
     ◆ same-worktree: two live windows work in /home/dev/src/shop-cart: cart api
       (PID 4711) and cart tests (PID 4890)

     ◆ contested-claim: SD-101 has two live holders: PID 4711 and PID 4890

       State           ● working
       Agent says      busy
       Agent           claude-code
       PID             4711, start tick 617141
     17 more lines, 5 facts: Enter
     ◆ same-worktree: two live windows work in /home/dev/src/sho… · Enter shows why
     Enter why  n next problem  / filter  p peek  s sort  f freeze  ? keys  q quit
    ");
}

/// The busy machine with so many collisions of one pair that need a person.
fn colliding(times: usize) -> Report {
    let mut report = testing::busy();
    let finding = report.findings[0].clone();
    let need = |at| {
        let kind = NeedKind::Collision {
            // More than three of another kind are one line.
            code: if times > 3 { Code::LostEdits } else { finding.code },
            message: finding.message.clone(),
            subjects: finding.subjects.to_vec(),
            windows: finding.subjects.to_vec(),
            also: vec![Code::OverlappingFiles],
            files: vec!["/a/src/pay.rs".into()],
        };
        Need {
            key: testing::key(&format!("n-{at}")),
            subject: finding.subjects[0].clone(),
            kind,
            since: None,
        }
    };
    report.needs = (0..times).map(need).collect();
    report
}

#[test]
fn what_is_wrong_is_cut_and_the_way_out_is_not() {
    for size in SIZES.into_iter().filter(|(width, _)| *width >= 60) {
        let screen = screen(colliding(1), size, "1");
        assert!(screen.contains(": git worktree add for cart tests "), "{screen}");
        assert!(screen.contains("Enter story"), "{screen}");
        let is_whole = screen.contains("cart api ↔ cart tests: same tree, both edit pay.rs: git");
        assert_eq!(is_whole, size.0 >= 120, "{screen}");
    }
}

#[test]
fn of_several_windows_in_the_way_one_is_named_and_the_others_are_counted() {
    let mut report = colliding(1);
    let third = report.windows[2].key.clone();
    let NeedKind::Collision { windows, .. } = &mut report.needs[0].kind else { panic!() };
    windows.push(third);
    for view in ["1", "2"] {
        let screen = screen(report.clone(), (200, 50), view);
        let rows: Vec<&str> =
            screen.lines().filter(|line| line.contains("◆ ") && line.contains(" +1")).collect();
        assert_eq!(rows.len(), 3, "{screen}");
    }
}

#[test]
fn the_first_tab_counts_what_needs_a_person_wherever_the_selection_is() {
    for size in [(60, 15), (200, 50)] {
        let screen = screen(colliding(30), size, "1");
        assert!(screen.contains("Now 30 "), "{screen}");
    }
}

#[test]
fn whose_edits_are_gone_is_left_out_where_the_row_has_no_room_and_names_it() {
    let mut report = colliding(1);
    let NeedKind::Collision { code, also, .. } = &mut report.needs[0].kind else { panic!() };
    (*code, *also) = (Code::LostEdits, Vec::new());
    let row = |width| screen(report.clone(), (width, 24), "1");
    assert!(row(120).contains("/a/src/pay.rs of cart api gone: u brings"), "{}", row(120));
    assert!(row(80).contains("/a/src/pay.rs gone: u brings"), "{}", row(80));
}

#[test]
fn a_second_step_is_left_out_where_it_would_hide_what_is_wrong() {
    let mut report = colliding(1);
    let NeedKind::Collision { code, also, .. } = &mut report.needs[0].kind else { panic!() };
    (*code, *also) = (Code::LostEdits, vec![Code::ContestedPort]);
    let row = |width| screen(report.clone(), (width, 24), "1");
    assert!(row(200).contains("gone: u brings them back, then give cart tests another port"), "{}", row(200));
    for width in [60, 80] {
        let narrow = row(width);
        assert!(narrow.contains(": u brings them back  ") && !narrow.contains("then give"), "{narrow}");
    }
    assert!(row(80).contains("/a/src/pay.rs gone: u brings"), "{}", row(80));
}

#[test]
fn whose_the_way_out_is_can_be_seen() {
    let mut report = colliding(1);
    let NeedKind::Collision { code, also, .. } = &mut report.needs[0].kind else { panic!() };
    (*code, *also) = (Code::SharedContextId, Vec::new());
    let screen = screen(report, (60, 15), "1");
    assert!(screen.contains("◆  cart ap") && screen.contains(": unset CLAUDE_SESSION_ID"), "{screen}");
}

#[test]
fn a_problem_has_its_way_out_in_its_row() {
    for size in [(60, 15), (80, 24), (200, 50)] {
        let screen = screen(colliding(1), size, "5");
        assert!(screen.contains(" git worktree add"), "{screen}");
        assert_eq!(screen.contains(" git worktree add for one"), size.0 >= 80, "{screen}");
    }
}

#[test]
fn however_much_needs_a_person_windows_stay_on_the_screen() {
    let screen = screen(colliding(30), (60, 15), "1");
    assert!(screen.contains("and 26 more collisions: n"), "{screen}");
    let states = ["● working", "◐ asks you", "◌ stopped", "✗ zombie"];
    assert_eq!(states.iter().map(|state| screen.matches(state).count()).sum::<usize>(), 5, "{screen}");
}

#[test]
fn a_large_screen_has_more_columns_and_the_evidence_on_the_right() {
    check((200, 18), "", &["claimtop", "devbox", "asks you", "│", "two live windows"]);
}

#[test]
fn a_high_and_wide_screen_has_the_evidence_below_in_columns() {
    let screen = screen(testing::busy(), (200, 50), "2");
    check((200, 50), "", &["asks you", "── Evidence", "Context ID", "same-process"]);
    let line = screen.lines().find(|line| line.contains("◆ same-worktree: two live")).unwrap();
    assert!(line.contains("Claims"), "the text continues in the next column: {screen}");
    assert!(!screen.contains("more lines"), "there is room for all: {screen}");
    assert!(!self::screen(testing::busy(), (200, 50), "2d").contains("Evidence"));
}

#[test]
fn many_collisions_of_one_kind_are_one_line() {
    let mut report = colliding(30);
    for need in &mut report.needs {
        let NeedKind::Collision { code, windows, .. } = &mut need.kind else { panic!() };
        (*code, *windows) = (Code::InheritedRecord, vec![need.key.clone()]);
    }
    let screen = screen(report.clone(), (120, 35), "1");
    assert!(screen.contains("30 windows: a dead window's identity: park its record"), "{screen}");
    assert!(screen.contains("Now 1 ") && !screen.contains("more collisions"), "{screen}");
    assert!(self::screen(report, (120, 35), "1\n").contains("with its story:"));
}

#[test]
fn what_nobody_has_here_is_no_tab() {
    let plain = screen(testing::quiet(), (120, 35), "1");
    assert!(plain.contains("2 Windows") && plain.contains("6 Left-overs"), "{plain}");
    for absent in ["3 Sessions", "4 Claims", "8 Machines"] {
        assert!(!plain.contains(absent), "{plain}");
    }
    assert!(screen(testing::quiet(), (120, 35), "4").contains("4 Claims"), "its digit still shows it");
}

#[test]
fn a_screen_that_is_not_wide_enough_for_both_has_the_evidence_below() {
    for size in [(120, 30), (140, 34)] {
        check(size, "5", &["two live windows work in /home/dev/", "── Evidence"]);
    }
}

#[test]
fn the_palette_shows_each_key_and_why_what_does_nothing() {
    check((80, 24), ":undo", &["▌undo", "z", "there is nothing to undo", "Enter runs it", ":undo▌"]);
    check((60, 15), ":sort", &["sort by PID", "s 3"]);
}

#[test]
fn after_s_the_columns_have_their_numbers() {
    check((80, 24), "s", &["1 State▲", "2 Window", "3 PID", "1-9 that column"]);
    check((80, 24), "c ", &["[ ] State", "[x] Window", "Columns of Windows"]);
}

/// Returns what stands where a text does.
#[track_caller]
fn target_of(state: &State, text: &str) -> Target {
    let lines = lines(&render(state, look(Glyphs::Unicode)));
    let found = lines.iter().enumerate().find_map(|(y, line)| Some((y, line.find(text)?)));
    let (y, at) = found.unwrap_or_else(|| panic!("{text} is not in {lines:#?}"));
    let x = lines[y][..at].chars().count();
    pointed::target(state, (u16::try_from(x).unwrap(), u16::try_from(y).unwrap()))
}

#[test]
fn the_mouse_finds_what_is_drawn() {
    for size in [(80, 24), (120, 30), (200, 50)] {
        let state = state(testing::busy(), size, "");
        let command = |text: &str| {
            let target = target_of(&state, text);
            if let Target::Command(command) = target { command } else { panic!("{text}: {target:?}") }
        };
        assert_eq!(command("4 Claims"), Command::Show(View::Claims));
        assert_eq!(command("7 History"), Command::Show(View::History));
        assert_eq!(command("State "), Command::SortBy(Some(0)));
        assert_eq!(command("PID"), Command::SortBy(Some(2)));
        assert_eq!(command("/ filter"), Command::Filter);
        assert_eq!(command("q quit"), Command::Leave);
        let Target::Row(row) = target_of(&state, "release notes") else { panic!("no row") };
        let named = testing::busy().windows.into_iter().find(|window| window.pid == 6200);
        assert_eq!(Some(&state.table.rows[row].key), named.as_ref().map(|window| &window.key));
        assert_eq!(target_of(&state, "contested-claim: SD"), Target::Details);
        assert_eq!(target_of(&state, "5 windows"), Target::Nothing);
    }
    let palette = state(testing::busy(), (80, 24), ":show");
    assert_eq!(target_of(&palette, "show Windows"), Target::Choice(1));
    let columns = state(testing::busy(), (60, 15), "c");
    assert_eq!(target_of(&columns, "PID"), Target::Choice(2));
}

#[test]
fn the_tabs_of_all_views_are_on_the_screen() {
    for width in 56..=200 {
        for view in "1234567".chars() {
            let screen = screen(testing::busy(), (width, 24), &view.to_string());
            let tabs = screen.lines().nth(1).unwrap();
            assert!((1..=7).all(|at| tabs.contains(&format!("{at} "))), "{tabs}");
            assert!(tabs.contains(" Hist") && tabs.len() <= usize::from(width), "{width}: {tabs:?}");
        }
    }
}

#[test]
fn the_pane_that_has_the_keys_shows_it() {
    check((80, 24), "l", &["▌─ Evidence · j k scroll, h back"]);
    check((200, 18), "l", &["┃"]);
}

#[test]
fn the_map_keeps_its_columns_and_collisions_on_a_narrow_screen() {
    check((60, 24), "v", &["─b ◆ work-item SD-1…\n", "└─a ◆ same worktree\n", "── ◌ worktree search\n"]);
}

#[test]
fn the_map_has_its_legend_in_sight_wherever_one_is() {
    for size in [(60, 15), (80, 24), (200, 50)] {
        for keys in ["v", "vG", "vjj"] {
            check(size, keys, &["● alive", "✗ dead", "? unknown", "◆ collides", "a same-worktree: two live"]);
        }
    }
}

#[test]
fn each_view_has_its_words() {
    check((80, 24), "3", &["✗ dead", "? unknown", "no process", "leo", "3999"]);
    check((80, 24), "4", &["◆ contested", "◇ ghost", "reviewer", "cart tests 4890", "r, then y"]);
    check((80, 24), "5", &["◆ collision", "r release", "m migrate"]);
    check((110, 30), "5", &["dead-holder", "r release"]);
    check((80, 24), "7", &["Nothing has been done yet", "journal"]);
    check((60, 15), "7", &["nothing has changed.", "when, why, and whether it can be undone."]);
}

#[test]
fn left_overs_say_whose_they_were_what_they_cost_and_what_ends_them() {
    let screen = screen(testing::busy(), (80, 24), "6");
    insta::assert_snapshot!(screen.lines().skip(2).take(5).collect::<Vec<_>>().join("\n"), @r"
      Sure      Runs               Left by        Ended  Memory Port  End it
    ▌ ✗ exact   server node dev.js gamma        2 h ago  210 MB :3000 x, code
      ✗ exact   idle --forever     gamma        2 h ago    2 MB       x, code
      ? guess   rsync -a /a /b     gamma        2 h ago    4 MB       no
      ● held    node worker.js     cart api       alive   90 MB       no
    ");
}

#[test]
fn the_key_that_helps_is_never_cut() {
    for size in [(60, 15), (80, 24), (200, 50)] {
        check(size, "3j", &["r shows how to release", "r release"]);
    }
}

/// Opens the sheet of a live window's claim, which asks for a name, and scrolls it to its end.
fn asking((width, height): (u16, u16)) -> String {
    let mut state = state(testing::busy(), (width, height), "4/reviewer\nr");
    let request = state.sheet().unwrap().requests[0].clone();
    let Request::Act { key, action } = &request else { panic!("no undo") };
    let plan = plan_for(state.report().unwrap(), key, *action);
    let plan = Ok((plan, Some("cart tests/reviewer".to_owned())));
    update(&mut state, Msg::Offered(vec![Offer { request, plan }]));
    update(&mut state, Msg::Pressed(Press::End));
    lines(&render(&state, look(Glyphs::Unicode))).join("\n")
}

#[test]
fn what_must_be_typed_stays_in_sight_and_only_keys_that_work_are_told() {
    insta::assert_snapshot!(asking((60, 15)), @r"
     5 windows  ◆ 2 collisions  ✗ 1 dead claim  ▲ 2  [1 unread]
     1 Now 0  2 Win  3 Sess  4 Claims  5 Prob  6 Left 2  7 Hist
    ── Plan: release ───────────────────────────────────────────
      ▲ A live window holds this: cart tests (PID 4890) in
        /home/dev/src/shop-cart: asks you.
      › To release it anyway, type its name cart
        tests/reviewer, then Enter: ▌

      cart tests/reviewer
        What            park the maia record beta
                        tests/reviewer: a live window holds it
                        and would lose it
    ──────────────────────────────────── 19-20 of 20 · arrows ──

     Enter confirms  Esc back  arrows scroll
    ");
    let large = asking((200, 50));
    assert!(large.contains("type its name cart tests/reviewer, then Enter: ▌"), "{large}");
}

#[test]
fn the_key_that_quits_is_never_cut() {
    for width in 40..=120 {
        for keys in ["", "3j", "4 ", "5", "\n", "4jr", "f", "/a\n"] {
            let screen = screen(testing::busy(), (width, 24), keys);
            let last = screen.lines().last().unwrap_or_default();
            let says = if matches!(keys, "\n" | "4jr") { "q close" } else { "q quit" };
            assert!(last.ends_with(says), "{last:?} on {width} columns after {keys:?}");
        }
    }
}

#[test]
fn an_answer_to_a_key_is_told_whole() {
    let folder = "/home/dev/.local/state/claimtop/recordings";
    let taped = RecordingEvent::Begun(format!("{folder}/2026-11-20-214034-a-long-name-of-a-file.jsonl"));
    for width in [60, 80, 200] {
        let mut state = state(testing::busy(), (width, 15), "jjj ");
        update(&mut state, Msg::Recording(taped.clone()));
        let lines = lines(&render(&state, look(Glyphs::Unicode)));
        let told: String = lines[11..14].iter().map(|line| line.trim()).collect();
        for part in ["Recording to", folder, "2026-11-20-214034-a-long-name-of-a-file.jsonl", "w stops it"] {
            assert!(
                told.replace(' ', "").contains(&part.replace(' ', "")),
                "{part} is missing in {lines:#?}"
            );
        }
        assert!(lines[13].ends_with("1 marked") && lines[14].ends_with("q quit"), "{lines:#?}");
    }
}

#[test]
fn an_answer_takes_three_lines_at_most() {
    let mut state = state(testing::busy(), (60, 15), "");
    update(&mut state, Msg::Jumped("told ".repeat(100)));
    let lines = lines(&render(&state, look(Glyphs::Unicode)));
    assert!(!lines[10].contains("told") && lines[11].starts_with(" › told"), "{lines:#?}");
    assert!(lines[13].ends_with('…') && lines[14].ends_with("q quit"), "{lines:#?}");
}

#[test]
fn an_empty_world_says_what_was_looked_at_and_what_to_try() {
    let screen = screen(testing::quiet(), (60, 15), "");
    for part in ["No agent window is running", "412 processes", "absent", "claimtop demo", "no problems"] {
        assert!(screen.contains(part), "{part} is missing in:\n{screen}");
    }
}

#[test]
fn a_view_without_rows_leads_to_the_problems_and_says_what_was_not_read() {
    let mut report = testing::busy();
    report.windows.clear();
    report.sources[0].state = SourceState::Failed;
    let screen = screen(report, (80, 24), "2");
    for part in [
        "It is not known whether an agent window is running.",
        "Not everything could be read.",
        "5 shows 5 problems.",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
}

#[test]
fn before_the_first_look_the_screen_says_so() {
    let state = State::new(Options::default(), Size { width: 80, height: 24 }, testing::now());
    assert!(lines(&render(&state, look(Glyphs::Unicode))).join("\n").contains("Taking the first look"));
}

#[test]
fn a_filter_without_rows_says_how_to_get_out() {
    check((60, 15), "/zzz", &["Nothing here matches zzz", "clears the filter", "0 of 6 rows"]);
}

#[test]
fn badges_tell_what_is_not_as_usual() {
    let mut state = state(testing::busy(), (120, 24), "f");
    state.options =
        Options { badge: Some("demo".to_owned()), access: Access::ReadOnly, ..Options::default() };
    update(&mut state, Msg::Hints(Hints::Lost));
    let screen = lines(&render(&state, look(Glyphs::Unicode))).join("\n");
    for badge in ["[frozen 0 s]", "[entire failed]", "[polling every 2 s]", "[read-only]", "[demo]"] {
        assert!(screen.contains(badge), "{badge} is missing in:\n{screen}");
    }
}

#[test]
fn on_a_tiny_screen_collisions_come_before_sources_in_trouble() {
    let mut state = state(testing::busy(), (40, 10), "");
    state.options.badge = Some("demo".to_owned());
    let screen = lines(&render(&state, look(Glyphs::Unicode))).join("\n");
    assert!(screen.contains("◆ 2  ✗ 1  ▲ 2") && !screen.contains("unread"), "{screen}");
    check((60, 15), "", &["2 collisions", "[1 unread]"]);
}

#[test]
fn a_database_tells_since_when_how_late_and_with_what_rights() {
    let mut report = testing::quiet();
    let detail = "3 rows, connected since 21:40:00Z, 0 s behind, read-only";
    report.sources.push(testing::source("leo:postgres://leo@db:5432/leo", SourceState::Ok, detail));
    let wide = screen(report.clone(), (140, 24), "");
    assert!(wide.contains("[database connected since 21:40:00Z, 0 s behind, read-only]"), "{wide}");
    assert!(screen(report.clone(), (80, 24), "").contains("[database]"));
    report.sources.pop();
    report.sources.push(testing::source("leo:postgres://leo@db:5432/leo", SourceState::Failed, "lost"));
    assert!(screen(report, (80, 24), "").contains("[database failed]"));
}

#[test]
fn ascii_is_ascii_everywhere_and_keeps_the_places() {
    for (size, keys) in every_screen() {
        let state = state(testing::hostile(), size, keys);
        for line in lines(&render(&state, look(Glyphs::Ascii))) {
            assert!(line.is_ascii(), "{line}");
        }
    }
    let [unicode, ascii] = [Glyphs::Unicode, Glyphs::Ascii]
        .map(|glyphs| lines(&render(&state(testing::busy(), (80, 24), ""), look(glyphs))));
    let columns = |lines: &[String]| lines[3].chars().position(|c| c == '4');
    assert_eq!(columns(&unicode), columns(&ascii));
}

#[test]
fn hostile_text_never_reaches_a_cell() {
    for (size, keys) in every_screen() {
        let buffer = render(&state(testing::hostile(), size, keys), look(Glyphs::Unicode));
        for cell in buffer.content() {
            assert!(!cell.symbol().chars().any(is_forbidden), "{:?} at {size:?} {keys:?}", cell.symbol());
            assert!(cell.symbol().len() <= 32, "{} bytes in a cell", cell.symbol().len());
        }
    }
}

#[test]
fn hostile_text_that_is_typed_or_pasted_never_reaches_a_cell() {
    let nasty = "\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}\u{200b}\u{feff}\u{2028}日本\u{7f}";
    for keys in ["/", ":", "/\n:"] {
        let mut state = state(testing::busy(), (80, 24), keys);
        update(&mut state, Msg::Pasted(nasty.to_owned()));
        for keys in ["", "\t", "\n"] {
            for c in keys.chars() {
                update(&mut state, Msg::Pressed(if c == '\n' { Press::Enter } else { Press::Tab }));
            }
            let buffer = render(&state, look(Glyphs::Unicode));
            assert!(!buffer.content().iter().any(|cell| cell.symbol().chars().any(is_forbidden)), "{keys:?}");
        }
    }
}

fn every_screen() -> impl Iterator<Item = ((u16, u16), &'static str)> {
    SIZES.into_iter().flat_map(|size| KEYS.map(|keys| (size, keys)))
}

#[test]
fn any_size_can_be_drawn() {
    for width in 0..40 {
        for height in 0..12 {
            for keys in KEYS {
                render(&state(testing::busy(), (width, height), keys), look(Glyphs::Unicode));
            }
        }
    }
}

#[test]
fn the_selected_row_is_on_the_screen_and_counted_at_any_size() {
    let mut report = testing::busy();
    let rows = report.windows.clone().into_iter().cycle().zip(0..200);
    report.windows = rows.map(|(window, at)| window_of_pid(window, 10_000 + at)).collect();
    for size in [(60, 15), (80, 24), (100, 40), (120, 30), (200, 50)] {
        for (keys, at) in [("", 1), ("G", 200), ("Gkk", 198), ("Ggj", 2)] {
            let screen = screen(report.clone(), size, keys);
            assert_eq!(screen.matches('▌').count(), 1, "at {size:?} {keys:?}:\n{screen}");
            assert!(screen.contains(&format!("2 Windows {at}/200")), "at {size:?} {keys:?}:\n{screen}");
        }
    }
}

#[test]
fn on_a_common_screen_five_lines_say_why_however_many_rows_there_are() {
    let mut report = testing::busy();
    let rows = report.windows.clone().into_iter().cycle().zip(0..40);
    report.windows = rows.map(|(window, at)| window_of_pid(window, 10_000 + at)).collect();
    let many = |report: &mut Report| {
        report.records = report.records.iter().cycle().take(40).cloned().collect();
        report.claims = report.claims.iter().cycle().take(40).cloned().collect();
        report.findings = report.findings.iter().cycle().take(40).cloned().collect();
    };
    many(&mut report);
    for view in ["1", "2", "3", "4", "5"] {
        let screen = screen(report.clone(), (80, 24), view);
        let lines: Vec<&str> = screen.lines().collect();
        let rule = lines.iter().position(|line| line.starts_with("──")).expect(&screen);
        assert!(rule + 5 < lines.len() - 2, "view {view}:\n{screen}");
        let why = &lines[rule + 1..rule + 6];
        assert!(why.iter().any(|line| line.len() > 20), "view {view}:\n{screen}");
        assert!(why.iter().all(|line| !line.contains(" more lines")), "view {view}:\n{screen}");
    }
}

fn window_of_pid(window: WindowView, pid: u32) -> WindowView {
    WindowView::from(WindowFacts { key: testing::key(&format!("w-{pid}")), pid, ..(*window).clone() })
}

#[test]
fn without_colours_there_is_none_and_the_selected_row_still_stands_out() {
    for theme in Theme::ALL {
        let look = Look { palette: Palette::new(theme, Colors::Unused), glyphs: Glyphs::Unicode };
        let buffer = render(&state(testing::busy(), (80, 24), ""), look);
        assert!(buffer.content().iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
        assert!(lines(&buffer)[3].starts_with('▌'));
    }
}

/// How much lighter one colour is than the other, as WCAG 2 defines it.
fn contrast(a: Color, b: Color) -> f64 {
    let light = |color| {
        let Color::Rgb(red, green, blue) = color else {
            panic!("{color} is whatever the terminal takes it for")
        };
        let part = |value: u8| (f64::from(value) / 255.0).powf(2.2);
        0.2126 * part(red) + 0.7152 * part(green) + 0.0722 * part(blue) + 0.05
    };
    f64::max(light(a) / light(b), light(b) / light(a))
}

#[test]
fn a_theme_of_all_colours_is_readable_whatever_the_ground_of_the_terminal() {
    for theme in Theme::ALL.into_iter().filter(|theme| *theme != Theme::Ansi) {
        let look = Look { palette: Palette::new(theme, Colors::Used), glyphs: Glyphs::Unicode };
        for (size, keys) in every_screen() {
            let buffer = render(&state(testing::busy(), size, keys), look);
            for cell in buffer.content().iter().filter(|cell| !matches!(cell.symbol(), " " | "─" | "│")) {
                let contrast = contrast(cell.fg, cell.bg);
                assert!(contrast > 3.0, "{contrast} of {} in {theme:?}", cell.symbol());
            }
        }
    }
}

#[test]
fn a_picture_is_the_same_bytes_for_the_same_cells_and_escapes_markup() {
    let mut report = testing::busy();
    report.windows[0].name = Some("<b>&\"".into());
    let buffer = render(&state(report, (80, 24), ""), look(Glyphs::Unicode));
    let picture = svg::to_svg(&buffer, "a < b", svg::DARK);
    assert_eq!(picture, svg::to_svg(&buffer, "a < b", svg::DARK));
    assert!(picture.contains("&lt;b&gt;&amp;&quot;") && picture.contains("<title>a &lt; b</title>"));
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
    insta::assert_snapshot!(svg::to_svg(&tiny(), "tiny", svg::DARK), @r##"
    <svg xmlns="http://www.w3.org/2000/svg" width="60" height="43" viewBox="0 0 60 43" role="img">
    <title>tiny</title>
    <rect width="100%" height="100%" rx="8" fill="#12151c"/>
    <g font-family="ui-monospace,'DejaVu Sans Mono','Liberation Mono',Menlo,Consolas,monospace" font-size="14.95" xml:space="preserve">
    <text x="12" y="26" textLength="18" fill="#ff0000">日</text>
    <rect x="30" y="12" width="9" height="19" fill="#0000ff"/>
    <text x="30" y="26" textLength="9" fill="#c5cbd6" font-weight="bold">a</text>
    </g>
    </svg>
    "##);
}

/// Four cells: a red wide character, a bold one and an empty one.
fn tiny() -> Buffer {
    use ratatui::style::Style;
    let mut buffer = Buffer::empty(ratatui::layout::Rect::new(0, 0, 4, 1));
    buffer.set_string(0, 0, "日", Style::new().fg(Color::Rgb(255, 0, 0)));
    buffer.set_string(2, 0, "a", Style::new().bold().bg(Color::Rgb(0, 0, 255)));
    buffer
}
