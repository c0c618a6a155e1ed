//! Changes in words: what became of what.

use crate::core::history::change::{Change, Kind};
use crate::core::history::subject::{Subject, WindowTurn};
use crate::core::history::timeline::Past;
use crate::core::model::text::shown;
use crate::core::model::{ClaimStatus, Code, ResourceKind, Waiting, WindowDoing};
use crate::present::machine::there;
use crate::present::need::doing::question;
use crate::present::text::{outside, safe};

/// Returns whether a change is news for a person: that no system knows a window is not.
pub(crate) fn is_news(change: &Change) -> bool {
    match &change.subject {
        Subject::Finding { code, .. } => *code != Code::NoRecord,
        Subject::Window { .. } | Subject::Record { .. } | Subject::Claim { .. } => true,
    }
}

/// Returns the news among changes, as they are kept.
pub(crate) fn news(changes: &[Change]) -> impl Iterator<Item = Past> {
    changes.iter().filter(|change| is_news(change)).map(|change| Past::new(change, sentence(change)))
}

/// Describes a change in one sentence, safe to show.
pub(crate) fn sentence(change: &Change) -> String {
    there(&change.subject.keys(), of_one(change))
}

fn of_one(change: &Change) -> String {
    match &change.subject {
        Subject::Window { name, cwd, waiting, turn, .. } => {
            let name = safe(name);
            let waiting = waiting.as_ref().filter(|_| change.event == Kind::WindowWaits);
            let cwd = cwd.as_ref().filter(|_| change.event == Kind::WindowAppeared);
            match (waiting, cwd) {
                (Some(waiting), _) => format!("{name} {}", waits(waiting)),
                (None, Some(cwd)) => format!("{name} runs in {}", outside(Some(cwd))),
                (None, None) => format!("{name} {}", turned(*turn)),
            }
        }
        Subject::Record { format, title, verdict, was, .. } => {
            let name = format!("{} {}", format.name(), outside(Some(title)));
            if change.event == Kind::RecordAppeared {
                return format!("{name} appeared: its holder is {}", verdict.name());
            }
            match was {
                _ if change.unseen => format!("{name} is no longer seen"),
                Some(was) => format!("{name}: its holder is {}, was {}", verdict.name(), was.name()),
                None if change.event == Kind::RecordGone => format!("{name} is gone"),
                None => format!("{name} was written"),
            }
        }
        Subject::Claim { resource, status, was, thing, holder, .. } => {
            let kind = Some(resource.kind).filter(|kind| *kind != ResourceKind::Files);
            let kind = kind.map_or_else(String::new, |kind| format!("{} ", kind.name()));
            let thing = safe(&format!("{kind}{thing}"));
            if change.unseen {
                return format!("{} is no longer seen to hold {thing}", safe(holder));
            }
            if *status == Some(ClaimStatus::Ghost) && resource.kind == ResourceKind::Branch {
                return format!("{} claims {thing}, which git does not have", safe(holder));
            }
            claim((&safe(holder), &thing), *status, *was)
        }
        Subject::Finding { message, .. } => {
            let says = shown(&message.to_string());
            match (change.event == Kind::FindingCleared, change.unseen) {
                (true, true) => format!("no longer seen: {says}"),
                (true, false) => format!("over: {says}"),
                (false, _) => says,
            }
        }
    }
}

fn waits(waiting: &Waiting) -> String {
    format!("{}: {}", WindowDoing::Asks.word(), question(waiting, None))
}

fn turned(turn: WindowTurn) -> &'static str {
    match turn {
        WindowTurn::Runs => "runs",
        WindowTurn::Stopped => "was stopped",
        WindowTurn::Continued => "resumed",
        WindowTurn::Session => "runs another session",
        WindowTurn::Moved => "works in another folder",
        WindowTurn::Answered => "was answered",
        WindowTurn::Died => "died",
        WindowTurn::Unseen => "is no longer seen",
    }
}

fn claim((holder, thing): (&str, &str), status: Option<ClaimStatus>, was: Option<ClaimStatus>) -> String {
    match (status, was) {
        (None, _) => format!("{holder} let go of {thing}"),
        (Some(ClaimStatus::Held | ClaimStatus::Quiet), None) => format!("{holder} took {thing}"),
        (Some(ClaimStatus::Held), Some(_)) => format!("{holder} holds {thing}"),
        (Some(ClaimStatus::Quiet), Some(_)) => format!("{holder} holds {thing} but is silent"),
        (Some(ClaimStatus::Dead), _) => format!("{holder} is dead and still holds {thing}"),
        (Some(ClaimStatus::Contested), _) => format!("two live windows hold {thing}"),
        (Some(ClaimStatus::Ghost), _) => format!("only a mirror still says that {holder} holds {thing}"),
        (Some(ClaimStatus::Expired), _) => format!("{holder}'s lease on {thing} has expired"),
        (Some(ClaimStatus::Unproven), _) => {
            format!("{holder} holds {thing}; whether it is alive is unknown")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::core::history::diff::diff;
    use crate::core::model::{
        Call, EndedWindow, Key, MachineState, MachineView, Reason, Report, Target, Wants, WindowState,
        WindowView,
    };
    use crate::core::testing::busy;

    #[track_caller]
    fn check(before: impl Fn(&mut Report), now: impl Fn(&mut Report), expected: &[&str]) {
        let (mut earlier, mut later) = (busy(), busy());
        before(&mut earlier);
        now(&mut later);
        let changes = diff(Some(&earlier), &later);
        let told: Vec<String> = changes.iter().filter(|change| is_news(change)).map(sentence).collect();
        assert_eq!(told, expected);
    }

    fn window(report: &mut Report, pid: u32) -> &mut WindowView {
        report.windows.iter_mut().find(|window| window.pid == pid).unwrap()
    }

    fn nothing(_: &mut Report) {}

    fn waits(report: &mut Report) {
        let target = Some(Target::Command("npm publish".into()));
        let call = Some(Call { id: "t".into(), tool: "Bash".into(), target, since: None });
        window(report, 4711).waiting =
            Some(Box::new(Waiting { wants: Wants::Permission, call, since: None }));
    }

    #[test]
    fn a_window_is_told_by_its_name_and_what_it_did() {
        check(nothing, waits, &["cart api asks you: may it run `npm publish`?"]);
        check(waits, nothing, &["cart api was answered"]);
        check(nothing, |report| window(report, 4711).state = WindowState::Stopped, &["cart api was stopped"]);
        let gone = |report: &mut Report| report.windows.retain(|window| window.pid != 5120);
        check(nothing, gone, &["shop-docs (codex) is no longer seen"]);
        let dead = |report: &mut Report| {
            gone(report);
            report.ended = vec![EndedWindow { window: Key::typed("w-5120"), reason: Reason::NoProcess }];
        };
        check(nothing, dead, &["shop-docs (codex) died"]);
        check(gone, nothing, &["shop-docs (codex) runs in /home/dev/src/shop-docs"]);
    }

    #[test]
    fn what_goes_out_of_sight_with_its_machine_is_neither_gone_nor_let_go_of() {
        let of = |state| {
            let mut report = busy();
            let mut view = MachineView::new("devbox", "ssh devbox".to_owned());
            view.state = state;
            report.machines = vec![view];
            report
        };
        let mut earlier = of(MachineState::Live);
        for claim in &mut earlier.claims {
            claim.key = claim.key.on_machine("devbox");
            let record = Arc::make_mut(&mut claim.record);
            record.key = record.key.on_machine("devbox");
        }
        earlier.claims.truncate(1);
        let finding = Arc::make_mut(&mut earlier.findings[0]);
        finding.subjects = finding.subjects.iter().map(|key| key.on_machine("devbox")).collect();
        earlier.findings.truncate(1);
        let message = earlier.findings[0].message.to_string();
        let without = |state| Report { claims: Vec::new(), findings: Vec::new(), ..of(state) };
        let told = |now: &Report| diff(Some(&earlier), now).iter().map(sentence).collect::<Vec<_>>();
        let thing = earlier.claims[0].thing();
        let [claim, finding] = &told(&without(MachineState::Unreached))[..] else { panic!() };
        let [claim, finding] = [claim, finding].map(|told| told.strip_prefix("on devbox: ").unwrap());
        assert!(claim.contains(" is no longer seen to hold ") && claim.ends_with(&thing), "{claim}");
        assert_eq!(finding, format!("no longer seen: {message}"));
        let [claim, finding] = &told(&without(MachineState::Live))[..] else { panic!() };
        let [claim, finding] = [claim, finding].map(|told| told.strip_prefix("on devbox: ").unwrap());
        assert!(claim.contains(" let go of ") && claim.ends_with(&thing), "{claim}");
        assert_eq!(finding, format!("over: {message}"));
    }

    #[test]
    fn a_claim_is_told_by_who_holds_what() {
        let without =
            |report: &mut Report| report.claims.retain(|claim| claim.resource.id.raw() != "reviewer");
        check(without, nothing, &["cart tests took agent-role reviewer"]);
        check(nothing, without, &["cart tests let go of agent-role reviewer"]);
        let dies = |report: &mut Report| {
            let claim = report.claims.iter_mut().find(|claim| claim.resource.id.raw() == "reviewer");
            claim.unwrap().status = ClaimStatus::Dead;
        };
        check(nothing, dies, &["cart tests is dead and still holds agent-role reviewer"]);
        let without = |report: &mut Report| report.claims.retain(|one| one.status != ClaimStatus::Ghost);
        check(without, nothing, &["gamma (PID 3999) claims branch feature/old, which git does not have"]);
    }

    #[test]
    fn that_no_system_knows_a_window_is_no_news() {
        let known = |report: &mut Report| report.findings.retain(|finding| finding.code != Code::NoRecord);
        check(known, nothing, &[]);
    }
}
