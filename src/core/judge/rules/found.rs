//! What is found; what an earlier report has found just so is taken from there.

use std::sync::Arc;

use crate::core::judge::rules::facts::equal;
use crate::core::model::Finding;

/// The findings of this look so far.
pub(crate) struct Findings<'a> {
    pub(crate) all: Vec<Arc<Finding>>,
    earlier: &'a [Arc<Finding>],
}

impl<'a> Findings<'a> {
    /// Begins with nothing, beside what an earlier report has found.
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
