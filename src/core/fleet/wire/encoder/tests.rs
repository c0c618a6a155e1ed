//! Which changes are worth a line, and which are not.

use jiff::Timestamp;

use super::*;
use crate::core::model::{ReportHost, SourceState};

fn report(sources: &[(&str, SourceState, &str)]) -> Report {
    let source = |(id, state, detail): &(&str, SourceState, &str)| SourceHealth {
        id: (*id).to_owned(),
        state: *state,
        detail: (*detail).into(),
    };
    let host = ReportHost { name: "devbox".to_owned(), boot_id: None, pid_namespace: None };
    let sources = sources.iter().map(source).collect();
    Report { sources, ..Report::empty(Timestamp::UNIX_EPOCH, host) }
}

#[test]
fn a_count_that_changes_is_said_along_with_news_and_never_alone() {
    let mut encoder = Encoder::default();
    let mut told = |sources: &[(&str, SourceState, &str)]| encoder.look(&report(sources), &[]).unwrap();
    assert!(told(&[("processes", SourceState::Ok, "412 processes")]).contains("412 processes"));
    assert_eq!(told(&[("processes", SourceState::Ok, "413 processes")]), "");
    let counted = ("processes", SourceState::Ok, "9 processes");
    assert_eq!(told(&[counted]), "");
    let with_news = [counted, ("obra", SourceState::Absent, "")];
    let news = told(&with_news);
    assert!(news.contains("obra") && news.contains("\"9 processes\""), "{news}");
    assert_eq!(told(&with_news), "");
    let failed =
        told(&[("processes", SourceState::Failed, "9 processes"), ("obra", SourceState::Absent, "")]);
    assert!(failed.contains("failed"), "{failed}");
}
