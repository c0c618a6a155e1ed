//! A fleet's database, on a real PostgreSQL server of the test's own, and PgBouncer.

mod beats;
mod epochs;
mod faults;
mod leo;
mod login;
mod looking;
mod machine;
mod ordering;
mod orders;
mod pooled;
mod pressed;
mod program;
mod rights;
mod schedules;
mod stage;
mod witness;
