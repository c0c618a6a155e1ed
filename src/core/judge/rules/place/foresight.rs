//! Findings about working trees whose present states do not merge.

use crate::core::judge::rules::facts::{Facts, listed, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::model::{
    Code, Conflict, Evidence, Finding, Forecast, ForecastSide, Key, Outcome, Remedy, Severity, Untrusted,
    WindowState, WindowView,
};

/// The most conflicts that are evidence.
const MOST: usize = 8;

/// Two sides that do not merge, and the living windows of each.
pub(crate) struct TreeConflict<'a> {
    pub(crate) forecast: &'a Forecast,
    pub(crate) windows: [Vec<&'a WindowView>; 2],
}

impl<'a> TreeConflict<'a> {
    /// Returns the side that goes first, and the one that is rebased onto it, each with its windows.
    pub(crate) fn ordered(&self) -> [(&'a ForecastSide, &[&'a WindowView]); 2] {
        let [left, right] = &self.forecast.sides;
        let [one, other] = &self.windows;
        let both = [(left, one.as_slice()), (right, other.as_slice())];
        let [left, right] = both;
        if self.forecast.first() == 0 { [left, right] } else { [right, left] }
    }

    /// Returns what the second side does.
    pub(crate) fn advice(&self) -> String {
        let [(first, _), (second, _)] = self.ordered();
        format!("rebase {} onto {}", label(second), label(first))
    }
}

/// Returns the branch of a side, or its folder.
pub(crate) fn label(side: &ForecastSide) -> String {
    side.branch.as_ref().or(side.tree.as_ref()).map_or_else(String::new, Untrusted::shown)
}

/// Finds working trees that do not merge.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    found.extend(conflicts(facts).map(|conflict| finding(&conflict)));
}

/// Returns the forecasts of a conflict in which every working tree has a living window.
pub(crate) fn conflicts<'a>(facts: &'a Facts<'a>) -> impl Iterator<Item = TreeConflict<'a>> {
    let forecasts = facts.world.snapshot.forecasts.iter();
    forecasts.filter(|forecast| forecast.outcome == Outcome::Conflicts).filter_map(|forecast| {
        let windows = [0, 1].map(|at| forecast.sides.get(at).map(|side| windows(facts, side)));
        let [Some(left), Some(right)] = windows else { return None };
        let is_manned = |side: &ForecastSide, windows: &Vec<_>| side.tree.is_none() || !windows.is_empty();
        let [one, other] = &forecast.sides;
        let is_living = is_manned(one, &left) && is_manned(other, &right);
        let has_windows = !left.is_empty() || !right.is_empty();
        (is_living && has_windows).then_some(TreeConflict { forecast, windows: [left, right] })
    })
}

/// Returns the conflict between exactly these windows.
pub(crate) fn conflict_of<'a>(facts: &'a Facts<'a>, subjects: &[Key]) -> Option<TreeConflict<'a>> {
    conflicts(facts).find(|conflict| {
        let windows: Vec<&Key> = conflict.windows.iter().flatten().map(|window| &window.key).collect();
        windows.len() == subjects.len() && subjects.iter().all(|key| windows.contains(&key))
    })
}

/// Returns the living windows of a working tree.
fn windows<'a>(facts: &'a Facts<'a>, side: &ForecastSide) -> Vec<&'a WindowView> {
    let Some(tree) = &side.tree else { return Vec::new() };
    let is_there = |window: &&WindowView| {
        let repo = window.repo.as_ref();
        window.state != WindowState::Zombie && repo.is_some_and(|repo| repo.worktree == *tree)
    };
    facts.windows.iter().filter(is_there).collect()
}

fn finding(conflict: &TreeConflict<'_>) -> Finding {
    let forecast = conflict.forecast;
    let all = || conflict.windows.iter().flatten().copied();
    let side = |at: usize| match (conflict.windows.get(at), forecast.sides.get(at)) {
        (Some(windows), _) if !windows.is_empty() => {
            listed(&windows.iter().map(|window| window_name(window)).collect::<Vec<_>>())
        }
        (_, Some(side)) => format!("the branch {}", label(side)),
        (_, None) => String::new(),
    };
    let files: Vec<String> = forecast.conflicts.iter().map(|conflict| conflict.path.shown()).collect();
    let advice = conflict.advice();
    let message = format!("{} and {} will conflict in {}: {advice}", side(0), side(1), listed(&files));
    let mut evidence: Vec<Evidence> = all().map(window_evidence).collect();
    evidence.extend(forecast.conflicts.iter().take(MOST).map(|one| conflict_evidence(forecast, one)));
    let subjects = all().map(|window| window.key.clone());
    let mut finding = Finding::new(Code::WillConflict, subjects, message, evidence, Remedy::None);
    if !forecast.is_between_trees() {
        finding.severity = Severity::Info;
    }
    let commands = forecast.way_out();
    finding.command = (!commands.is_empty()).then(|| commands.join(" && ").into());
    finding
}

/// States what cannot be merged.
pub(crate) fn conflict_evidence(forecast: &Forecast, conflict: &Conflict) -> Evidence {
    let lines = conflict.lines.first().map(|[left, right]| {
        let [one, other] = &forecast.sides;
        format!(": {} of {}, {} of {}", left.to_text(), label(one), right.to_text(), label(other))
    });
    let value = format!("{}: {}{}", conflict.path, conflict.kind.phrase(), lines.unwrap_or_default());
    Evidence::new("conflict", value, "git merge-tree")
}
