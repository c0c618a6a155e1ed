//! Sheets: what they offer, what confirms it, and what is undone.

use super::*;
use crate::app::layer::Layer;
use crate::app::msg::SheetAnswer;
use crate::app::sheet::{Sheet, Stage};
use crate::config::{Access, Switch};
use crate::core::history::journal::History;
use crate::core::model::{
    Action, ActionResult, Confirmation, EndResult, ErrorKind, MachineState, MachineView, Obstacle, Offer,
    Plan, Record, Request, RescueTarget, RescueWay, RestoreTo, Signal,
};
use crate::core::plan::about::plan_for;
use crate::core::plan::left::plan_left;
use crate::core::plan::stop::plan_stop;

#[test]
fn marks_are_kept_by_key_and_planned_together() {
    let mut state = seen(testing::busy());
    press(&mut state, "4j  1");
    assert_eq!(state.marks.len(), 2);
    press(&mut state, "4r");
    let asked = |name: &str| Request::Act { key: key(name), action: Action::Release };
    let sheet = state.sheet().unwrap();
    assert_eq!(sheet.requests, [asked("c-SD-099"), asked("c-feature/old")]);
}

/// Opens the sheet of a dead claim and answers as the files would.
fn sheet_of(keys: &str) -> (State, Vec<Effect>) {
    let mut state = seen(testing::busy());
    press(&mut state, keys);
    let effects = update(&mut state, Msg::Pressed(Press::Char('r')));
    (state, effects)
}

fn offered(state: &State, code: Option<&str>) -> Msg {
    let offer = |request: &Request| {
        let Request::Act { key, action } = request else { panic!("no undo") };
        let plan = plan_for(&state.index.as_ref().unwrap().report, key, *action);
        Offer { request: request.clone(), plan: Ok((plan, code.map(str::to_owned))) }
    };
    Msg::Offered(state.sheet().unwrap().requests.iter().map(offer).collect())
}

#[test]
fn a_sheet_shows_the_plan_and_y_asks_for_it() {
    let (mut state, effects) = sheet_of("4j");
    assert!(matches!(effects.as_slice(), [Effect::Offer(_), Effect::Redraw]));
    assert!(panel_text(&state).contains("Looking at the files"));
    assert_eq!(update(&mut state, Msg::Pressed(Press::Char('y'))), [], "nothing is offered yet");
    let msg = offered(&state, None);
    update(&mut state, msg);
    let text = panel_text(&state);
    for part in ["y does it", "SD-099", "park /tmp/gamma, unchanged", "Undo", "proven dead"] {
        assert!(text.contains(part), "{part} is missing in:\n{text}");
    }
    let effects = update(&mut state, Msg::Pressed(Press::Char('y')));
    assert_eq!(effects, [Effect::Act(SheetAnswer::Yes), Effect::Redraw]);
    let told = ActionResult {
        title: "park it".to_owned(),
        ended: Some(EndResult::Done),
        detail: String::new(),
        entry: Some(7),
    };
    update(&mut state, Msg::Told(told));
    update(&mut state, Msg::Finished);
    let text = panel_text(&state);
    assert!(text.contains("Done: park it") && text.contains("z undoes the last one"), "{text}");
    let undo = Request::Undo { entry: 7, to: RestoreTo::Origin };
    assert_eq!(press(&mut state, "z"), [Effect::Offer(vec![undo]), Effect::Redraw]);
}

#[test]
fn what_a_screen_is_too_small_to_show_is_not_confirmed() {
    for code in [None, Some("abcdef")] {
        let (mut state, _) = sheet_of("4j");
        let Msg::Offered(mut offers) = offered(&state, code) else { panic!("no offers") };
        if code.is_some() {
            offers
                .iter_mut()
                .for_each(|offer| offer.plan.as_mut().unwrap().0.confirmation = Confirmation::Code);
        }
        update(&mut state, Msg::Offered(offers));
        let whole = state.size;
        for (width, height) in [(20, 24), (80, 8), (20, 5)] {
            update(&mut state, Msg::Resized(Size { width, height }));
            press(&mut state, code.unwrap_or_default());
            let effects = update(&mut state, Msg::Pressed(code.map_or(Press::Char('y'), |_| Press::Enter)));
            assert_eq!(effects, [Effect::Redraw], "{width}x{height}");
            assert!(state.message.as_ref().unwrap().contains("make it larger"), "{:?}", state.message);
            code.unwrap_or_default()
                .chars()
                .for_each(|_| drop(update(&mut state, Msg::Pressed(Press::Backspace))));
        }
        update(&mut state, Msg::Resized(whole));
        press(&mut state, code.unwrap_or_default());
        let effects = update(&mut state, Msg::Pressed(code.map_or(Press::Char('y'), |_| Press::Enter)));
        assert!(matches!(effects.as_slice(), [Effect::Act(_), Effect::Redraw]), "{effects:?}");
    }
}

#[test]
fn who_may_use_what_a_dead_holder_has_left_is_named_before_its_code_is_typed() {
    let (mut state, _) = sheet_of("4j");
    let Msg::Offered(mut offers) = offered(&state, Some("abcdef")) else { panic!("no offers") };
    for offer in &mut offers {
        let (plan, _) = offer.plan.as_mut().unwrap();
        plan.confirmation = Confirmation::Code;
        plan.used_by = Some("claude-code now has this PID and may use the record".to_owned());
    }
    update(&mut state, Msg::Offered(offers));
    let text = panel_text(&state).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("The holder is dead, but claude-code now has this PID"), "{text}");
    assert!(!text.contains("Nothing proves"), "{text}");
}

/// What a journal says that has one entry.
fn journal() -> Msg {
    let line = r#"{"entry":1,"at":"2026-11-20T09:00:00Z","intent":{"action":"release","title":"park x","why":"dead","movements":[]}}
{"entry":1,"at":"2026-11-20T09:00:00Z","outcome":{"ended":"done","detail":""}}"#;
    Msg::History(Arc::new(History::read(line.as_bytes())))
}

#[test]
fn a_sheet_in_which_nothing_was_done_undoes_nothing() {
    for (action, ended) in [
        (Action::Release, None),
        (Action::Release, Some(EndResult::Changed)),
        (Action::Undo, Some(EndResult::Done)),
    ] {
        let (mut state, _) = sheet_of("4j");
        update(&mut state, journal());
        let msg = offered(&state, None);
        update(&mut state, msg);
        state.sheet_mut().unwrap().action = action;
        press(&mut state, "y");
        let told = ActionResult {
            title: "park it".to_owned(),
            ended,
            detail: String::new(),
            entry: ended.map(|_| 7),
        };
        update(&mut state, Msg::Told(told));
        update(&mut state, Msg::Finished);
        let text = panel_text(&state);
        assert!(text.contains("Finished") && !text.contains("z undoes"), "{text}");
        assert_eq!(press(&mut state, "z"), [], "{ended:?}");
    }
}

#[test]
fn what_was_only_seen_is_not_undone_but_the_newest_entry() {
    let undo = Request::Undo { entry: 1, to: RestoreTo::Origin };
    let asked = [Effect::Offer(vec![undo]), Effect::Redraw];
    let mut state = seen(testing::busy());
    let mut later = testing::quiet();
    later.taken_at += SignedDuration::from_secs(5);
    look(&mut state, later);
    update(&mut state, journal());
    press(&mut state, "7g");
    assert!(state.selected().unwrap().as_str().starts_with("h-"));
    assert_eq!(press(&mut state, "z"), asked);
    press(&mut state, "\u{1b}G\n");
    assert!(panel_text(&state).contains("z shows how"), "{}", panel_text(&state));
    assert_eq!(press(&mut state, "z"), asked, "from its page");
}

#[test]
fn a_code_must_be_typed_and_no_key_means_anything_else_meanwhile() {
    let (mut state, _) = sheet_of("4j");
    let msg = offered(&state, Some("aq7"));
    let Msg::Offered(mut offers) = msg else { unreachable!() };
    for offer in &mut offers {
        offer.plan.as_mut().unwrap().0.confirmation = Confirmation::Code;
    }
    update(&mut state, Msg::Offered(offers));
    press(&mut state, "aqx\n");
    assert!(matches!(state.sheet().unwrap().stage, Stage::Asking), "q is typed and x is wrong");
    let text = panel_text(&state);
    assert!(text.contains("Typed: aqx. Expected: aq7."), "{text}");
    update(&mut state, Msg::Pressed(Press::Backspace));
    update(&mut state, Msg::Pressed(Press::Char('7')));
    assert!(!panel_text(&state).contains("Expected:"), "it is another text by now");
    let effects = update(&mut state, Msg::Pressed(Press::Enter));
    let request = state.sheet().unwrap().requests[0].clone();
    assert_eq!(
        effects,
        [Effect::Act(SheetAnswer::Typed { request, text: "aq7".to_owned() }), Effect::Redraw]
    );
}

/// Opens the sheet of the claims of two live windows, which ask for the same text.
fn sheet_of_two() -> State {
    let mut state = seen(testing::busy());
    state.marks.extend(["c-SD-101", "c-reviewer"].map(key));
    press(&mut state, "4r");
    let msg = offered(&state, Some("SD-101"));
    update(&mut state, msg);
    state
}

#[test]
fn one_typed_text_confirms_one_plan_and_the_next_is_asked_for_by_itself() {
    let mut state = sheet_of_two();
    let requests = state.sheet().unwrap().requests.clone();
    let typed = |at: usize| {
        let (request, text) = (requests[at].clone(), "SD-101".to_owned());
        [Effect::Act(SheetAnswer::Typed { request, text }), Effect::Redraw]
    };
    let first = panel_text(&state);
    assert!(first.contains("1 of 2: work-item SD-101 of cart api (PID 4711)."), "{first}");
    assert_eq!(press(&mut state, "SD-101\n"), typed(0));
    assert_eq!(press(&mut state, "\n"), [], "it is being done");
    update(&mut state, Msg::Finished);
    let second = panel_text(&state);
    assert!(second.contains("2 of 2: agent-role reviewer of cart tests (PID 4890)."), "{second}");
    assert_eq!(press(&mut state, "SD-101\n"), typed(1));
    update(&mut state, Msg::Finished);
    assert_eq!(state.sheet().unwrap().stage, Stage::Finished);
}

#[test]
fn a_sheet_of_several_begins_with_what_becomes_of_each() {
    let mut state = seen(testing::busy());
    state.marks.extend(["c-SD-099", "c-reviewer", "c-lock", "c-SD-101"].map(key));
    press(&mut state, "4r");
    let Msg::Offered(mut offers) = offered(&state, None) else { unreachable!() };
    for offer in &mut offers {
        let Ok((plan, code)) = &mut offer.plan else { unreachable!() };
        match plan.confirmation {
            Confirmation::Yes => {}
            Confirmation::Code => *code = Some("aq7".to_owned()),
            Confirmation::FullName => *code = Some(plan.name.clone()),
            Confirmation::Refused => {
                offer.plan =
                    Err(Obstacle { kind: ErrorKind::Never, text: plan.refusal.as_ref().unwrap().to_string() })
            }
        }
    }
    update(&mut state, Msg::Offered(offers));
    let text = panel_text(&state);
    let first: Vec<&str> = text.lines().take(8).collect();
    insta::assert_snapshot!(first.join("\n"), @r"
    y does 1 of 4

    work-item SD-099 of PID 3999: y
    work-item SD-101 of cart api (PID 4711): refused: Claude Code's own
     registry is only parked when its process is provably gone; close the
     window
    session lock of PID 2222: type aq7
    agent-role reviewer of cart tests (PID 4890): type cart tests/reviewer
    ");
    let effects = press(&mut state, "y");
    assert_eq!(effects, [Effect::Act(SheetAnswer::Yes), Effect::Redraw]);
    update(&mut state, Msg::Finished);
    assert!(panel_text(&state).contains("1 of 2: "), "what asks for more comes next");
}

#[test]
fn what_is_called_off_asks_for_nothing_more() {
    let mut state = sheet_of_two();
    press(&mut state, "SD-101\n");
    assert_eq!(press(&mut state, "\u{1b}"), [Effect::CallOff]);
    update(&mut state, Msg::Finished);
    assert_eq!(state.sheet().unwrap().stage, Stage::Finished);
}

#[test]
fn the_plans_of_a_closed_sheet_are_not_shown_in_the_next() {
    let (mut state, _) = sheet_of("4j");
    let late = offered(&state, None);
    press(&mut state, "\u{1b}gr");
    update(&mut state, late);
    assert_eq!(state.sheet().unwrap().stage, Stage::Looking);
}

#[test]
fn a_long_text_is_cut_and_no_key_of_it_acts() {
    let mut state = sheet_of_two();
    for _ in 0..300 {
        assert_eq!(press(&mut state, "q"), [Effect::Redraw]);
    }
    assert_eq!(state.sheet().unwrap().typed.len(), 200);
}

#[test]
fn a_sheet_disables_itself_when_the_world_moves() {
    let (mut state, _) = sheet_of("4j");
    let msg = offered(&state, None);
    update(&mut state, msg);
    look(&mut state, testing::quiet());
    assert_eq!(state.sheet().unwrap().stage, Stage::Moved);
    assert!(panel_text(&state).contains("Something has changed since"));
    assert_eq!(update(&mut state, Msg::Pressed(Press::Char('y'))), []);
}

#[test]
fn a_sheet_disables_itself_when_its_record_is_rewritten() {
    let changes: [fn(&mut Record); 2] = [
        |record| record.title = "another".into(),
        |record| record.written_at += SignedDuration::from_millis(1),
    ];
    for change in changes {
        let (mut state, _) = sheet_of("4j");
        let msg = offered(&state, None);
        update(&mut state, msg);
        look(&mut state, testing::busy());
        assert_eq!(state.sheet().unwrap().stage, Stage::Asking, "nothing has changed");
        let mut later = testing::busy();
        let record = later.records.iter_mut().find(|record| record.key == key("r-gamma")).unwrap();
        change(Arc::make_mut(&mut Arc::make_mut(record).record));
        look(&mut state, later);
        assert_eq!(state.sheet().unwrap().stage, Stage::Moved);
    }
}

#[test]
fn read_only_shows_and_does_nothing() {
    let mut state = seen(testing::busy());
    state.options.access = Access::ReadOnly;
    press(&mut state, "4j");
    assert_eq!(update(&mut state, Msg::Pressed(Press::Char('r'))), [Effect::Redraw]);
    assert!(panel_text(&state).contains("read-only"));
    assert_eq!(update(&mut state, Msg::Pressed(Press::Char('y'))), []);
}

#[test]
fn read_only_records_nothing() {
    let mut state = seen(testing::busy());
    (state.options.access, state.options.tape) = (Access::ReadOnly, Switch::On);
    assert_eq!(update(&mut state, Msg::Pressed(Press::Char('w'))), [Effect::Redraw]);
    assert_eq!(state.message.as_deref(), Some("Claimtop is read-only: nothing is recorded"));
    state.options.access = Access::Full;
    assert_eq!(update(&mut state, Msg::Pressed(Press::Char('w')))[0], Effect::Record);
}

#[test]
fn the_history_is_listed_and_its_entries_are_undone() {
    let mut state = seen(testing::busy());
    update(&mut state, journal());
    press(&mut state, "7");
    assert_eq!(state.table.rows.len(), 1);
    let effects = update(&mut state, Msg::Pressed(Press::Char('z')));
    let undo = Request::Undo { entry: 1, to: RestoreTo::Origin };
    assert_eq!(effects, [Effect::Offer(vec![undo.clone()]), Effect::Redraw]);
    let text = "the place is taken: there is a file".to_owned();
    let taken = Err(Obstacle { kind: ErrorKind::Taken, text });
    update(&mut state, Msg::Offered(vec![Offer { request: undo, plan: taken }]));
    let effects = update(&mut state, Msg::Pressed(Press::Char('b')));
    let beside = Request::Undo { entry: 1, to: RestoreTo::Beside };
    assert_eq!(effects, [Effect::Offer(vec![beside]), Effect::Redraw]);
}

#[test]
fn a_window_without_a_remedy_has_no_sheet() {
    let mut state = seen(testing::busy());
    press(&mut state, "m");
    assert_eq!(state.layers, []);
    assert_eq!(state.message.as_deref(), Some("There is nothing here to migrate"));
}

/// Selects a row of a view and returns what `r` asks for, whose window `J` goes to, and what `y`
/// copies.
fn pointed_at(view: &str, row: usize) -> (Vec<Request>, Option<String>, Option<String>) {
    let mut state = seen(testing::contested());
    press(&mut state, view);
    press(&mut state, &format!("g{}", "j".repeat(row)));
    let jumps = press(&mut state, "J").into_iter();
    let jump =
        jumps.filter_map(|effect| if let Effect::Jump(jump) = effect { Some(jump.name) } else { None });
    let jump = jump.last();
    let copies = press(&mut state, "y").into_iter();
    let copied = copies.filter_map(|effect| if let Effect::Copy(text) = effect { Some(text) } else { None });
    let copied = copied.last();
    press(&mut state, "r");
    (state.sheet().map(|sheet| sheet.requests.clone()).unwrap_or_default(), jump, copied)
}

#[test]
fn what_is_selected_is_meant_and_of_a_finding_whoever_is_told_to_yield() {
    let asked = |name: &str| vec![Request::Act { key: key(name), action: Action::Release }];
    let text = |text: &str| Some(text.to_owned());
    for (pid, name, claim) in [("4711", "cart api", "c-cart"), ("4890", "cart tests", "c-tests")] {
        let state = seen(testing::contested());
        let index = state.index.as_ref().unwrap();
        let session = index.window(&key(&format!("w-{pid}"))).unwrap().session_id.as_ref();
        let row = state.visible().iter().position(|row| row.key == key(&format!("w-{pid}"))).unwrap();
        assert_eq!(pointed_at("2", row), (asked(claim), text(name), session.map(|id| id.shown())));
    }
    assert_eq!(pointed_at("5", 0), (asked("c-cart"), text("cart api"), text("SD-SHOP-014")));
}

#[test]
fn a_sheet_that_takes_from_the_living_says_from_whom_and_asks_for_a_name_of_its_own() {
    let report = testing::contested();
    let plans = ["c-cart", "c-tests"].map(|claim| plan_for(&report, &key(claim), Action::Release));
    assert_eq!(
        plans.each_ref().map(|plan| plan.name.as_str()),
        ["cart api/SD-SHOP-014", "cart tests/SD-SHOP-014"]
    );
    let mut state = seen(report);
    press(&mut state, "5g");
    press(&mut state, "r");
    let msg = offered(&state, Some("cart api/SD-SHOP-014"));
    update(&mut state, msg);
    let text = panel_text(&state);
    assert!(text.contains("cart api (PID 4711) in /home/dev/src/shop-cart:"), "{text}");
    assert!(text.contains("type its name cart api/SD-SHOP-014"), "{text}");
    press(&mut state, "SD-SHOP-014\n");
    assert_eq!(state.sheet().unwrap().stage, Stage::Asking, "that is the name of both");
}

#[test]
fn of_a_window_that_has_ended_all_that_it_has_left_is_meant() {
    let mut report = testing::busy();
    let session = report.records[2].session_id.clone();
    // Another system's record of the same session.
    let other = Arc::make_mut(&mut report.records[4]);
    let read = Arc::make_mut(&mut other.record);
    (read.session_id, read.has_ended) = (session, false);
    let mut state = seen(report);
    press(&mut state, "5g");
    let row = state.visible().iter().position(|row| row.key.as_str().starts_with('p')).unwrap();
    let dead = (row..state.visible().len()).find(|_| {
        press(&mut state, "r");
        let left =
            state.sheet().is_some_and(|sheet| sheet.requests == [Request::Left { of: key("r-gamma") }]);
        press(&mut state, if left { "" } else { "\u{1b}j" });
        left
    });
    assert!(dead.is_some(), "the finding about the dead holder asks for all that it has left");
    let plan = plan_left(state.report().unwrap(), &key("r-gamma"));
    let request = Request::Left { of: key("r-gamma") };
    update(&mut state, Msg::Offered(vec![Offer { request, plan: Ok((plan, None)) }]));
    let text = panel_text(&state);
    assert!(text.contains("y does it") && text.contains("everything that"), "{text}");
    assert!(text.contains("park /tmp/gamma, unchanged") && text.contains("/tmp/epsilon"), "{text}");
}

/// Opens the sheet that ends what is selected, and answers as the processes would.
fn ending(keys: &str, code: &str) -> State {
    let mut state = seen(testing::busy());
    press(&mut state, keys);
    let effects = press(&mut state, "x");
    let [Effect::Offer(requests), Effect::Redraw] = effects.as_slice() else { panic!("{effects:?}") };
    let offer = |request: &Request| {
        let Request::Stop { key, signal } = request else { panic!("{request:?}") };
        let plan = plan_stop(&state.index.as_ref().unwrap().report, key, *signal);
        let wanted =
            if plan.confirmation == Confirmation::Code { code.to_owned() } else { plan.name.clone() };
        Offer { request: request.clone(), plan: Ok((plan, Some(wanted))) }
    };
    let offers = requests.iter().map(offer).collect();
    update(&mut state, Msg::Offered(offers));
    state
}

#[test]
fn a_left_over_is_ended_by_its_code_and_a_window_by_its_name_and_never_by_yes() {
    let window = |state: &State| {
        let windows = &state.index.as_ref().unwrap().report.windows;
        windows.iter().find(|window| Some(&window.key) == state.selected()).unwrap().clone()
    };
    for (keys, is_window) in [("6", false), ("2", true)] {
        let mut state = ending(keys, "aq7");
        let text = panel_text(&state);
        for part in ["This cannot be undone", "Ends", "ended processes do not"] {
            assert!(is_window && part == "Ends" || text.contains(part), "{part} is missing in:\n{text}");
        }
        let wanted = if is_window {
            let window = window(&state);
            format!("{} {}", window.title(), window.pid)
        } else {
            "aq7".to_owned()
        };
        let request = state.sheet().unwrap().requests[0].clone();
        press(&mut state, "y\n");
        assert_eq!(state.sheet().unwrap().stage, Stage::Asking, "y is typed, and is wrong");
        update(&mut state, Msg::Pressed(Press::Backspace));
        let confirmed = SheetAnswer::Typed { request, text: wanted.clone() };
        assert_eq!(press(&mut state, &format!("{wanted}\n")), [Effect::Act(confirmed), Effect::Redraw]);
    }
}

#[test]
fn whoever_has_stayed_is_planned_to_be_killed() {
    let state = ending("6", "aq7");
    let report = &state.index.as_ref().unwrap().report;
    let Request::Stop { key, signal: Signal::Term } = &state.sheet().unwrap().requests[0] else { panic!() };
    let one = report.left_overs.iter().find(|one| one.key == *key).unwrap();
    let line = format!(
        r#"{{"entry":1,"at":"2026-11-20T09:00:00Z","intent":{{"action":"stop","title":"","why":"","movements":[{{"step":"stop","signal":"TERM","processes":[{{"pid":{},"start_ticks":{},"parent":1,"name":"n","exe":"/n","command":"n","folder":null,"environment":[]}}]}}]}}}}
{{"entry":1,"at":"2026-11-20T09:00:05Z","outcome":{{"ended":"partly","detail":""}}}}"#,
        one.pid, one.start_ticks
    );
    let mut state = seen(testing::busy());
    update(&mut state, Msg::History(Arc::new(History::read(line.as_bytes()))));
    let effects = press(&mut state, "6x");
    let expected = Request::Stop { key: key.clone(), signal: Signal::Kill };
    assert_eq!(effects, [Effect::Offer(vec![expected]), Effect::Redraw]);
}

/// Returns a busy world of which one claim is on another machine, in this state.
fn elsewhere(machine: MachineState, no_orders: Option<&str>) -> Report {
    let mut report = testing::busy();
    let claim = report.claims.iter_mut().find(|claim| claim.key == key("c-SD-099")).unwrap();
    claim.key = claim.key.on_machine("devbox");
    let mut view = MachineView::new("devbox", "ssh devbox".to_owned());
    (view.state, view.no_orders) = (machine, no_orders.map(Into::into));
    report.machines.push(view);
    report
}

/// Opens the sheet of that claim.
fn asked_elsewhere(machine: MachineState, no_orders: Option<&str>) -> (State, Vec<Effect>) {
    let mut state = seen(elsewhere(machine, no_orders));
    press(&mut state, "4/SD-099\n");
    let effects = press(&mut state, "r");
    (state, effects)
}

#[test]
fn no_key_acts_on_a_machine_that_cannot_be_asked_and_each_says_why() {
    for (machine, no_orders, why) in [
        (MachineState::Silent, None, "It is on devbox: it is silent"),
        (MachineState::Unreached, None, "It is on devbox: it cannot be reached"),
        (MachineState::Live, Some("it takes no orders"), "It is on devbox: it takes no orders"),
    ] {
        let (state, effects) = asked_elsewhere(machine, no_orders);
        assert_eq!(effects, [Effect::Redraw]);
        assert!(state.sheet().is_none());
        let message = state.message.unwrap();
        assert!(message.starts_with(why), "{message}");
    }
}

#[test]
fn what_another_machine_would_do_is_shown_with_its_name_and_a_lost_receipt_is_filled_in() {
    let (mut state, effects) = asked_elsewhere(MachineState::Live, None);
    let request = Request::Act { key: key("c-SD-099").on_machine("devbox"), action: Action::Release };
    assert_eq!(effects, [Effect::OfferOn("devbox".to_owned(), 1, vec![request.clone()]), Effect::Redraw]);
    assert!(panel_text(&state).contains("Asking devbox"));
    let plan =
        Plan { confirmation: Confirmation::Yes, name: "x".to_owned(), ..Plan::empty(&key("c-SD-099")) };
    update(&mut state, Msg::OfferedOn(1, vec![Offer { request, plan: Ok((plan, None)) }]));
    assert!(panel_text(&state).contains("Machine") && panel_text(&state).contains("devbox"));
    // It is judged anew there: what is seen of it here changes nothing, but that it is seen.
    update(&mut state, Msg::Looked(Arc::new(elsewhere(MachineState::Live, None))));
    let effects = press(&mut state, "y");
    assert_eq!(effects, [Effect::ActOn("devbox".to_owned(), 1, SheetAnswer::Yes), Effect::Redraw]);
    let told = |ended, entry| ActionResult {
        title: "park it".to_owned(),
        ended: Some(ended),
        detail: String::new(),
        entry: Some(entry),
    };
    update(&mut state, Msg::ToldOn(1, "devbox".to_owned(), told(EndResult::Unknown, 7)));
    update(&mut state, Msg::FinishedOn(1));
    assert!(panel_text(&state).contains("Unknown; it is checked later: park it"));
    update(&mut state, Msg::Settled("devbox".to_owned(), told(EndResult::Done, 8)));
    assert!(state.message.as_ref().is_some_and(|message| message.contains("park it was done")));
    assert!(panel_text(&state).contains("Unknown"), "that was another one");
    update(&mut state, Msg::Settled("devbox".to_owned(), told(EndResult::Done, 7)));
    assert!(panel_text(&state).contains("Done: park it") && !panel_text(&state).contains("Unknown"));
}

#[test]
fn a_sheet_of_another_machine_is_left_at_any_time_and_its_answers_go_into_no_other() {
    let (mut state, _) = asked_elsewhere(MachineState::Live, None);
    let request = state.sheet().unwrap().requests[0].clone();
    let offers = || {
        let plan = Plan { confirmation: Confirmation::Yes, ..Plan::empty(&key("c-SD-099")) };
        vec![Offer { request: request.clone(), plan: Ok((plan, None)) }]
    };
    // Before it has an answer: the answer has no sheet then, even if the same is asked again.
    assert_eq!(press(&mut state, "\u{1b}"), [Effect::Redraw]);
    let again = press(&mut state, "r");
    assert!(matches!(&again[..], [Effect::OfferOn(_, 2, _), Effect::Redraw]), "{again:?}");
    update(&mut state, Msg::OfferedOn(1, offers()));
    assert_eq!(state.sheet().unwrap().stage, Stage::Looking);
    update(&mut state, Msg::OfferedOn(2, offers()));
    press(&mut state, "y");
    assert!(panel_text(&state).contains("In progress on devbox: Esc leaves it running"));
    // While it is done: what is under way continues, and its result is shown.
    assert_eq!(press(&mut state, "\u{1b}"), [Effect::CallOff, Effect::Redraw]);
    assert!(state.sheet().is_none());
    assert!(state.message.as_ref().is_some_and(|message| message.contains("on devbox continues")));
    press(&mut state, "4j");
    press(&mut state, "r");
    let told =
        |ended| ActionResult { title: "park it".to_owned(), ended, detail: "no".to_owned(), entry: Some(7) };
    for (ended, words) in [
        (Some(EndResult::Done), "On devbox: park it was done"),
        (Some(EndResult::Unknown), "On devbox: park it was unknown until seen (no)"),
        (None, "On devbox: park it was not done (no)"),
    ] {
        update(&mut state, Msg::ToldOn(2, "devbox".to_owned(), told(ended)));
        assert_eq!(state.message.as_deref(), Some(words));
    }
    let before = state.sheet().unwrap().clone();
    update(&mut state, Msg::FinishedOn(2));
    assert_eq!(state.sheet(), Some(&before), "it is another one");
    assert!(before.results.is_empty() && before.stage == Stage::Looking);
}

#[test]
fn a_plan_of_a_machine_that_falls_silent_cannot_be_confirmed() {
    let (mut state, _) = asked_elsewhere(MachineState::Live, None);
    let request = state.sheet().unwrap().requests[0].clone();
    let plan = Plan { confirmation: Confirmation::Yes, ..Plan::empty(&key("c-SD-099")) };
    update(&mut state, Msg::OfferedOn(1, vec![Offer { request, plan: Ok((plan, None)) }]));
    assert_eq!(state.sheet().unwrap().stage, Stage::Asking);
    update(&mut state, Msg::Looked(Arc::new(elsewhere(MachineState::Silent, None))));
    assert_eq!(state.sheet().unwrap().stage, Stage::Moved);
}

#[test]
fn one_plan_is_about_one_machine() {
    let mut state = seen(elsewhere(MachineState::Live, None));
    let keys = [key("c-SD-099").on_machine("devbox"), key("c-feature/old")];
    press(&mut state, "4");
    state.marks.extend(keys);
    press(&mut state, "r");
    assert!(state.sheet().is_none());
    assert!(state.message.unwrap().contains("several machines"));
}

#[test]
fn what_was_asked_of_another_machine_is_undone_there() {
    let mut state = seen(elsewhere(MachineState::Live, None));
    let journal = br#"{"entry":7,"at":"2026-11-20T09:00:00Z","intent":{"action":"release","title":"t","why":"","movements":[],"order":{"id":"o","side":"asked-of","machine":"devbox"}}}
{"entry":7,"at":"2026-11-20T09:00:00Z","outcome":{"ended":"done","detail":"","there":3}}"#;
    update(&mut state, Msg::History(Arc::new(History::read(journal))));
    let undo = Request::Undo { entry: 3, to: RestoreTo::Origin };
    assert_eq!(press(&mut state, "z"), [Effect::OfferOn("devbox".to_owned(), 1, vec![undo]), Effect::Redraw]);
}

#[test]
fn where_other_work_is_in_the_way_a_version_goes_beside_or_is_merged() {
    let mut state = seen(testing::busy());
    let lost = || RescueTarget::By(key("w-100"));
    let asked = |way| Request::Rescue { lost: lost(), way };
    let show = |state: &mut State, plan: Result<(Plan, Option<String>), Obstacle>| {
        let way = match state.sheet().unwrap().requests.as_slice() {
            [Request::Rescue { way, .. }] => *way,
            other => panic!("{other:?}"),
        };
        update(state, Msg::Offered(vec![Offer { request: asked(way), plan }]));
        panel_text(state).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let sheet = Sheet::new(Action::Rescue, vec![asked(RescueWay::Place)], vec!["pay".to_owned()], (None, 1));
    state.layers.push(Layer::Sheet(Box::new(sheet)));
    let taken = Obstacle { kind: ErrorKind::Taken, text: "it has other uncommitted work".to_owned() };
    let text = show(&mut state, Err(taken));
    assert!(text.contains("b writes it beside") && text.contains("m shows what a merge"), "{text}");
    assert_eq!(press(&mut state, "b"), [Effect::Offer(vec![asked(RescueWay::Beside)]), Effect::Redraw]);
    let mut plan = Plan::empty(&key("/w/pay.rs"));
    plan.confirmation = Confirmation::Yes;
    let text = show(&mut state, Ok((plan.clone(), None)));
    assert!(text.contains("y does it") && !text.contains("b writes") && text.contains("m shows"), "{text}");
    assert_eq!(press(&mut state, "m"), [Effect::Offer(vec![asked(RescueWay::Merge)]), Effect::Redraw]);
    plan.confirmation = Confirmation::FullName;
    (plan.conflicts, plan.name) = (2, "2 conflicts".to_owned());
    plan.diff = vec!["-old\u{1b}[31m".to_owned(), "+\tnew".to_owned()];
    let text = show(&mut state, Ok((plan, Some("2 conflicts".to_owned()))));
    for part in ["The merge has conflicts", "type 2 conflicts", "-old\\x1B[31m", "+ new"] {
        assert!(text.contains(part), "{part} is missing in: {text}");
    }
    press(&mut state, "2 conflicts");
    let effects = update(&mut state, Msg::Pressed(Press::Enter));
    let typed = SheetAnswer::Typed { request: asked(RescueWay::Merge), text: "2 conflicts".to_owned() };
    assert_eq!(effects, [Effect::Act(typed), Effect::Redraw]);
}
