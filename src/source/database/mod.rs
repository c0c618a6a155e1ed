//! Databases of other systems, read beside their writers.

#[cfg_attr(not(feature = "postgres"), path = "leo/stub.rs")]
pub(crate) mod leo;
pub(crate) mod obra;
#[cfg_attr(not(feature = "postgres"), path = "postgres/stub.rs")]
pub mod postgres;
pub(crate) mod sqlite;
pub(crate) mod stores;
