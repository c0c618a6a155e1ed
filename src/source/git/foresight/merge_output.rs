//! Reads what `git merge-tree -z` prints (git-merge-tree(1)).

use std::collections::BTreeMap;

/// A merge that git has tried.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MergeOutput {
    /// The objects of the files that it could not merge, by path: of the base, and of both sides.
    pub(super) stages: BTreeMap<Vec<u8>, [Option<String>; 3]>,
    /// The sort of conflict of each path, in git's words, such as `CONFLICT (contents)`.
    pub(super) sorts: Vec<(Vec<u8>, String)>,
}

impl MergeOutput {
    /// Reads an output; `None` if it is not one.
    pub(super) fn parse(out: &[u8]) -> Option<Self> {
        let mut parts = out.split(|byte| *byte == 0);
        // The tree.
        parts.next().filter(|tree| tree.len() >= 40)?;
        let mut output = Self::default();
        for entry in parts.by_ref() {
            if entry.is_empty() {
                break;
            }
            let tab = entry.iter().position(|byte| *byte == b'\t')?;
            let (head, path) = (std::str::from_utf8(entry.get(..tab)?).ok()?, entry.get(tab + 1..)?);
            let [_, object, stage] = head.split(' ').collect::<Vec<_>>()[..] else { return None };
            let stage = stage.parse::<usize>().ok()?.checked_sub(1)?;
            let stages = output.stages.entry(path.to_vec()).or_default();
            *stages.get_mut(stage)? = Some(object.to_owned());
        }
        while let Some(count) = parts.next().filter(|count| !count.is_empty()) {
            let count: usize = std::str::from_utf8(count).ok()?.parse().ok()?;
            let paths: Vec<&[u8]> = parts.by_ref().take(count).collect();
            let sort = String::from_utf8_lossy(parts.next()?).into_owned();
            parts.next()?;
            if sort.starts_with("CONFLICT") || sort.starts_with("ERROR") {
                // The first path is what it is about; the others are what it was named before.
                let others = paths.iter().skip(1).filter(|path| output.stages.contains_key(**path));
                let about: Vec<Vec<u8>> =
                    paths.iter().take(1).chain(others).map(|path| path.to_vec()).collect();
                output.sorts.extend(about.into_iter().map(|path| (path, sort.clone())));
            }
        }
        Some(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_and_messages_are_read() {
        let tree = "a".repeat(40);
        let out = format!(
            "{tree}\0100644 {tree} 2\tsrc/a\0100644 {tree} 3\tsrc/a\0\0\
             1\0src/a\0Auto-merging\0Auto-merging src/a\n\0\
             1\0src/a\0CONFLICT (contents)\0CONFLICT (add/add): ...\n\0"
        );
        let output = MergeOutput::parse(out.as_bytes()).unwrap();
        assert_eq!(
            output.stages.get(&b"src/a"[..]).unwrap(),
            &[None, Some(tree.clone()), Some(tree.clone())]
        );
        assert_eq!(output.sorts, [(b"src/a".to_vec(), "CONFLICT (contents)".to_owned())]);
        assert_eq!(MergeOutput::parse(format!("{tree}\0").as_bytes()), Some(MergeOutput::default()));
        assert_eq!(MergeOutput::parse(b"usage"), None);
    }
}
