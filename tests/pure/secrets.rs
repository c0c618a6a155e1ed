//! Secrets of every shape are hidden, and texts that only resemble them stay: `secrets/masked.txt` and
//! `secrets/plain.txt`.

use claimtop::core::model::Untrusted;
use claimtop::testing::core::{hidden, hide_in_arguments};

const MASKED: &str = include_str!("secrets/masked.txt");
const PLAIN: &str = include_str!("secrets/plain.txt");

/// One line: its text, where each secret begins and ends in it, and the text without them.
#[derive(Default)]
struct Case {
    text: String,
    secrets: Vec<String>,
    left: String,
}

/// Reads the text between « and » as secrets.
fn case(line: &str) -> Case {
    let mut case = Case::default();
    for (number, part) in filled(line).split(['«', '»']).enumerate() {
        case.text += part;
        if number % 2 == 1 {
            case.secrets.push(part.to_owned());
        }
        case.left += if number % 2 == 1 { "***" } else { part };
    }
    case
}

/// Fills in placeholders such as `{alnum 20}`, so that no file contains what a scanner would find.
fn filled(line: &str) -> String {
    let mut text = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('{') {
        let (inner, more) = after.split_once('}').unwrap_or((after, ""));
        let letters = inner.split_once(' ').and_then(|(name, count)| letters(name, count.parse().ok()?));
        let filled = if inner == "nl" { Some("\n".to_owned()) } else { letters };
        text += before;
        text += &filled.clone().unwrap_or_else(|| "{".to_owned());
        rest = if filled.is_some() { more } else { after };
    }
    text + rest
}

/// Returns this many letters of an alphabet.
fn letters(alphabet: &str, count: usize) -> Option<String> {
    let letters = match alphabet {
        "digits" => "7031598264",
        "hex" => "0f9a3c7e1b6d2485",
        "upper" => "Q7XK2MZP4RT3VW5N",
        "alnum" => "a7Kq2Zm9Xt4Rw6Lp1Bc8",
        "word" => "a7K_2Zm9-t4Rw6Lp1Bc8",
        "base64" => "a7Kq2Zm+Xt4Rw6/p1Bc8",
        _ => return None,
    };
    Some(letters.chars().cycle().take(count).collect())
}

fn lines(file: &'static str) -> Vec<&'static str> {
    file.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect()
}

/// Splits a line of a shell into the arguments of its process; `None` if it has more than one.
fn arguments(line: &str) -> Option<Vec<String>> {
    let (mut all, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in line.chars() {
        match (quote, c) {
            (None, ' ') => all.extend(word.take()),
            (None, '\'' | '"') => (quote, word) = (Some(c), Some(word.unwrap_or_default())),
            (Some(open), c) if c == open => quote = None,
            (None, '|' | ';' | '&' | '<' | '>') => return None,
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    Some(all)
}

/// Returns the fault of a line as a text, if there is one.
fn as_text(line: &str) -> Option<String> {
    let case = case(line.strip_prefix("$ ").unwrap_or(line));
    let found = hidden(&case.text);
    let again = hidden(&found).into_owned();
    (found != case.left || again != case.left).then(|| format!("{line}\n    {found}\n    {again}"))
}

/// Returns the fault of a line as the arguments of a process, if there is one.
fn as_arguments(line: &str) -> Option<String> {
    let cases: Vec<Case> =
        arguments(&filled(line.strip_prefix("$ ")?))?.iter().map(|word| case(word)).collect();
    let mut found: Vec<Untrusted> = cases.iter().map(|case| case.text.as_str().into()).collect();
    hide_in_arguments(&mut found);
    let left: Vec<&str> = cases.iter().map(|case| case.left.as_str()).collect();
    let found: Vec<&str> = found.iter().map(Untrusted::raw).collect();
    (found != left).then(|| format!("{line}\n    {found:?}"))
}

#[track_caller]
fn check(file: &'static str) {
    let lines = lines(file);
    let wrong = lines.iter().flat_map(|line| as_text(line).into_iter().chain(as_arguments(line)));
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(lines.len() >= 300, "only {} cases", lines.len());
}

#[test]
fn secrets_of_every_shape_are_hidden_and_nothing_else_of_their_line() {
    assert!(lines(MASKED).iter().all(|line| !case(line).secrets.is_empty()), "each has one");
    check(MASKED);
}

#[test]
fn what_only_resembles_a_secret_stays_byte_for_byte() {
    assert!(lines(PLAIN).iter().all(|line| case(line).secrets.is_empty()), "none has one");
    check(PLAIN);
}

/// Inputs for which a matcher with repeated backtracking would take hours.
const REPEATED: [&str; 24] = [
    "password ", "my password is is is ", "password is \"x ", "password for password ", "key ", "://a:b",
    "://", "x:y", "thin:", "token=a(", "'token=a(", "token='$", "key=x.", "key=a,", "key=\"a", "token:*",
    "cookie:", "Authorization: $x ", "-----BEGIN ", "mysql -p'a ", "curl -u ", "echo x | sudo -S ",
    "login x password ", "\\\"token\\\\\": \\",
];

#[test]
fn a_text_is_read_to_its_end_whatever_stands_in_it_again_and_again() {
    for piece in REPEATED {
        let text = piece.repeat((256 << 10) / piece.len());
        let mut arguments = [Untrusted::from("x"), Untrusted::from(text.as_str())];
        hide_in_arguments(&mut arguments);
        assert!(!hidden(&text).is_empty() && !arguments[1].is_empty(), "{piece}");
    }
}
