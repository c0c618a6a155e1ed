//! What was said in a session: the parts that the agents' files have in common.

use jiff::Timestamp;

use crate::core::model::{Talk, Target};
use crate::format::reading::json::{Object, Value};

/// Takes over what one line says.
pub(crate) type ReadTalk = fn(&mut Talk, &Object<'_>);

/// Takes over a call: the questions that it puts to the person, else the tool and what it is about.
pub(crate) fn call(
    talk: &mut Talk,
    (id, tool): (&str, &str),
    (input, target): (Option<&Object<'_>>, Option<Target>),
    at: Option<Timestamp>,
) {
    let asked = |input| {
        let questions = objects(input, "questions").peekable();
        // Copilot asks one question without a list.
        let one = std::iter::once(input).filter(|input: &&Object<'_>| input.has("question"));
        questions.chain(one)
    };
    let mut is_question = false;
    for question in input.into_iter().flat_map(asked) {
        let Some(text) = question.str("question") else { continue };
        let labels = objects(question, "options").filter_map(|option| option.str("label"));
        let choices = question.get("choices").and_then(Value::as_array).unwrap_or_default();
        talk.asks(id, (text, labels.chain(choices.iter().filter_map(Value::as_str))), at);
        is_question = true;
    }
    if !is_question {
        let about = target.map(|target| format!(" {}", target.text().raw())).unwrap_or_default();
        talk.calls(id, &format!("{tool}{about}"), at);
    }
}

/// Returns the objects in a list.
pub(crate) fn objects<'b, 'a>(
    of: &'b Object<'a>,
    name: &str,
) -> impl Iterator<Item = &'b Object<'a>> + use<'a, 'b> {
    of.get(name).and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_object)
}

#[cfg(test)]
pub(crate) mod testing {
    use crate::core::model::{Talk, Utterance};
    use crate::format::reading::json;

    use super::ReadTalk;

    /// Reads lines and returns the open questions with their choices, the last answer, the calls and the prompt.
    pub(crate) fn summary(read: ReadTalk, lines: &[&str]) -> [String; 4] {
        let mut talk = Talk::default();
        lines.iter().for_each(|line| read(&mut talk, &json::parse(line.as_bytes()).unwrap()));
        let text = |one: &Utterance| one.text.raw().to_owned();
        let question = |one: &Utterance| {
            let choices: Vec<&str> = one.choices.iter().map(|choice| choice.raw()).collect();
            format!("{} [{}]", one.text.raw(), choices.join(", "))
        };
        [
            talk.questions().map(question).collect::<Vec<_>>().join("; "),
            talk.answer().iter().map(text).collect::<Vec<_>>().join("; "),
            talk.last_calls().map(text).collect::<Vec<_>>().join("; "),
            talk.prompt().map(text).unwrap_or_default(),
        ]
    }
}
