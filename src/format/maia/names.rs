//! The meaning of the names of Maia's files: which file, which generation, which context ID.

use crate::core::model::Generation;

const CURRENT: &str = "swarm_session_";
const GLOBAL: &str = "maia_active_swarm_session";
const CONTEXT: &str = "maia_active_swarm_session_";
const PARENT: &str = "maia_active_swarm_session_context_";
const LEARNING: &str = "learning_session_";
const CHECKPOINT: &str = "checkpoint_";

/// Recognises a file of `~/.maia/sessions`.
pub(super) fn in_sessions(name: &str) -> Option<Kind> {
    if name.starts_with(LEARNING) {
        return name.ends_with(".json").then_some(Kind::Learning);
    }
    name.starts_with(CURRENT).then_some(())?;
    session(Form::Current, name)
}

/// Recognises a file of one context's folder below `~/.maia/checkpoints`.
pub(super) fn in_checkpoints(name: &str) -> Option<Kind> {
    (name.starts_with(CHECKPOINT) && name.ends_with(".json")).then_some(Kind::Checkpoint)
}

/// Recognises a file of the temporary folder. The names of G3 include those of G2; the difference is that G2 has only
/// digits after `context_`.
pub(super) fn in_tmp(name: &str) -> Option<Kind> {
    let stem = stem(name)?;
    let form = if stem == GLOBAL {
        Form::Global
    } else if stem.strip_prefix(PARENT).is_some_and(is_number) {
        Form::Parent
    } else if stem.starts_with(CONTEXT) {
        Form::Context
    } else {
        return None;
    };
    session(form, name)
}

fn session(form: Form, name: &str) -> Option<Kind> {
    stem(name)?;
    Some(if name.ends_with(".tmp") { Kind::Temp(form) } else { Kind::Session(form) })
}

fn stem(name: &str) -> Option<&str> {
    name.strip_suffix(".json").or_else(|| name.strip_suffix(".tmp"))
}

/// Returns the context ID in a session file's name; the global file has none.
pub(super) fn context(form: Form, name: &str) -> Option<&str> {
    let prefix = match form {
        Form::Current => CURRENT,
        Form::Context => CONTEXT,
        Form::Parent => PARENT,
        Form::Global => return None,
    };
    stem(name)?.strip_prefix(prefix).filter(|context| !context.is_empty())
}

/// Returns the context ID in a learning session's name.
pub(super) fn learning_context(name: &str) -> Option<&str> {
    stem(name)?.strip_prefix(LEARNING).filter(|context| !context.is_empty())
}

/// Returns whether a form is the one that Maia writes today.
pub(super) fn generation(form: Form) -> Generation {
    match form {
        Form::Current => Generation::Current,
        Form::Context | Form::Parent | Form::Global => Generation::Legacy,
    }
}

/// Returns whether Maia reads a context ID as a PID.
pub(super) fn is_number(context: &str) -> bool {
    !context.is_empty() && context.bytes().all(|b| b.is_ascii_digit())
}

/// Returns whether a context ID has the shape of a UUID, as session IDs have.
pub(super) fn is_uuid(context: &str) -> bool {
    let groups: Vec<&str> = context.split('-').collect();
    groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
        && groups.iter().all(|group| group.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// A window's session.
    Session(Form),
    /// The temporary file for writing a session: the same name, ending in `.tmp`.
    Temp(Form),
    /// `learning_session_{CTX}.json`, beside the current form.
    Learning,
    /// `checkpoint_{time}.json` in a folder named by the context ID.
    Checkpoint,
}

/// The form of a session file's name: Maia's generations of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Form {
    /// `~/.maia/sessions/swarm_session_{CTX}.json` (G4 and G5).
    Current,
    /// `/tmp/maia_active_swarm_session_{CTX}.json` (G3).
    Context,
    /// `/tmp/maia_active_swarm_session_context_{PPID}.json` (G2).
    Parent,
    /// `/tmp/maia_active_swarm_session.json`, one for the machine (G0 and G1).
    Global,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(recognise: fn(&str) -> Option<Kind>, name: &str, expected: Option<Kind>) {
        assert_eq!(recognise(name), expected, "{name}");
    }

    #[test]
    fn the_home_has_sessions_their_companions_and_temporaries() {
        check(in_sessions, "swarm_session_15504.json", Some(Kind::Session(Form::Current)));
        check(in_sessions, "swarm_session_sre_001.json", Some(Kind::Session(Form::Current)));
        check(in_sessions, "swarm_session_.json", Some(Kind::Session(Form::Current)));
        check(in_sessions, "swarm_session_15504.tmp", Some(Kind::Temp(Form::Current)));
        check(in_sessions, "learning_session_15504.json", Some(Kind::Learning));
        check(in_checkpoints, "checkpoint_20260116_092708.json", Some(Kind::Checkpoint));
    }

    #[test]
    fn the_temporary_folder_has_three_generations() {
        check(in_tmp, "maia_active_swarm_session.json", Some(Kind::Session(Form::Global)));
        check(in_tmp, "maia_active_swarm_session_context_15504.json", Some(Kind::Session(Form::Parent)));
        check(in_tmp, "maia_active_swarm_session_15504.json", Some(Kind::Session(Form::Context)));
        check(in_tmp, "maia_active_swarm_session_context_a.json", Some(Kind::Session(Form::Context)));
        check(in_tmp, "maia_active_swarm_session_context_.json", Some(Kind::Session(Form::Context)));
        check(in_tmp, "maia_active_swarm_session_context_15504.tmp", Some(Kind::Temp(Form::Parent)));
        check(in_tmp, "maia_active_swarm_session.tmp", Some(Kind::Temp(Form::Global)));
    }

    #[test]
    fn other_names_are_not_maias() {
        for name in [
            "swarm_session_15504.json~",
            "swarm_session_15504.json.bak",
            ".swarm_session_15504.json.swp",
            "swarm_session.json",
            "learning_session_15504.json.tmp",
            "maia_active_swarm_session_15504.json",
            "",
        ] {
            check(in_sessions, name, None);
        }
        for name in ["maia_active_swarm_sessions.json", "maia_active_swarm_session_1", "swarm_session_1.json"]
        {
            check(in_tmp, name, None);
        }
        check(in_checkpoints, "checkpoint_20260116_092708.md", None);
    }

    #[test]
    fn the_context_is_what_the_name_holds() {
        assert_eq!(context(Form::Current, "swarm_session_a.b.json"), Some("a.b"));
        assert_eq!(context(Form::Current, "swarm_session_.json"), None);
        assert_eq!(context(Form::Parent, "maia_active_swarm_session_context_15504.json"), Some("15504"));
        assert_eq!(context(Form::Global, "maia_active_swarm_session.json"), None);
        assert_eq!(learning_context("learning_session_15504.json"), Some("15504"));
    }

    #[test]
    fn uuids_are_known_by_their_shape() {
        assert!(is_uuid("7b2d4f0e-2f5e-4d0c-9a51-3f4a0c8e6b11"));
        for text in
            ["", "15504", "7b2d4f0e-2f5e-4d0c-9a51-3f4a0c8e6b1", "7b2d4f0e-2f5e-4d0c-9a51-3f4a0c8e6bxx"]
        {
            assert!(!is_uuid(text), "{text}");
        }
    }
}
