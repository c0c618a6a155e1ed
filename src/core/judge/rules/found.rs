//! Collects findings, reusing equal ones from the previous report.

use std::sync::Arc;

use crate::core::judge::rules::facts::equal;
use crate::core::model::Finding;

/// The findings of this look.
pub(crate) struct Findings<'a> {
    pub(crate) all: Vec<Arc<Finding>>,
    earlier: &'a [Arc<Finding>],
}

impl<'a> Findings<'a> {
    /// Begins empty, beside the findings of an earlier report.
    pub(crate) fn beside(earlier: &'a [Arc<Finding>]) -> Self {
        Self { all: Vec::with_capacity(earlier.len()), earlier }
    }

    pub(crate) fn push(&mut self, finding: Finding) {
        let alike = equal(self.earlier, |one| one.order(&finding));
        let same = alike.iter().find(|one| ***one == finding);
        self.all.push(same.map_or_else(|| Arc::new(finding), Arc::clone));
    }
}

impl Extend<Finding> for Findings<'_> {
    fn extend<T: IntoIterator<Item = Finding>>(&mut self, findings: T) {
        findings.into_iter().for_each(|finding| self.push(finding));
    }
}
