//! Where a line runs.

/// Where a line runs.
pub(crate) struct Place<'a> {
    /// The folder, absolute.
    pub(crate) folder: &'a str,
    /// What `HOME` is.
    pub(crate) home: Option<&'a str>,
    /// Returns the top of the working tree that a folder lies in.
    pub(crate) top_of: &'a dyn Fn(&str) -> Option<String>,
}
