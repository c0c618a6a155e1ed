//! LEO's database, on a real PostgreSQL server of the test's own.

mod acting;
mod changes;
mod client;
mod cut_off;
mod deployments;
mod file_locks;
mod files;
mod following;
mod hostile;
mod pooler;
mod program;
mod proxy;
mod races;
mod reading;
mod stage;
mod tls;
mod wire;
