//! Which databases are opened for writing, and the reports about those that are not.

use claimtop::testing::act::{ActionError, Rows, Sqlite};
use claimtop::testing::source::Copies;

use crate::obra::stage::Stage;

#[test]
fn a_link_to_a_database_is_no_database() {
    let stage = Stage::new();
    let rows = Sqlite { copies: Copies::default() };
    let link = stage.root().join("home/link.db");
    std::os::unix::fs::symlink(stage.database(), &link).unwrap();
    let (link, copy) = (link.to_str().unwrap(), stage.root().join("copy"));
    let done = [
        rows.row(link, "task", "2").map(drop),
        rows.settle(link),
        rows.back_up(link, &copy),
        rows.apply(link, &[], &mut || Ok(())),
    ];
    for done in done {
        let refused = done.unwrap_err();
        assert!(
            matches!(&refused, ActionError::Changed(why) if why.ends_with("is not a plain file")),
            "{refused}"
        );
    }
    assert!(!copy.exists());
}

#[test]
fn a_database_that_a_link_leads_to_is_not_written() {
    let stage = Stage::new();
    let rows = Sqlite { copies: Copies::default() };
    let link = stage.root().join("link");
    std::os::unix::fs::symlink(stage.database().parent().unwrap(), &link).unwrap();
    let path = link.join(stage.database().file_name().unwrap());
    let (path, copy) = (path.to_str().unwrap(), stage.root().join("copy"));
    let done = [
        rows.row(path, "task", "2").map(drop),
        rows.settle(path),
        rows.back_up(path, &copy),
        rows.apply(path, &[], &mut || Ok(())),
    ];
    for done in done {
        let refused = done.unwrap_err().to_string();
        assert!(refused.contains(" now contains a link, and nothing"), "{refused}");
    }
    assert!(!copy.exists());
}

#[test]
fn a_writer_is_told_apart_from_a_database_that_cannot_be_written() {
    let stage = Stage::new();
    let rows = Sqlite { copies: Copies::default() };
    let writer = stage.connect();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    let busy = rows.apply(stage.database().to_str().unwrap(), &[], &mut || Ok(())).unwrap_err();
    assert!(matches!(&busy, ActionError::Changed(why) if why.contains("is locked by a writer")), "{busy}");
    drop(writer);
    std::fs::write(stage.database(), "no database at all".repeat(100)).unwrap();
    let broken = rows.apply(stage.database().to_str().unwrap(), &[], &mut || Ok(())).unwrap_err();
    assert!(
        matches!(&broken, ActionError::Refused(why) if why.contains("file is not a database")),
        "{broken}"
    );
}
