//! Reads the world: files, processes, repositories and databases. It writes nothing but copies of databases
//! (`sqlite::copies`), in claimtop's own folder.

pub(crate) mod call_waits;
pub mod database;
pub(crate) mod git;
pub(crate) mod interface;
pub(crate) mod os;
pub(crate) mod own;
pub mod places;
pub(crate) mod provenance;
pub(crate) mod registry;
pub(crate) mod repos;
pub(crate) mod sessions;
pub(crate) mod sizes;
pub(crate) mod versions;
pub(crate) mod windows;
pub(crate) mod work;
