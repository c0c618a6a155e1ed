//! Reads an order that was taken from the database, and verifies its signature if signatures are required.

use std::path::Path;

use crate::core::fleet::database::publisher::Waiting;
use crate::core::fleet::order::{RemoteRequest, is_id};
use crate::core::fleet::signed::message;
use crate::core::fleet::wire::encoder::Encoder;
use crate::core::fleet::wire::line::Line;
use crate::observe::hosts::signature::verify;

/// A taken order with its number.
#[derive(Debug)]
pub(crate) enum Intake {
    /// It is to be carried out.
    Work(i64, RemoteRequest),
    /// It is refused, with the answer's line.
    Refused(i64, String),
}

/// Returns the work that an order asks for, or the line that refuses it; `None` if the order cannot be read at all.
pub(super) async fn work_of(
    order: &Waiting,
    (host, epoch): (&str, i64),
    allowed: Option<&Path>,
) -> Option<Result<RemoteRequest, String>> {
    let work = read(order)?;
    let Some(allowed) = allowed else { return Some(Ok(work)) };
    let why = match &order.signature {
        None => "it is not signed, and orders to this machine must be (allowed_signers)".to_owned(),
        Some(signature) => {
            let signed = message(host, epoch, &order.id, order.is.get());
            match verify(allowed, &signed, signature).await {
                Ok(_) => return Some(Ok(work)),
                Err(why) => why,
            }
        }
    };
    Encoder::refused(&work, &why).ok().map(Err)
}

/// Parses an order. It has the ID of its row, so that one ID never means two orders.
fn read(order: &Waiting) -> Option<RemoteRequest> {
    let line: Line<'_> = serde_json::from_str(order.is.get()).ok()?;
    let is_its = |id: &str| is_id(id) && id == order.id;
    match order.kind.as_str() {
        "plan" => line.ask.map(RemoteRequest::Plan),
        "order" => line.order.filter(|asked| is_its(&asked.id)).map(RemoteRequest::Do),
        "settle" => line.settle.filter(|asked| is_id(&asked.id)).map(RemoteRequest::Settle),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[track_caller]
    fn check(kind: &str, id: &str, is: &str, is_read: bool) {
        let is = RawValue::from_string(is.to_owned()).unwrap();
        let (kind, asked_by) = (kind.to_owned(), "oscar".to_owned());
        let waiting = Waiting { number: 1, id: id.to_owned(), kind, is, signature: None, asked_by };
        assert_eq!(read(&waiting).is_some(), is_read, "{waiting:?}");
    }

    #[test]
    fn only_what_is_whole_and_says_its_own_id_is_read() {
        let order =
            r#"{"order":{"id":"o-1","to":null,"digest":"d","typed":null,"from":{"host":"h","store":null}}}"#;
        check("order", "o-1", order, true);
        check("order", "o-2", order, false);
        check("plan", "o-1", order, false);
        check("settle", "o-1", order, false);
        check("release", "o-1", order, false);
        check("plan", "p", r#"{"ask":{"number":1,"requests":[]}}"#, true);
        check("order", "o-1", r#"{"order":{"id":"o-1"}}"#, false);
        let bad =
            r#"{"order":{"id":"../x","to":null,"digest":"d","typed":null,"from":{"host":"h","store":null}}}"#;
        check("order", "../x", bad, false);
    }
}
