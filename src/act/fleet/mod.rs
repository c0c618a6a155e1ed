//! Writes into the fleet's database: its schema, and what this machine's witness publishes.

pub(crate) mod schema;
