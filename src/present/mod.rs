//! One way to say a thing, for the screen, the commands and the report.

pub(crate) mod age;
pub(crate) mod between;
pub(crate) mod change;
pub(crate) mod doing;
pub(crate) mod guard;
pub(crate) mod ladder;
pub(crate) mod left_over;
pub(crate) mod lookup;
pub(crate) mod machine;
pub(crate) mod map;
pub(crate) mod need;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod sources;
pub(crate) mod statusline;
pub(crate) mod summary;
pub(crate) mod text;
pub(crate) mod tone;
pub(crate) mod unfinished;
pub(crate) mod words;
pub(crate) mod zone;
