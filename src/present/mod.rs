//! One way to say a thing, for the screen, the commands and the report.

#[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "only agents that ask are answered"))]
pub(crate) mod answer;
pub(crate) mod change;
pub(crate) mod guard;
pub(crate) mod ladder;
pub(crate) mod left_over;
pub(crate) mod machine;
pub(crate) mod map;
pub(crate) mod need;
pub(crate) mod plan;
pub(crate) mod report_index;
pub(crate) mod sources;
pub(crate) mod summary;
pub(crate) mod text;
pub(crate) mod versions;
pub(crate) mod words;
