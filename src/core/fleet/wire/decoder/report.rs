//! One report of all things that a machine has sent.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::Decoder;
use crate::core::fleet::wire::line::PartId;
use crate::core::fleet::wire::part::Part;
use crate::core::model::text::shown;
use crate::core::model::{EndedWindow, Finding, Key, RecordView, Report, ReportHost, SourceHealth};

impl Decoder {
    pub(super) fn report_of(&self, taken_at: Timestamp, ended: Vec<EndedWindow>) -> Report {
        let hello = self.hello.as_ref();
        let host = ReportHost {
            name: hello.map(|hello| shown(&hello.host)).unwrap_or_default(),
            boot_id: hello.and_then(|hello| hello.boot.clone()),
            pid_namespace: hello.and_then(|hello| hello.pid_namespace),
        };
        let mut report = Report { ended, ..Report::empty(taken_at, host) };
        // Records are sent separately, before their claims.
        let mut records: HashMap<&Key, &Arc<RecordView>> = HashMap::new();
        let ranks: HashMap<&PartId, usize> =
            self.order.iter().enumerate().map(|(rank, id)| (id, rank)).collect();
        let mut parts: Vec<(&PartId, &Part)> = self.parts.iter().map(|(id, (part, _))| (id, part)).collect();
        parts.sort_by_key(|(id, _)| ranks.get(id).copied().unwrap_or(usize::MAX));
        for (_, part) in &parts {
            if let Part::Record(record) | Part::BehindClaim(record) = part {
                records.insert(&record.key, record);
            }
        }
        for (_, part) in parts {
            match part {
                Part::Source(source) => report.sources.push(self.source(source)),
                Part::Window(window) => report.windows.push(window.clone()),
                Part::Record(record) => report.records.push(Arc::clone(record)),
                Part::Claim(claim) => {
                    let record = records.get(&claim.record);
                    report.claims.extend(record.map(|record| claim.view(Arc::clone(record))));
                }
                Part::Finding(finding) => report.findings.push(Arc::clone(finding)),
                Part::Need(need) => report.needs.push((**need).clone()),
                Part::LeftOver(left) => report.left_overs.push((**left).clone()),
                Part::LeftTree(tree) => report.left_trees.push((**tree).clone()),
                Part::Broken(broken) => report.broken.push((**broken).clone()),
                Part::BehindClaim(_) | Part::Tombstone(_) => {}
            }
        }
        report.records.sort_by(|one, other| one.path().cmp(other.path()));
        report.claims.sort_by(|one, other| one.record.path().cmp(other.record.path()));
        report.findings.sort_by(|one, other| Finding::order(one, other));
        report
    }

    /// Returns a source with the name used from elsewhere.
    fn source(&self, source: &SourceHealth) -> SourceHealth {
        SourceHealth { id: format!("{}@{}", source.id, self.machine), ..source.clone() }
    }
}
