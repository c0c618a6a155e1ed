//! What an action would do, as pure data: shown before anything is touched.

pub mod about;
pub mod find;
pub mod holder;
pub mod left;
pub mod leo;
pub mod migration;
pub mod never;
pub mod rows;

pub use self::holder::full_name_of as full_name;
