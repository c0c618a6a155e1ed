//! A terminal that answers nothing: the screen sends it no queries, and does not wait for it.

use crate::pty::Screen;
use crate::terminal::world::World;

/// Returns the queries in the output: device attributes, places and states, colours, modes, keyboard protocols,
/// settings (xterm's control sequences).
fn questions(written: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(written).into_owned();
    let sequences = text.split("\u{1b}[").skip(1).filter_map(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic())?;
        rest.get(..=end)
    });
    let is_question = |sequence: &&str| {
        sequence.ends_with('c')
            || sequence.ends_with('n')
            || *sequence == "?u"
            || sequence.ends_with("$p")
            || matches!(*sequence, "14t" | "16t" | "18t" | "21t")
            || sequence.ends_with('q') && sequence.starts_with('>')
    };
    let asked = sequences.filter(is_question).map(str::to_owned);
    let colors = text
        .split("\u{1b}]")
        .skip(1)
        .filter(|rest| rest.split(['\u{7}', '\u{1b}']).next().is_some_and(|rest| rest.ends_with('?')));
    asked.chain(colors.map(str::to_owned)).chain(text.contains("\u{1b}P").then(|| "DCS".to_owned())).collect()
}

#[test]
fn nothing_is_asked_of_the_terminal() {
    let world = World::new();
    let mut screen: Screen = world.open(100, 30);
    screen.press("1234567\t?");
    screen.wait_for("Keys that are active now");
    screen.close("Keys that are active now");
    screen.resize(80, 24);
    screen.press("3\u{c}");
    screen.wait_for("alpha_agent");
    screen.press("q");
    assert_eq!(screen.wait_for_exit(), 0);
    assert_eq!(questions(&screen.written), Vec::<String>::new());
}

#[test]
fn the_search_itself_finds_questions() {
    let asked = b"\x1b[1;1H\x1b[c\x1b[6n\x1b[?u\x1b]11;?\x07\x1b[?2026$p\x1b[>0q";
    assert_eq!(questions(asked).len(), 6);
    assert_eq!(questions(b"\x1b[?1049h\x1b[22;2t\x1b]2;title?!\x07\x1b[38;5;1m"), Vec::<String>::new());
}
