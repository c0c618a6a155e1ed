//! A database of a test's own with a fleet in it, and one of its hosts.

use std::sync::atomic::{AtomicU64, Ordering};

use serde_json::{Value, json};

use crate::cluster::Database;
use crate::fleet::login::Login;

/// What `fleet init` runs.
pub(crate) const INIT: &str = include_str!("../../../assets/fleet.sql");

/// Roles belong to the server, which all databases of this process share: one test at a time makes or drops them.
pub(crate) static ROLES: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Makes a database with a fleet and logins for it: two witnesses, a viewer, an operator, and one without rights.
pub(crate) fn fleet() -> Database {
    let database = Database::new();
    let _turn = ROLES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    database.sql(INIT);
    for (login, role) in
        [("alice", "witness"), ("bob", "witness"), ("vera", "view"), ("oscar", "operate"), ("nobody", "")]
    {
        let grant = if role.is_empty() { String::new() } else { format!("IN ROLE claimtop_{role}") };
        database.sql(&format!(
            "DO $$ BEGIN CREATE ROLE {login} LOGIN {grant}; EXCEPTION WHEN duplicate_object THEN NULL; END $$"
        ));
    }
    database.sql("INSERT INTO claimtop.member VALUES ('core','alice'), ('core','vera'), ('core','oscar')");
    database
}

/// One host, as its witness knows it.
#[derive(Clone)]
pub(crate) struct Host {
    pub(crate) id: String,
    pub(crate) secret: String,
    pub(crate) boot: String,
    pub(crate) name: String,
    pub(crate) epoch: i64,
    pub(crate) sequence: i64,
}

pub(crate) fn number() -> u64 {
    static NUMBER: AtomicU64 = AtomicU64::new(1);
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

impl Host {
    /// Makes up one that the database does not know yet.
    pub(crate) fn new() -> Self {
        let number = number();
        Self {
            id: format!("00000000-0000-4000-8000-{number:012x}"),
            secret: format!("{number:032}"),
            boot: format!("boot-{number}"),
            name: format!("host-{number}"),
            epoch: 0,
            sequence: 0,
        }
    }

    /// Makes one that has enrolled and claimed.
    pub(crate) fn begun(login: &Login, team: Option<&str>) -> Self {
        let mut host = Self::new();
        assert_eq!(host.enrol(login, team)["outcome"], "ok");
        assert_eq!(host.claim(login)["outcome"], "ok");
        host
    }

    pub(crate) fn enrol(&self, login: &Login, team: Option<&str>) -> Value {
        login.call("enrol($1::uuid,$2,$3,null)", &[Some(&self.id), Some(&self.secret), team])
    }

    /// Claims from the epoch that it knows; adopts the answer.
    pub(crate) fn claim(&mut self, login: &Login) -> Value {
        let facts = json!({"boot": self.boot, "name": self.name, "accepts": "typed", "machine": "m", "pid_namespace": 7});
        let (epoch, facts) = (self.epoch.to_string(), facts.to_string());
        let parameters =
            [Some(self.id.as_str()), Some(&self.secret), Some(&epoch), Some(&epoch), Some("0"), Some(&facts)];
        let answer = login.call("claim($1::uuid,$2,$3::bigint,$4::bigint,$5::bigint,$6::json)", &parameters);
        if answer["outcome"] == "ok" || answer["outcome"] == "moved" {
            self.epoch = answer["epoch"].as_i64().unwrap();
            self.sequence = answer["sequence"].as_i64().unwrap();
        }
        answer
    }

    /// Beats with a mark of its own.
    pub(crate) fn beat(&mut self, login: &Login, changes: Option<&Value>, stones: Option<&Value>) -> Value {
        let answer = self.beat_marked(login, number(), changes, stones);
        if answer["outcome"] == "ok" {
            self.sequence = answer["sequence"].as_i64().unwrap();
        }
        answer
    }

    pub(crate) fn beat_marked(
        &self,
        login: &Login,
        mark: u64,
        changes: Option<&Value>,
        stones: Option<&Value>,
    ) -> Value {
        let [epoch, sequence, mark] = [self.epoch.to_string(), self.sequence.to_string(), mark.to_string()];
        let (changes, stones) = (changes.map(Value::to_string), stones.map(Value::to_string));
        login.call(
            "beat($1::uuid,$2,$3::bigint,$4::bigint,$5::bigint,$6::json,false,$7::json)",
            &[
                Some(&self.id),
                Some(&self.secret),
                Some(&epoch),
                Some(&sequence),
                Some(&mark),
                changes.as_deref(),
                stones.as_deref(),
            ],
        )
    }

    pub(crate) fn contest(&self, login: &Login, mark: u64) -> Value {
        let [epoch, sequence, mark] = [self.epoch.to_string(), self.sequence.to_string(), mark.to_string()];
        login.call(
            "contest($1::uuid,$2,$3::bigint,$4::bigint,$5::bigint)",
            &[Some(&self.id), Some(&self.secret), Some(&epoch), Some(&sequence), Some(&mark)],
        )
    }

    pub(crate) fn take(&self, login: &Login, order: i64) -> Value {
        let [epoch, order] = [self.epoch.to_string(), order.to_string()];
        login.call(
            "take($1::uuid,$2,$3::bigint,$4::bigint)",
            &[Some(&self.id), Some(&self.secret), Some(&epoch), Some(&order)],
        )
    }

    pub(crate) fn receipt(&self, login: &Login, order: i64, ended: &str) -> Value {
        login.call(
            "receipt($1::uuid,$2,$3::bigint,$4,$5::json)",
            &[
                Some(&self.id),
                Some(&self.secret),
                Some(&order.to_string()),
                Some(ended),
                Some("{\"entry\":1}"),
            ],
        )
    }

    /// Lets an operator send it an order.
    pub(crate) fn ask(&self, operator: &Login) -> Value {
        self.ask_as(operator, &format!("order-{}", number()))
    }

    pub(crate) fn ask_as(&self, operator: &Login, id: &str) -> Value {
        operator.call(
            "ask($1::uuid,$2::bigint,'order',$3,$4::json,null)",
            &[Some(&self.id), Some(&self.epoch.to_string()), Some(id), Some(r#"{"typed":"yes"}"#)],
        )
    }
}

/// Makes a witness' tombstone of a process that it has proven dead.
pub(crate) fn stone(boot: &str, pid: u32) -> Value {
    json!({"pid": pid, "start_ticks": u64::from(pid) + 1000, "host": "h", "boot_id": boot, "pid_namespace": 7,
        "time_namespace": 8, "proven_at": "2026-11-20T10:00:00Z", "reason": "exited"})
}
