//! What one machine sends does not affect any other.

use super::*;

const HELLO: &str = r#"{"hello":{"schema":"claimtop.stream.v1","version":"0.1.0","machine":"m","store":"s","host":"h","boot":null,"pid_namespace":null,"now":"2026-11-24T00:00:00Z"}}"#;
const LOOK: &str = r#"{"look":{"at":"2026-11-24T00:00:00Z"}}"#;

fn greeted() -> Decoder {
    let mut decoder = Decoder::new("m");
    assert_eq!(decoder.receive(HELLO.as_bytes()), Ok(Message::Hello));
    decoder
}

fn part(kind: &str, id: &str, is: &str) -> String {
    format!(r#"{{"part":{{"kind":"{kind}","id":"{id}","is":{is}}}}}"#)
}

/// Returns a claim with surfaces of these names.
fn claim(places: impl Iterator<Item = String>) -> String {
    let surfaces: Vec<String> =
        places.map(|name| format!(r#"{{"name":"{name}","state":"agrees"}}"#)).collect();
    let is = format!(
        r#"{{"key":"c-00000000","resource":{{"kind":"session","id":"x"}},"record":"r-00000000","window":null,
        "since":null,"status":"held","surfaces":[{}],"releasable":"no"}}"#,
        surfaces.join(",")
    );
    part("claim", "c-00000000", &is.replace('\n', ""))
}

/// Processes lines and the end of a look; returns how many lines in total were not understood.
#[track_caller]
fn read_all(decoder: &mut Decoder, lines: &[String]) -> usize {
    for line in lines {
        assert_eq!(decoder.receive(line.as_bytes()), Ok(Message::Other), "{line:.100}");
    }
    assert_eq!(decoder.receive(LOOK.as_bytes()), Ok(Message::Look));
    decoder.not_understood()
}

#[test]
fn the_words_that_one_machine_brings_leave_room_for_those_of_another() {
    let words = |of: &'static str, many: u32| claim((0..many).map(move |number| format!("{of}-{number}")));
    let mut evil: Vec<Decoder> = (0..3).map(|_| greeted()).collect();
    for (name, evil) in ["one", "two", "three"].into_iter().zip(&mut evil) {
        assert_eq!(read_all(evil, &[words(name, 5_000)]), 1);
        let mut again = Decoder::again("m", evil.words_left());
        assert_eq!(again.receive(HELLO.as_bytes()), Ok(Message::Hello));
        assert_eq!(read_all(&mut again, &[claim([format!("{name}-and-one-more")].into_iter())]), 1);
    }
    assert_eq!(read_all(&mut greeted(), &[words("honest", 500)]), 0);
    // Words that are already known cost nothing.
    assert_eq!(read_all(&mut evil[0], &[words("honest", 500)]), 1);
}

#[test]
fn what_was_known_of_a_thing_whose_news_is_not_understood_is_shown_no_more() {
    let source = |state: &str| part("source", "a", &format!(r#"{{"id":"a","state":"{state}","detail":""}}"#));
    let mut decoder = greeted();
    assert_eq!(read_all(&mut decoder, &[source("ok")]), 0);
    assert_eq!(decoder.report().unwrap().sources.len(), 1);
    assert_eq!(read_all(&mut decoder, &[source("as-only-later-versions-have-it")]), 1);
    assert_eq!(decoder.report().unwrap().sources, []);
    assert_eq!(read_all(&mut decoder, &[source("failed")]), 1);
    assert_eq!(decoder.report().unwrap().sources.len(), 1);
}

#[test]
fn what_cannot_be_understood_is_bounded_until_the_next_look_and_then_held_no_more() {
    let long = "x".repeat(1 << 20);
    let refused = part("broken", "r-00000000", &format!(r#"{{"path":"/{long}","key":5}}"#));
    let later = part("hologram", "a", &format!("{long:?}"));
    for line in [refused, later] {
        let mut decoder = greeted();
        assert_eq!(decoder.receive(line.as_bytes()), Ok(Message::Other));
        assert_eq!(decoder.receive(LOOK.as_bytes()), Ok(Message::Look));
        assert!(decoder.texts.is_empty() && !decoder.is_amid());
        assert_eq!((decoder.not_understood(), decoder.bytes, decoder.staged_bytes), (1, 0, 0));
        decoder.bytes = MOST_BYTES - long.len();
        assert_eq!(decoder.receive(line.as_bytes()), Err(StreamError::TooMuch("64 MiB")));
    }
}

#[test]
fn of_an_answer_nothing_is_held_but_itself() {
    let mut decoder = greeted();
    let source = |state: &str| part("source", "a", &format!(r#"{{"id":"a","state":"{state}","detail":""}}"#));
    let why = "a refusal that is too long to be held without memory";
    let plans = format!(r#"{{"plans":{{"number":1,"is":[{{"Err":{{"kind":"failed","text":"{why}"}}}}]}}}}"#);
    assert_eq!(decoder.receive(source("ok").as_bytes()), Ok(Message::Other));
    assert!(decoder.is_amid());
    assert_eq!(decoder.receive(plans.as_bytes()), Ok(Message::Answer));
    assert!(decoder.texts.is_empty());
    assert!(decoder.answer().is_some_and(|answer| matches!(answer, Answer::Plans(1, _))));
}

#[test]
fn how_much_is_known_is_counted_by_what_each_look_changes() {
    let broken = |id: u32, path: &str| {
        let key = format!("r-{id:08x}");
        part("broken", &key, &format!(r#"{{"key":"{key}","path":"{path}"}}"#))
    };
    let gone = |id: u32| format!(r#"{{"gone":{{"kind":"broken","id":"r-{id:08x}"}}}}"#);
    let refused = part("broken", "r-00000001", "{}");
    let mut decoder = greeted();
    let looks: [&[String]; 6] = [
        &[broken(1, "/one"), broken(2, "/two"), broken(1, "/another")],
        &[],
        &[broken(1, "/a"), gone(2), gone(3)],
        &[gone(1), broken(1, "/again"), broken(2, "/two")],
        &[refused],
        &[gone(2)],
    ];
    for lines in looks {
        read_all(&mut decoder, lines);
        let counted: usize = decoder.parts.iter().map(|(id, (_, bytes))| id.id.len() + bytes).sum();
        assert_eq!((decoder.bytes, decoder.staged_bytes), (counted, 0));
    }
    assert_eq!(decoder.bytes, 0);
}
