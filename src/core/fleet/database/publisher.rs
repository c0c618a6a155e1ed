//! Decides what a witness requests from the fleet's database next, and how it interprets the answer.
//!
//! It never mistakes a late or lost message for another witness: it sends the same beat until that is answered. So if
//! the answer is that another witness has beaten in its place, one has.

use std::time::Duration;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::core::fleet::database::outbox::{Batch, Outbox};

/// The longest time until a witness asks again whether its claim is accepted.
const WAIT: Duration = Duration::from_secs(5);

/// The ID under which a state folder publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostId {
    /// A random UUID.
    pub host: String,
    /// The proof that the ID belongs to this state folder.
    pub secret: String,
    /// The ID that it had before it turned out to be a clone.
    pub clone_of: Option<String>,
}

/// One call of a function of the schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// The function, with its parameters' types.
    pub function: &'static str,
    /// Its parameters as text.
    pub parameters: Vec<Option<String>>,
}

/// The answer of the database.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Outcome {
    Ok,
    Unknown,
    NoTeam,
    Moved,
    Wait,
    Clone,
    Behind,
    Ahead,
    Superseded,
    #[serde(rename = "fork?")]
    Fork,
}

#[derive(Debug, Deserialize)]
struct Answer {
    outcome: Outcome,
    #[serde(default)]
    epoch: i64,
    #[serde(default)]
    sequence: i64,
    #[serde(default)]
    milliseconds: u64,
    #[serde(default)]
    hot: bool,
    #[serde(default)]
    orders: Vec<Waiting>,
}

/// An order that waits in the database.
#[derive(Clone, Debug, Deserialize)]
pub struct Waiting {
    /// The number by which it is taken.
    pub number: i64,
    /// Its ID, created by the requesting side.
    pub id: String,
    /// The kind of request.
    pub kind: String,
    /// Its content, as in the stream.
    pub is: Box<RawValue>,
    /// Its signature.
    pub signature: Option<String>,
    /// The login that sent it.
    pub asked_by: String,
}

/// What to do after an answer.
#[derive(Debug)]
pub enum Next {
    /// Make the next call at once.
    Again,
    /// Make the next call after this time at most.
    Wait(Duration),
    /// A beat was accepted.
    Accepted {
        /// Whether a viewer watches it closely.
        is_hot: bool,
        /// The orders that wait to be taken.
        orders: Vec<Waiting>,
    },
    /// Another machine has this host ID too: publish under a new one.
    NewId,
    /// Nothing can be published, for this reason.
    Refused(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Enrol,
    Claim,
    Beat,
    Contest,
}

/// A witness, as the database sees it.
#[derive(Clone, Debug)]
pub struct Publisher {
    id: HostId,
    team: Option<String>,
    /// The facts about its machine, as JSON.
    facts: String,
    stage: Stage,
    epoch: i64,
    /// The database's epoch according to its last answer.
    seen_epoch: i64,
    sequence: i64,
    /// The highest number of an order in its journal.
    orders: i64,
    /// The unanswered beat, with its mark.
    beat: Option<(i64, Batch)>,
    /// What is to be sent.
    pub outbox: Outbox,
}

impl Publisher {
    /// Creates a publisher, which first asks the database who it is.
    pub fn new(id: HostId, team: Option<String>, facts: String, orders: i64) -> Self {
        Self {
            id,
            team,
            facts,
            stage: Stage::Claim,
            epoch: 0,
            seen_epoch: 0,
            sequence: 0,
            orders,
            beat: None,
            outbox: Outbox::default(),
        }
    }

    /// Continues under another host ID.
    pub fn renamed(&mut self, id: HostId) {
        (self.id, self.stage) = (id, Stage::Enrol);
        (self.epoch, self.seen_epoch, self.sequence, self.orders) = (0, 0, 0, 0);
    }

    /// Returns the ID under which it publishes.
    pub fn id(&self) -> &HostId {
        &self.id
    }

    /// Returns its epoch.
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Returns whether the database accepts its beats, according to its last answer.
    pub fn is_followed(&self) -> bool {
        self.stage == Stage::Beat
    }

    /// Returns the highest number of an order it has taken.
    pub fn orders(&self) -> i64 {
        self.orders
    }

    /// Returns whether a beat is unanswered, and so will be sent again unchanged.
    pub fn is_telling(&self) -> bool {
        self.beat.is_some()
    }

    /// Remembers that an order is in the journal.
    pub fn journalled(&mut self, number: i64) {
        self.orders = self.orders.max(number);
    }

    /// Returns the call to make now. A beat carries this mark, which must be random, unless one is unanswered: that
    /// one is sent again unchanged.
    ///
    /// # Errors
    /// Returns the error of serde_json, which does not occur for our own types.
    pub fn next(&mut self, mark: i64) -> serde_json::Result<Call> {
        let text = |number: i64| Some(number.to_string());
        let of_host = [Some(self.id.host.clone()), Some(self.id.secret.clone())].into_iter();
        let (function, rest) = match self.stage {
            Stage::Enrol => {
                ("enrol($1::uuid,$2,$3,$4::uuid)", vec![self.team.clone(), self.id.clone_of.clone()])
            }
            Stage::Claim => (
                "claim($1::uuid,$2,$3::bigint,$4::bigint,$5::bigint,$6::json)",
                vec![text(self.seen_epoch), text(self.epoch), text(self.orders), Some(self.facts.clone())],
            ),
            Stage::Beat => {
                let (mark, batch) = match self.beat.take() {
                    Some(beat) => beat,
                    None => (mark, self.outbox.take()?),
                };
                self.beat = Some((mark, batch.clone()));
                let Batch { changes, is_whole, tombstones } = batch;
                (
                    "beat($1::uuid,$2,$3::bigint,$4::bigint,$5::bigint,$6::json,$7::boolean,$8::json)",
                    vec![
                        text(self.epoch),
                        text(self.sequence),
                        text(mark),
                        changes,
                        Some(is_whole.to_string()),
                        tombstones,
                    ],
                )
            }
            Stage::Contest => {
                let mark = self.beat.as_ref().map_or(mark, |(mark, _)| *mark);
                (
                    "contest($1::uuid,$2,$3::bigint,$4::bigint,$5::bigint)",
                    vec![text(self.epoch), text(self.sequence), text(mark)],
                )
            }
        };
        Ok(Call { function, parameters: of_host.chain(rest).collect() })
    }

    /// Processes the answer to the last call.
    ///
    /// # Errors
    /// Fails if it is not an answer.
    pub fn answered(&mut self, answer: &str) -> serde_json::Result<Next> {
        let answer: Answer = serde_json::from_str(answer)?;
        Ok(match (self.stage, answer.outcome) {
            (Stage::Enrol, Outcome::Ok) => self.goes_on(Stage::Claim),
            (Stage::Enrol, Outcome::NoTeam) => {
                Next::Refused("this login is not a member of the team the host is joining".to_owned())
            }
            (Stage::Enrol, Outcome::Unknown) => {
                Next::Refused("the host ID belongs to another login, or has another secret".to_owned())
            }
            (Stage::Claim, Outcome::Ok) => {
                (self.epoch, self.seen_epoch, self.sequence) = (answer.epoch, answer.epoch, answer.sequence);
                self.beat = None;
                self.outbox.tell_all();
                self.goes_on(Stage::Beat)
            }
            (Stage::Claim, Outcome::Moved) => {
                self.seen_epoch = answer.epoch;
                Next::Again
            }
            (Stage::Claim, Outcome::Wait) => Next::Wait(WAIT.min(Duration::from_millis(answer.milliseconds))),
            (Stage::Claim, Outcome::Clone) => Next::NewId,
            (Stage::Beat, Outcome::Ok) => {
                self.sequence = answer.sequence;
                self.beat = None;
                Next::Accepted { is_hot: answer.hot, orders: answer.orders }
            }
            (Stage::Beat, Outcome::Behind) => {
                self.seen_epoch = answer.epoch;
                self.goes_on(Stage::Claim)
            }
            (Stage::Beat, Outcome::Ahead | Outcome::Superseded) => self.goes_on(Stage::Contest),
            (Stage::Contest, Outcome::Ok) => self.goes_on(Stage::Beat),
            (_, Outcome::Fork) => Next::NewId,
            (Stage::Claim | Stage::Beat | Stage::Contest, Outcome::Unknown) => self.goes_on(Stage::Enrol),
            (stage, outcome) => Next::Refused(format!("the database answered {outcome:?} to {stage:?}")),
        })
    }

    fn goes_on(&mut self, stage: Stage) -> Next {
        self.stage = stage;
        Next::Again
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publisher() -> Publisher {
        let id = HostId { host: "h".to_owned(), secret: "s".to_owned(), clone_of: None };
        Publisher::new(id, None, "{}".to_owned(), 0)
    }

    /// Gives a publisher these answers, and checks which functions it then calls.
    #[track_caller]
    fn check(answers: &[&str], expected: &[&str]) {
        let mut publisher = publisher();
        let mut called = Vec::new();
        for (mark, answer) in (1..).zip(answers) {
            let call = publisher.next(mark).unwrap();
            called.push(call.function.split('(').next().unwrap());
            publisher.answered(answer).unwrap();
        }
        let call = publisher.next(99).unwrap();
        called.push(call.function.split('(').next().unwrap());
        assert_eq!(called, expected, "{answers:?}");
    }

    const CLAIMED: &str = r#"{"outcome":"ok","epoch":3,"sequence":7}"#;

    #[test]
    fn it_finds_its_way_from_every_answer() {
        let unknown = r#"{"outcome":"unknown"}"#;
        let ok = r#"{"outcome":"ok"}"#;
        check(&[unknown, ok], &["claim", "enrol", "claim"]);
        check(&[r#"{"outcome":"moved","epoch":2}"#, CLAIMED], &["claim", "claim", "beat"]);
        check(&[r#"{"outcome":"wait","milliseconds":30000}"#], &["claim", "claim"]);
        let behind = r#"{"outcome":"behind","epoch":2,"sequence":1}"#;
        check(&[CLAIMED, behind], &["claim", "beat", "claim"]);
        for other in ["ahead", "superseded"] {
            let answer = format!(r#"{{"outcome":"{other}","epoch":3,"sequence":9}}"#);
            check(&[CLAIMED, &answer, ok], &["claim", "beat", "contest", "beat"]);
        }
        check(&[CLAIMED, unknown, ok], &["claim", "beat", "enrol", "claim"]);
    }

    #[test]
    fn a_beat_that_was_not_answered_is_sent_again_as_it_was() {
        let mut publisher = publisher();
        publisher.next(1).unwrap();
        publisher.answered(CLAIMED).unwrap();
        let one = RawValue::from_string("1".to_owned()).unwrap();
        publisher.outbox.put("window", "w", &one);
        let first = publisher.next(2).unwrap();
        publisher.outbox.put("window", "x", &one);
        assert_eq!(publisher.next(3).unwrap(), first);
        publisher.answered(r#"{"outcome":"ok","sequence":8}"#).unwrap();
        let next = publisher.next(4).unwrap();
        assert_eq!(
            next.parameters[3..6],
            ["8", "4", r#"[["window","x",1]]"#].map(|text| Some(text.to_owned()))
        );
    }

    #[test]
    fn a_clone_and_a_fork_publish_under_another_id() {
        let mut publisher = publisher();
        publisher.next(1).unwrap();
        assert!(matches!(publisher.answered(r#"{"outcome":"clone"}"#), Ok(Next::NewId)));
        let id = HostId { host: "i".to_owned(), secret: "t".to_owned(), clone_of: Some("h".to_owned()) };
        publisher.renamed(id);
        let call = publisher.next(2).unwrap();
        assert_eq!(call.parameters[3].as_deref(), Some("h"));
        assert!(call.function.starts_with("enrol"));
    }
}
