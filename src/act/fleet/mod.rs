//! Writes to the fleet's database: its schema, and what this machine's witness publishes.

mod identity;
pub(crate) mod lost;
pub(crate) mod post;
pub(crate) mod schema;
pub(crate) mod taking;

pub(crate) use self::identity::mark;
