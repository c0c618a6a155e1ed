//! What each side remembers of orders, whatever happens to the lines between them.

use serde_json::value::RawValue;

use super::*;
use crate::core::model::Key;

fn order(id: &str, digest: &str) -> Order {
    let from = Asker { host: "laptop".to_owned(), store: None };
    Order { id: id.to_owned(), to: Some("s".to_owned()), digest: digest.to_owned(), typed: None, from }
}

#[track_caller]
fn check_refused(taken: OrderStep<u8>, why: &str) {
    let OrderStep::Answer(OrderReceipt { became: Became::Refused(told), .. }) = &taken else {
        panic!("{taken:?}")
    };
    assert!(told.text.contains(why), "{}", told.text);
}

const fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn an_order_uses_its_plan_up_and_one_that_is_sent_again_gets_the_same_answer() {
    let mut taker = Taker::default();
    taker.made("d".to_owned(), 1, seconds(5));
    let wrong = taker.take(&order("o-1", "e"), Some("s"), seconds(6));
    check_refused(wrong, "changed under you");
    assert!(matches!(taker.take(&order("o-2", "d"), Some("s"), seconds(6)), OrderStep::Begin(1)));
    check_refused(taker.take(&order("o-3", "d"), Some("s"), seconds(6)), "changed under you");
    // The same plan is made again: an order that was refused before stays refused.
    taker.made("d".to_owned(), 2, seconds(7));
    taker.made("e".to_owned(), 3, seconds(7));
    check_refused(taker.take(&order("o-1", "e"), Some("s"), seconds(8)), "changed under you");
    check_refused(taker.take(&order("o-3", "d"), Some("s"), seconds(8)), "changed under you");
    assert!(matches!(taker.take(&order("o-4", "d"), Some("s"), seconds(8)), OrderStep::Begin(2)));
}

#[test]
fn an_order_that_comes_too_late_or_to_another_machine_is_refused() {
    let mut taker = Taker::default();
    taker.made("d".to_owned(), 1, seconds(5));
    check_refused(taker.take(&order("o-1", "d"), Some("s"), seconds(66)), "more than 60 s");
    taker.made("d".to_owned(), 1, seconds(70));
    check_refused(taker.take(&order("o-2", "d"), Some("other"), seconds(71)), "another machine");
    taker.made("d".to_owned(), 1, seconds(80));
    assert!(matches!(taker.take(&order("o-3", "d"), Some("s"), seconds(140)), OrderStep::Begin(1)));
}

#[test]
fn only_who_was_asked_says_what_has_become_of_an_order_and_only_once() {
    let mut open = OpenOrders::default();
    open.place("o-1", Some("s"));
    let refused = OrderReceipt::refused("o-1", ErrorKind::Changed, "no");
    assert_eq!(open.take(Some("other"), &refused), None);
    assert_eq!(open.take(Some("s"), &OrderReceipt::refused("o-2", ErrorKind::Changed, "no")), None);
    assert_eq!(open.take(Some("s"), &OrderReceipt::unknown("o-1", "wait")), Some(Standing::Unknown));
    assert_eq!(open.numbers_sent_to(Some("s")).collect::<Vec<_>>(), ["o-1"]);
    assert_eq!(open.take(Some("s"), &refused), Some(Standing::NotDone));
    assert_eq!(open.take(Some("s"), &refused), None, "it is known");
    assert_eq!(open.numbers_sent_to(Some("s")).count(), 0);
}

#[test]
fn each_end_is_done_not_done_or_unknown() {
    let standing = |ended| Became::Ended { entry: 1, ended, detail: String::new() }.standing();
    for (ended, expected) in [
        (EndResult::Done, Standing::Done),
        (EndResult::Partly, Standing::Done),
        (EndResult::Stuck, Standing::Done),
        (EndResult::Changed, Standing::NotDone),
        (EndResult::Failed, Standing::NotDone),
        (EndResult::Unknown, Standing::Unknown),
    ] {
        assert_eq!(standing(ended), expected, "{ended:?}");
    }
}

#[test]
fn a_plan_from_elsewhere_is_bounded_text() {
    let mut plan = Plan::empty(&Key::typed("r-0f21ab3c"));
    plan.what = "\u{1b}[2J\u{202e}".to_owned();
    plan.confirmation = crate::core::model::Confirmation::Yes;
    let read = |plan: &Plan| {
        let proposed = ProposedPlan { plan: plan.clone(), wanted: None, digest: String::new() };
        let text = serde_json::to_string(&Proposal::Ok(proposed)).unwrap();
        read_proposal(&RawValue::from_string(text).unwrap())
    };
    let shown = read(&plan).unwrap().plan.what;
    assert!(!shown.chars().any(crate::core::model::text::is_forbidden), "{shown:?}");
    plan.why = vec!["x".repeat(1_000); 300];
    assert!(read(&plan).is_err_and(|why| why.text.contains("too large")));
    let noise = RawValue::from_string("[1]".to_owned()).unwrap();
    assert!(read_proposal(&noise).is_err_and(|why| why.text.contains("cannot be understood")));
}

#[test]
fn what_cannot_be_written_has_no_name() {
    let no_json = BTreeMap::from([((1, 2), "a key that is no string")]);
    assert!(digest_of(&no_json, &["state"]).is_err());
    let name = |plan: &str| digest_of(&plan, &["state"]).unwrap();
    assert!(name("one") == name("one") && name("one") != name("another"));
}
