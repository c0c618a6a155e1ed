//! Plans of actions, as pure data: shown before anything is touched.

pub(crate) mod about;
pub(crate) mod bring_back;
pub(crate) mod find;
pub(crate) mod holder;
pub(crate) mod left;
pub(crate) mod leo;
pub(crate) mod migration;
pub(crate) mod never;
pub(crate) mod rescue;
pub(crate) mod rows;
pub(crate) mod setup;
pub(crate) mod several;
pub(crate) mod stop;

pub use self::holder::full_name_of as full_name;
