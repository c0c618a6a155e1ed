//! The target of a call of Codex: only if it appears plainly in a patch, in a command, or in the first tool that a
//! script calls.

use crate::core::model::snapshot::work::Target;
use crate::format::work::{absolute, first_line};

/// The beginnings of patch lines that name a file.
const FILES: [&str; 4] = ["*** Update File: ", "*** Add File: ", "*** Delete File: ", "*** Move to: "];

/// Returns the files that a patch changes, as it names them.
pub(crate) fn files_of(patch: &str) -> impl Iterator<Item = &str> {
    let file = |line| FILES.iter().find_map(|start| str::strip_prefix(line, start));
    patch.lines().filter_map(file).map(str::trim)
}

/// Returns the first file of a patch.
pub(crate) fn of_patch(patch: &str, folder: Option<&str>) -> Option<Target> {
    absolute(files_of(patch).next()?, folder).map(Target::File)
}

/// Returns a command, or the first file of the patch that it applies.
pub(super) fn of_command(command: &str) -> Target {
    let patch = Some(command).filter(|command| command.trim_start().starts_with("apply_patch"));
    // The command can run in another folder than the session.
    let file = patch.and_then(|patch| of_patch(patch, None));
    file.unwrap_or_else(|| Target::Command(first_line(command)))
}

/// Returns the target of the first tool of a script: `tools.apply_patch("..")` or `tools.exec_command({cmd:".."})`.
pub(super) fn of_script(script: &str, folder: Option<&str>) -> Option<Target> {
    let (tool, input) = script.split_once("tools.")?.1.split_once('(')?;
    match tool {
        "apply_patch" => of_patch(&literal(input)?, folder),
        "exec_command" => {
            let input = input.trim_start().strip_prefix('{')?.trim_start();
            let value = ["cmd", "\"cmd\""].iter().find_map(|key| input.strip_prefix(key))?;
            Some(of_command(&literal(value.trim_start().strip_prefix(':')?)?))
        }
        _ => None,
    }
}

/// Returns the text of a JavaScript literal that is a whole argument or value.
fn literal(script: &str) -> Option<String> {
    let mut chars = script.trim_start().chars();
    let quote = chars.next().filter(|quote| matches!(quote, '"' | '\'' | '`'))?;
    let mut text = String::new();
    loop {
        match chars.next()? {
            '\\' => text.push(unescaped(chars.next()?)?),
            '$' if quote == '`' && chars.as_str().starts_with('{') => return None,
            end if end == quote => break,
            plain => text.push(plain),
        }
    }
    chars.as_str().trim_start().starts_with([',', '}', ')']).then_some(text)
}

/// Returns the character that an escaped one stands for; `None` for a number.
fn unescaped(escape: char) -> Option<char> {
    match escape {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'u' | 'x' | '0'..='9' => None,
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(script: &str, expected: Option<Target>) {
        assert_eq!(of_script(script, Some("/src")), expected, "{script}");
    }

    fn file(path: &str) -> Option<Target> {
        Some(Target::File(path.into()))
    }

    fn command(line: &str) -> Option<Target> {
        Some(Target::Command(line.into()))
    }

    #[test]
    fn a_patch_names_its_first_file() {
        let patch = "*** Begin Patch\n*** Add File: c.txt\n+*** Update File: no.txt\n*** End Patch\n";
        assert_eq!(of_patch(patch, Some("/src")), file("/src/c.txt"));
        assert_eq!(of_patch("+*** Add File: no.txt", None), None);
        assert_eq!(Some(of_command(&format!("apply_patch <<'EOF'\n{patch}EOF"))), file("c.txt"));
        assert_eq!(Some(of_command(&format!("cat <<'EOF'\n{patch}EOF"))), command("cat <<'EOF'"));
    }

    #[test]
    fn a_script_is_told_by_its_first_tool() {
        check(
            r#"await tools.apply_patch("*** Begin Patch\n*** Update File: b\"b\n@@\n-x");"#,
            file("/src/b\"b"),
        );
        check("await tools.apply_patch(`*** Begin Patch\n*** Delete File: /x/b\n`)", file("/x/b"));
        check(
            r#"const r = await tools.exec_command({cmd:"ls \"a b\"; x",yield_time_ms:1});"#,
            command("ls \"a b\"; x"),
        );
        check(r#"tools.exec_command( { "cmd" : 'ls\tx' } )"#, command("ls\tx"));
        check(
            r#"tools.exec_command({cmd:"apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: c\n"})"#,
            file("c"),
        );
    }

    #[test]
    fn what_is_not_plain_is_not_guessed() {
        for script in [
            "",
            "text(1)",
            "tools.",
            "tools.apply_patch",
            "tools.apply_patch(patch)",
            r#"tools.apply_patch("*** Begin Patch\n" + more)"#,
            r#"tools.apply_patch("*** Begin Patch\n*** Add File: c"#,
            "tools.apply_patch(`*** Begin Patch\n*** Add File: ${name}\n`)",
            r#"tools.apply_patch("*** Add File: \u0063\n")"#,
            "tools.exec_command({cmd})",
            r#"tools.exec_command({cmds:"x"})"#,
            r#"tools.exec_command({workdir:"/",cmd:"x"})"#,
            r#"tools.wait({cmd:"x"})"#,
            r#"tools.exec_command({cmd:"x\"#,
        ] {
            check(script, None);
        }
    }

    proptest::proptest! {
        #[test]
        fn any_script_can_be_read(input: String) {
            for start in ["", "tools.apply_patch(", "tools.exec_command({cmd:\""] {
                of_script(&format!("{start}{input}"), None);
            }
        }
    }
}
