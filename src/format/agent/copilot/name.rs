//! The name that a person has given a session of Copilot CLI: `session-state/<session>/workspace.yaml` has `name`, and
//! `user_named: true` if a person gave it (`/rename`, seen with 1.0.102; else it is the first prompt).

use crate::core::model::Untrusted;

/// The name of the file, beside the session's log.
pub(crate) const FILE: &str = "workspace.yaml";

/// Returns the name that a person has given.
pub(crate) fn given(text: &[u8]) -> Option<Untrusted> {
    let text = std::str::from_utf8(text).ok()?;
    let value = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    let name = scalar(value("name")?.trim())?;
    (value("user_named")?.trim() == "true" && !name.is_empty()).then(|| Untrusted::from(name))
}

/// Reads a scalar of one line, which YAML 1.2 writes plain, in single or in double quotes.
fn scalar(text: &str) -> Option<String> {
    match text.chars().next()? {
        '\'' => Some(text.strip_prefix('\'')?.strip_suffix('\'')?.replace("''", "'")),
        '"' => serde_json::from_str(text).ok(),
        '|' | '>' | '&' | '*' | '!' => None,
        _ => Some(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::given;

    #[test]
    fn only_a_name_that_a_person_gave_counts() {
        let named = |name: &str, by: &str| {
            let text = format!("id: x\ncwd: /h\nname: {name}\nuser_named: {by}\nsummary_count: 0\n");
            given(text.as_bytes()).map(|name| name.raw().to_owned())
        };
        let check = |name, expected: Option<&str>| assert_eq!(named(name, "true").as_deref(), expected);
        check("pay: the cart", Some("pay: the cart"));
        check("'it''s mine'", Some("it's mine"));
        check(r#""a \"b\"""#, Some("a \"b\""));
        check(">-", None);
        check("", None);
        assert_eq!(named("PLAY first", "false"), None);
        assert_eq!(given(b"name: x\n"), None);
        assert_eq!(given(b"\xff\xfe"), None);
    }
}
