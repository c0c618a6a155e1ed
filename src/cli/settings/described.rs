//! The formats that a person has described, read at the start.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use super::config_file::read;
use crate::cli::output::failure::Failure;
use crate::core::model::text::shown;
use crate::core::model::{DescribedFormat, Untrusted};
use crate::format::described::parse;
use crate::source::os::host;
use crate::source::os::open::folder::Folder;

/// How many descriptions are read.
const MOST: usize = 64;

/// Reads all descriptions in a folder; there may be none.
///
/// # Errors
/// One cannot be read or used, or two bear one name.
pub(crate) fn all(folder: Option<&Path>) -> Result<Vec<DescribedFormat>, Failure> {
    let mut formats: Vec<DescribedFormat> = Vec::new();
    for path in folder.map(files).unwrap_or_default() {
        let format = one(&path)?;
        if formats.iter().any(|known| known.name() == format.name()) {
            let name = shown(&format.definition().name);
            let shown = Untrusted::from_path(&path);
            return Err(Failure::usage(anyhow!("format {shown}: another file describes {name}")));
        }
        formats.push(format);
    }
    Ok(formats)
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = Folder::open(folder).and_then(|folder| {
        folder.entries(|name| Path::new(name).extension().is_some_and(|extension| extension == "toml"))
    });
    let names = entries.unwrap_or_default().into_iter().take(MOST);
    names.map(|entry| folder.join(entry.name)).collect()
}

/// Reads one description.
///
/// # Errors
/// It is not there, or cannot be read or used.
pub(crate) fn one(path: &Path) -> Result<DescribedFormat, Failure> {
    let shown = Untrusted::from_path(path);
    let text = read(path).with_context(|| format!("failed to read the format {shown}"));
    match text.map_err(Failure::usage)? {
        Some(text) => parse(&text, &host::zone).map(DescribedFormat::new).map_err(|error| {
            Failure::usage(anyhow!(error).context(format!("format {shown}")))
                .hint("claimtop formats check FILE tries a description")
        }),
        None => Err(Failure::usage(anyhow!("format {shown}: there is no such file"))),
    }
}
