//! Questions to hosts through the database that are not answered yet.
//!
//! Each question is a row there, under an ID of its own, so that it counts once however often it is sent. An order is
//! only reported as not done if the database took it back before its host had taken it.
//!

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::mpsc::Sender;
use std::time::Duration;

use serde::Deserialize;

use super::signature;
use crate::core::fleet::database::roster::Roster;
use crate::core::fleet::order::{Ask, OrderReceipt};
use crate::core::fleet::signed::message;
use crate::core::fleet::wire::decoder::Answer;
use crate::core::fleet::wire::encoder::Encoder;
use crate::core::model::{ErrorKind, Obstacle};
use crate::observe::fleet::{PostedQuestion, Question};
use crate::source::database::postgres::session::Session;

/// How long a question is followed while the database does not answer.
const FOLLOWED: Duration = Duration::from_secs(85);

const ASK: &str = "claimtop.ask($1::uuid,$2::bigint,$3,$4,$5::json,$6)";

const STATE: &str = "SELECT state, result::text, claimtop.clock() > expires_at FROM claimtop.\"order\"
    WHERE host = $1::uuid AND number = $2::bigint";

const WITHDRAW: &str = "claimtop.withdraw($1::uuid,$2::bigint)";

/// A question that is not answered yet.
pub(super) struct OpenQuestion {
    question: Question,
    reply: Sender<Answer>,
    machine: String,
    row: Row,
    /// Its number, and when the server that gave the number had started.
    placed: Option<(i64, i64)>,
    until: Duration,
}

/// The row that is written into the database.
struct Row {
    host: String,
    epoch: i64,
    kind: &'static str,
    id: String,
    payload: String,
    signature: Option<String>,
}

/// The next step of a question.
enum Step {
    Answered(Answer),
    Waits,
    /// Its outcome cannot be determined here.
    Lost,
}

/// The answer of `ask` and `withdraw`.
#[derive(Deserialize)]
struct Outcome<'a> {
    outcome: &'a str,
    #[serde(default)]
    number: Option<i64>,
    #[serde(default)]
    started: i64,
}

/// Prepares a question for the database; answers a question at once that cannot be sent.
pub(super) async fn asked(
    posted: PostedQuestion,
    roster: &Roster,
    key: Option<&Path>,
    now: Duration,
) -> Option<OpenQuestion> {
    let PostedQuestion { machine, question, reply } = posted;
    match row(&machine, &question, roster, key).await {
        Ok(row) => Some(OpenQuestion { question, reply, machine, row, placed: None, until: now + FOLLOWED }),
        Err(why) => {
            // A caller that has given up sends a new question.
            let _ = reply.send(refused(&question, &why));
            None
        }
    }
}

async fn row(machine: &str, question: &Question, roster: &Roster, key: Option<&Path>) -> Result<Row, String> {
    let (host, epoch) = roster.address(machine).ok_or_else(|| format!("{machine} is no longer visible"))?;
    let random = || RandomState::new().hash_one(0_u8);
    let own = format!("{:016x}{:016x}", random(), random());
    let (kind, id, line) = match question.clone() {
        Question::Plan(requests) => {
            ("plan", format!("plan-{own}"), Encoder::ask(Ask { number: 1, requests }))
        }
        Question::Do(order) => ("order", order.id.clone(), Encoder::order(order)),
        Question::Settle(settle) => ("settle", format!("settle-{own}"), Encoder::settle(settle)),
    };
    let payload = line.map_err(|error| error.to_string())?.trim().to_owned();
    let signature = match key {
        Some(key) => {
            let signed = signature::sign(key, &message(&host, epoch, &id, &payload)).await;
            Some(signed.map_err(|why| format!("it could not be signed: {why}"))?)
        }
        None => None,
    };
    Ok(Row { host, epoch, kind, id, payload, signature })
}

impl OpenQuestion {
    /// Continues a question; returns whether it is still open.
    ///
    /// # Errors
    /// The database does not answer.
    pub(super) async fn goes_on(
        &mut self,
        session: &mut Session,
        roster: &mut Roster,
        now: Duration,
    ) -> Result<bool, String> {
        let step = match self.placed {
            None => self.place(session).await,
            Some(placed) => self.look(session, roster, placed).await,
        };
        match step {
            Ok(Step::Answered(answer)) => {
                let _ = self.reply.send(answer);
                Ok(false)
            }
            Ok(Step::Lost) => Ok(false),
            Ok(Step::Waits) => Ok(now < self.until),
            // It may be there nevertheless: it is sent again unchanged.
            Err(why) if now < self.until => Err(why),
            Err(_) => Ok(false),
        }
    }

    async fn place(&mut self, session: &mut Session) -> Result<Step, String> {
        let Row { host, epoch, kind, id, payload, signature } = &self.row;
        let parameters = [
            Some(host.clone()),
            Some(epoch.to_string()),
            Some((*kind).to_owned()),
            Some(id.clone()),
            Some(payload.clone()),
            signature.clone(),
        ];
        let text = session.text(ASK, &parameters).await?.unwrap_or_default();
        let why = match outcome(&text) {
            Some(Outcome { outcome: "ok", number: Some(number), started }) => {
                self.placed = Some((number, started));
                return Ok(Step::Waits);
            }
            Some(Outcome { outcome: "never", .. }) => "it does not accept orders",
            Some(Outcome { outcome: "superseded", .. }) => "it has restarted since it was seen; look again",
            Some(Outcome { outcome: "busy", .. }) => "too many orders already wait there",
            Some(Outcome { outcome: "fork?", .. }) => {
                "two machines publish under this ID, or it was just restarted"
            }
            Some(_) | None => "it is no longer known there",
        };
        Ok(Step::Answered(refused(&self.question, why)))
    }

    async fn look(
        &mut self,
        session: &mut Session,
        roster: &mut Roster,
        (number, started): (i64, i64),
    ) -> Result<Step, String> {
        let at = [Some(self.row.host.clone()), Some(number.to_string())];
        let rows = session.query(STATE, &at).await?;
        let state = rows.first().and_then(|row| {
            let result: Option<String> = row.try_get(1).ok()?;
            Some((row.try_get::<_, String>(0).ok()?, result, row.try_get::<_, bool>(2).ok()?))
        });
        let Some((state, result, is_over)) = state else { return Ok(Step::Lost) };
        match (state.as_str(), result) {
            ("done" | "refused" | "failed", Some(line)) => Ok(self.ended(roster, &line)),
            ("asked", _) if is_over => {
                let text = session.text(WITHDRAW, &at).await?.unwrap_or_default();
                // A server that has started since may have been restored to a time before it was taken.
                let is_ours = |found: &Outcome<'_>| found.outcome == "ok" && found.started == started;
                let why = "it was not picked up within a minute, and will not be";
                Ok(match outcome(&text).is_some_and(|found| is_ours(&found)) {
                    true => Step::Answered(refused(&self.question, why)),
                    false => Step::Lost,
                })
            }
            ("asked" | "taken", _) => Ok(Step::Waits),
            _ => Ok(Step::Lost),
        }
    }

    /// Reads its host's answer.
    fn ended(&self, roster: &mut Roster, line: &str) -> Step {
        let answer = roster.answer(&self.machine, line);
        match (&self.question, answer) {
            (Question::Plan(requests), Some(Answer::Plans(number, plans)))
                if plans.len() == requests.len() =>
            {
                Step::Answered(Answer::Plans(number, plans))
            }
            (Question::Plan(_), _) => {
                Step::Answered(refused(&self.question, "its answer cannot be understood"))
            }
            (Question::Do(order), Some(Answer::Receipt(receipt))) if receipt.id == order.id => {
                Step::Answered(Answer::Receipt(receipt))
            }
            (Question::Settle(settle), Some(Answer::Receipt(receipt))) if receipt.id == settle.id => {
                Step::Answered(Answer::Receipt(receipt))
            }
            (Question::Do(_) | Question::Settle(_), _) => Step::Lost,
        }
    }
}

fn outcome(text: &str) -> Option<Outcome<'_>> {
    serde_json::from_str(text).ok()
}

/// Answers a question that was not begun and will not be.
fn refused(question: &Question, why: &str) -> Answer {
    let obstacle = || Obstacle { kind: ErrorKind::Failed, text: why.to_owned() };
    match question {
        Question::Plan(requests) => Answer::Plans(1, requests.iter().map(|_| Err(obstacle())).collect()),
        Question::Do(order) => Answer::Receipt(OrderReceipt::refused(&order.id, ErrorKind::Failed, why)),
        // This reveals nothing about the order itself.
        Question::Settle(settle) => Answer::Receipt(OrderReceipt::unknown(&settle.id, why)),
    }
}
