//! The dependencies between source files: every path is followed to the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// A module's name from the crate's root, such as `["core", "model"]`.
pub(crate) type Module = Vec<String>;

/// Every file's arrows to the files that define its names.
pub(crate) struct Graph {
    modules: BTreeSet<Module>,
    /// The re-exports of a file: from that path to the true one.
    exports: BTreeMap<Module, Module>,
    pub(crate) arrows: BTreeMap<Module, BTreeSet<Module>>,
}

impl Graph {
    /// Draws the arrows of these files, each with its code.
    pub(crate) fn new(files: &[(Module, String)]) -> Self {
        let modules = files.iter().map(|(module, _)| module.clone()).collect();
        let mut graph = Self { modules, exports: BTreeMap::new(), arrows: BTreeMap::new() };
        let mut named: BTreeMap<&Module, Vec<Module>> = BTreeMap::new();
        for (module, code) in files {
            let (uses, rest) = uses(code);
            for (is_export, tree) in uses {
                for leaf in leaves(&tree) {
                    let (path, name) = leaf.split_once(" as ").unwrap_or((&leaf, ""));
                    let Some(path) = graph.absolute(module, path) else { continue };
                    if is_export {
                        let own = if name.is_empty() { path.last().cloned() } else { Some(name.to_owned()) };
                        graph.exports.insert(module.iter().cloned().chain(own).collect(), path);
                    } else {
                        named.entry(module).or_default().push(path);
                    }
                }
            }
            let paths = inline(&rest).into_iter().filter_map(|path| graph.absolute(module, &path));
            named.entry(module).or_default().extend(paths);
        }
        for (module, paths) in named {
            let homes = paths.into_iter().filter_map(|path| graph.home(path));
            let targets = homes.filter(|home| home != module).collect();
            graph.arrows.insert(module.clone(), targets);
        }
        graph
    }

    /// Returns a path from the crate's root; `None` for one of another crate.
    fn absolute(&self, module: &Module, path: &str) -> Option<Module> {
        let mut parts = path.trim().split("::").map(str::to_owned).peekable();
        let mut base = module.clone();
        match parts.peek()?.as_str() {
            "crate" => {
                base.clear();
                parts.next();
            }
            "self" | "super" => {
                while let Some(step) = parts.next_if(|part| part == "self" || part == "super") {
                    if step == "super" {
                        base.pop();
                    }
                }
            }
            first => {
                base.push(first.to_owned());
                let is_child = self.modules.contains(&base);
                base.pop();
                if !is_child {
                    return None;
                }
            }
        }
        base.extend(parts.filter(|part| part != "self"));
        Some(base)
    }

    /// Returns the file that defines the item of a path.
    fn home(&self, mut path: Module) -> Option<Module> {
        for _ in 0..8 {
            let handed_on = (1..=path.len()).find_map(|end| {
                let known = self.exports.get(path.get(..end)?)?;
                Some(known.iter().chain(path.get(end..)?).cloned().collect())
            });
            match handed_on {
                Some(next) if next != path => path = next,
                _ => break,
            }
        }
        while !path.is_empty() && !self.modules.contains(&path) {
            path.pop();
        }
        (!path.is_empty()).then_some(path)
    }

    /// Returns every set of files that reach each other.
    pub(crate) fn circles(&self) -> BTreeSet<Vec<Module>> {
        let reach: BTreeMap<&Module, BTreeSet<&Module>> =
            self.arrows.keys().map(|module| (module, self.reached(module))).collect();
        let circle = |(module, reached): (&&Module, &BTreeSet<&Module>)| {
            let back = |other: &&&Module| reach.get(**other).is_some_and(|reached| reached.contains(*module));
            let circle: Vec<Module> = reached.iter().filter(back).map(|other| (*other).clone()).collect();
            (!circle.is_empty()).then_some(circle)
        };
        reach.iter().filter_map(circle).collect()
    }

    fn reached<'a>(&'a self, module: &'a Module) -> BTreeSet<&'a Module> {
        let mut seen = BTreeSet::new();
        let mut todo = vec![module];
        while let Some(next) = todo.pop() {
            let new = self.arrows.get(next).into_iter().flatten().filter(|other| !seen.contains(*other));
            let new: Vec<&Module> = new.collect();
            seen.extend(new.iter().copied());
            todo.extend(new);
        }
        seen
    }
}

/// Returns the module of a file below `src`.
pub(crate) fn module_of(file: &Path) -> Module {
    let mut parts: Module = file.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let stem = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
    parts.pop();
    if stem != "mod" {
        parts.push(stem);
    }
    parts
}

/// Returns code without strings, characters and comments.
pub(crate) fn without_text(code: &str) -> String {
    let mut out = String::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let length = text_at(rest).unwrap_or(0);
        if length > 0 {
            out.push(' ');
        } else {
            out.push(first);
        }
        rest = rest.get(length.max(first.len_utf8())..).unwrap_or_default();
    }
    out
}

/// Returns the length of the comment, string or character at the start.
fn text_at(code: &str) -> Option<usize> {
    if code.starts_with("//") {
        return Some(code.find('\n').unwrap_or(code.len()));
    }
    if let Some(hashes) = code.strip_prefix('r').map(|rest| rest.len() - rest.trim_start_matches('#').len()) {
        let end = format!("\"{}", "#".repeat(hashes));
        let body = code.get(1 + hashes..)?.strip_prefix('"')?;
        return Some(2 + hashes + body.find(&end)? + end.len());
    }
    let quote = code.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let mut escaped = false;
    for (at, letter) in code.char_indices().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if letter == quote => return Some(at + 1),
            // A lifetime is not a character.
            _ if quote == '\'' && at > 1 && !code.starts_with("'\\") => return None,
            _ => {}
        }
    }
    None
}

/// Returns every import of a file, whether it is re-exported, and the code without them.
fn uses(code: &str) -> (Vec<(bool, String)>, String) {
    let (mut found, mut rest) = (Vec::new(), String::new());
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let start = line.trim_start();
        let (is_export, tree) = match (start.strip_prefix("use "), start.split_once(" use ")) {
            (Some(tree), _) => (false, tree),
            (None, Some((before, tree))) if before.starts_with("pub") && !before.contains(' ') => {
                (true, tree)
            }
            _ => {
                rest.push_str(line);
                rest.push('\n');
                continue;
            }
        };
        let mut tree = tree.to_owned();
        while !tree.contains(';') {
            let Some(more) = lines.next() else { break };
            tree.push_str(more);
        }
        found.push((is_export, tree.split(';').next().unwrap_or_default().to_owned()));
    }
    (found, rest)
}

/// Returns every path of a `use` tree.
pub(crate) fn leaves(tree: &str) -> Vec<String> {
    let Some((before, group)) = tree.split_once('{') else { return vec![tree.trim().to_owned()] };
    let group = group.rsplit_once('}').map_or(group, |(group, _)| group);
    let (mut depth, mut part, mut parts) = (0_u32, String::new(), Vec::new());
    for letter in group.chars().chain([',']) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if letter == ',' && depth == 0 {
            parts.push(std::mem::take(&mut part));
        } else {
            part.push(letter);
        }
    }
    let parts = parts.iter().map(|part| part.trim()).filter(|part| !part.is_empty());
    parts.flat_map(|part| leaves(&format!("{}{part}", before.trim()))).collect()
}

/// Returns the paths of several parts in code without imports.
fn inline(code: &str) -> Vec<String> {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let words = code.split(|letter| !is_part(letter));
    let words = words.map(|word| word.trim_matches(':')).filter(|word| word.contains("::"));
    words.map(str::to_owned).collect()
}
