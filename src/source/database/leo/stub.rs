//! LEO's database in a build without PostgreSQL: each look reports that it was named and is unread.

use jiff::Timestamp;

use crate::core::model::{Database, Format, Snapshot, SourceHealth, SourceState, Untrusted};
use crate::format::Reading;
use crate::source::database::postgres::UNREAD;
use crate::source::interface::{Scope, Source};

#[derive(Default)]
pub(crate) struct Reader {
    /// The database that a person named.
    named: Option<Untrusted>,
}

impl Source for Reader {
    fn look(&mut self, scope: &Scope, _reading: &Reading<'_>) {
        self.named = scope.places.leo_database.as_ref().map(|target| target.name.clone());
    }

    fn add_to(&mut self, snapshot: &mut Snapshot, _scope: &Scope, _reading: &Reading<'_>) {
        snapshot.databases.extend(self.named.iter().cloned().map(unread));
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        let badge = |name: &Untrusted| SourceHealth {
            id: format!("leo:{}", name.raw()),
            state: SourceState::Failed,
            detail: UNREAD.into(),
        };
        self.named.iter().map(badge).collect()
    }
}

fn unread(name: Untrusted) -> Database {
    Database {
        format: Format::Leo,
        name,
        is_complete: false,
        opened_by: None,
        file: None,
        work: <_>::default(),
    }
}
