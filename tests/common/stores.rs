//! Rows of beads' and mcp_agent_mail's databases in a world, read through the real formats.

use std::path::Path;

use claimtop::core::model::{Ownership, Snapshot, Untrusted};
use claimtop::testing::format::{Cells, Reading, Source, agent_mail, beads};

use super::WorldFile;
use super::rows::{RowSpec, cells};

const RESERVATIONS: &str = "file_reservations";

/// Returns whether a row is of one of these databases.
pub(super) fn is_of_one(row: &RowSpec) -> bool {
    [RESERVATIONS, beads::TABLE].contains(&row.table.as_str())
}

/// Adds the records of all rows, and removes the archive's copies; a row of beads lies in the working tree that its
/// database's path names.
pub(super) fn read(world: &WorldFile, snapshot: &mut Snapshot) {
    let ownership = Ownership::new(snapshot.host.uid, 0o644);
    let of = |table: &'static str| world.row.iter().filter(move |row| row.table == table);
    let reservations: Vec<_> = of(RESERVATIONS).map(|row| cells(world, row)).collect();
    snapshot.records.retain(|record| !agent_mail::is_copied(record, &reservations));
    let database = Untrusted::from("/home/dev/mcp_agent_mail/storage.sqlite3");
    let reading = Reading { host: &snapshot.host, now: snapshot.taken_at };
    let source = Source { database, ownership };
    snapshot.records.extend(agent_mail::rows(&source, &reservations, &reading));
    for row in of(beads::TABLE) {
        let path = Path::new(&row.database);
        let tree = path.parent().and_then(Path::parent).expect("a database in .beads of a tree");
        let database = Untrusted::from_path(path);
        let source = Source { database, ownership };
        let row: Cells = cells(world, row);
        snapshot.records.extend(beads::rows(&source, tree, &[row], &reading));
    }
}
