//! A map of who holds what: windows, records and resources, with the edges that collide.

use std::collections::HashMap;

use crate::core::model::{
    ClaimStatus, ClaimView, Finding, Key, RecordView, Report, Resource, Severity, VerdictState,
};
use crate::present::words;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Column {
    /// Running agents.
    Window,
    /// Session records.
    Record,
    /// What is held, and what windows share without holding it.
    Resource,
}

/// A spot by its column and its place in it.
pub(crate) type Position = (Column, usize);

/// One window, record or resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// Its key; nothing for a resource, which several claims can name.
    pub(crate) key: Option<Key>,
    /// What people call it, safe to show.
    pub(crate) name: String,
    /// Whether it lives, where that can be asked.
    pub(crate) state: Option<VerdictState>,
    /// The collisions that it is part of without an edge that shows it.
    pub(crate) collisions: Vec<usize>,
}

/// An edge between two spots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Edge {
    /// The spot nearer to the windows.
    pub(crate) from: Position,
    /// The spot nearer to the resources.
    pub(crate) to: Position,
    /// The collisions that it is part of, by their place in [`Map::collisions`].
    pub(crate) collisions: Vec<usize>,
    /// How the claim stands that it shows, where it shows one.
    pub(crate) claim: Option<ClaimStatus>,
    /// The key of that claim.
    pub(crate) key: Option<Key>,
}

/// Everything that holds or collides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Map {
    /// The windows, as in the report.
    pub(crate) windows: Vec<Spot>,
    /// The records that belong to a window, hold something or collide.
    pub(crate) records: Vec<Spot>,
    pub(crate) resources: Vec<Spot>,
    pub(crate) edges: Vec<Edge>,
    /// The places of the collisions in the report's findings, in the order of their letters.
    pub(crate) collisions: Vec<usize>,
    /// How many records are on no edge.
    pub(crate) left_out: usize,
}

/// Returns the letters of a collision: `a` to `z`, then `aa` and so on.
pub(crate) fn letters(number: usize) -> String {
    let last = char::from(b'a' + u8::try_from(number % 26).unwrap_or_default());
    match number / 26 {
        0 => last.to_string(),
        more => letters(more - 1) + &last.to_string(),
    }
}

pub(crate) fn map(report: &Report) -> Map {
    let mut drawing = Drawing::new(report);
    drawing.windows();
    drawing.records();
    drawing.shared_by_windows();
    drawing.map.left_out = report.records.len() - drawing.map.records.len();
    drawing.map
}

struct Drawing<'a> {
    report: &'a Report,
    map: Map,
    /// The letters of each thing that a collision is about.
    colliding: HashMap<&'a Key, Vec<usize>>,
    places: HashMap<&'a Key, Position>,
    resources: HashMap<&'a Resource, usize>,
}

impl<'a> Drawing<'a> {
    fn new(report: &'a Report) -> Self {
        let is_collision = |(_, finding): &(usize, &Finding)| finding.severity == Severity::Collision;
        let collisions: Vec<(usize, &Finding)> = report.findings().enumerate().filter(is_collision).collect();
        let mut colliding: HashMap<&Key, Vec<usize>> = HashMap::new();
        for (letter, (_, finding)) in collisions.iter().enumerate() {
            for subject in &finding.subjects {
                colliding.entry(subject).or_default().push(letter);
            }
        }
        let map = Map { collisions: collisions.iter().map(|(at, _)| *at).collect(), ..Map::default() };
        Self { report, map, colliding, places: HashMap::new(), resources: HashMap::new() }
    }

    fn windows(&mut self) {
        for window in &self.report.windows {
            let name = format!("{} {}", window.title(), window.pid);
            let spot = Spot {
                key: Some(window.key.clone()),
                name,
                state: Some(VerdictState::Alive),
                collisions: Vec::new(),
            };
            self.places.insert(&window.key, (Column::Window, self.map.windows.len()));
            self.map.windows.push(spot);
        }
    }

    fn records(&mut self) {
        let report = self.report;
        let mut claims: HashMap<&Key, Vec<_>> = HashMap::new();
        report.claims.iter().for_each(|claim| claims.entry(&claim.record.key).or_default().push(claim));
        for record in self.by_window() {
            let own = claims.remove(&record.key).unwrap_or_default();
            let collisions = self.letters_of(&record.key);
            if own.is_empty() && record.window.is_none() && collisions.is_empty() {
                continue;
            }
            let at = (Column::Record, self.map.records.len());
            self.places.insert(&record.key, at);
            let name = format!("{} {}", record.format.name(), record.title);
            let state = Some(record.verdict.state);
            let own_window = record.window.as_ref().and_then(|key| self.places.get(key).copied());
            let windows: Vec<Position> =
                own_window.map_or_else(|| self.windows_of(&collisions), |own| vec![own]);
            let key = Some(record.key.clone());
            let alone = if windows.is_empty() { collisions.clone() } else { Vec::new() };
            self.map.records.push(Spot { key, name, state, collisions: alone });
            let edge = |from| Edge { from, to: at, collisions: collisions.clone(), claim: None, key: None };
            self.map.edges.extend(windows.into_iter().map(edge));
            for claim in own {
                let collisions = self.letters_of(&claim.key);
                let to = (Column::Resource, self.resource(claim));
                let key = Some(claim.key.clone());
                self.map.edges.push(Edge { from: at, to, collisions, claim: Some(claim.status), key });
            }
        }
    }

    /// Returns the records in the order of their windows, those without one last.
    fn by_window(&self) -> Vec<&'a RecordView> {
        let window =
            |record: &RecordView| record.window.as_ref().and_then(|key| self.places.get(key).copied());
        let mut records: Vec<&RecordView> = self.report.records().collect();
        records.sort_by_key(|record| window(record).map_or(usize::MAX, |(_, at)| at));
        records
    }

    /// Gives what windows share without a record a spot of its own.
    fn shared_by_windows(&mut self) {
        for (letter, at) in self.map.collisions.clone().into_iter().enumerate() {
            let Some(finding) = self.report.findings.get(at) else { continue };
            let windows: Vec<Position> = finding
                .subjects
                .iter()
                .filter_map(|key| self.places.get(key).copied())
                .filter(|(column, _)| *column == Column::Window)
                .collect();
            if windows.len() < finding.subjects.len() {
                continue;
            }
            let to = (Column::Resource, self.map.resources.len());
            let name = finding.code.name().replace('-', " ");
            self.map.resources.push(Spot { key: None, name, state: None, collisions: Vec::new() });
            let edge = |from| Edge { from, to, collisions: vec![letter], claim: None, key: None };
            let edges = windows.into_iter().map(edge);
            self.map.edges.extend(edges);
        }
    }

    fn resource(&mut self, claim: &'a ClaimView) -> usize {
        let (resource, status) = (&claim.resource, claim.status);
        if let Some(at) = self.resources.get(resource) {
            return *at;
        }
        let at = self.map.resources.len();
        let state = match status {
            ClaimStatus::Held | ClaimStatus::Quiet | ClaimStatus::Contested => VerdictState::Alive,
            ClaimStatus::Dead => VerdictState::Dead,
            ClaimStatus::Ghost | ClaimStatus::Expired | ClaimStatus::Unproven => VerdictState::Unknown,
        };
        let name = format!("{} {}", resource.kind.name(), words::holds(claim));
        self.map.resources.push(Spot { key: None, name, state: Some(state), collisions: Vec::new() });
        self.resources.insert(resource, at);
        at
    }

    /// Returns the windows of some collisions: one of them uses what is not its own.
    fn windows_of(&self, collisions: &[usize]) -> Vec<Position> {
        let findings = collisions.iter().filter_map(|letter| self.map.collisions.get(*letter));
        let subjects =
            findings.filter_map(|at| self.report.findings.get(*at)).flat_map(|finding| &finding.subjects);
        let places = subjects.filter_map(|key| self.places.get(key).copied());
        places.filter(|(column, _)| *column == Column::Window).collect()
    }

    fn letters_of(&self, key: &Key) -> Vec<usize> {
        self.colliding.get(key).cloned().unwrap_or_default()
    }
}

impl Map {
    pub(crate) fn spot(&self, (column, at): Position) -> Option<&Spot> {
        match column {
            Column::Window => self.windows.get(at),
            Column::Record => self.records.get(at),
            Column::Resource => self.resources.get(at),
        }
    }

    /// Returns the edges that lead away from a spot.
    pub(crate) fn edges_from(&self, place: Position) -> impl Iterator<Item = &Edge> {
        self.edges.iter().filter(move |edge| edge.from == place)
    }

    /// Returns the records that belong to no window.
    pub(crate) fn loose_records(&self) -> impl Iterator<Item = Position> {
        let is_held = |at: usize| self.edges.iter().any(|edge| edge.to == (Column::Record, at));
        (0..self.records.len()).filter(move |at| !is_held(*at)).map(|at| (Column::Record, at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_go_on_after_z() {
        let all: Vec<String> = [0, 25, 26, 27, 701, 702].map(letters).into();
        assert_eq!(all, ["a", "z", "aa", "ab", "zz", "aaa"]);
    }
}
