//! Cuts a text into parts that are recognised by their shape.

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Only letters.
    Word(&'a str),
    /// Only digits.
    Number(&'a str),
    /// Several numbers grouped like those of cards and telephones.
    Grouped(&'a str),
    /// Letters and digits.
    Mixed(&'a str),
    Uuid(&'a str),
    /// A date, perhaps with a time.
    Moment(&'a str),
    /// An address of a person or a machine: e-mail, IPv4 also with `-` or `_` in it, IPv6, MAC.
    Address(&'a str),
    /// Anything in between.
    Between(&'a str),
}

/// The number of digits from which on several numbers count as a card's or a telephone's.
const GROUPED: usize = 9;

/// Cuts a text; nothing is lost.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let (mut rest, mut before) = (text, None);
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (piece, end) = if !first.is_alphanumeric() && !rest.starts_with("::") {
            let end = rest.find(|c: char| c.is_alphanumeric() || c == ':').filter(|end| *end > 0);
            let end = end.unwrap_or(if first == ':' { 1 } else { rest.len() });
            (Piece::Between(rest.get(..end)?), end)
        } else {
            known(rest, before)?
        };
        before = rest.get(..end)?.chars().next_back();
        rest = rest.get(end..)?;
        Some(piece)
    })
}

/// Returns the longest part at the beginning of a text, given the character before it.
fn known(rest: &str, before: Option<char>) -> Option<(Piece<'_>, usize)> {
    shaped(rest, before).or_else(|| {
        let end = upto_shape(rest, rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()));
        let text = rest.get(..end).filter(|text| !text.is_empty());
        let Some(text) = text else { return Some((Piece::Between(rest.get(..1)?), 1)) };
        let piece = if text.chars().all(char::is_alphabetic) {
            Piece::Word(text)
        } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
            Piece::Number(text)
        } else {
            Piece::Mixed(text)
        };
        Some((piece, end))
    })
}

/// Returns the part at the beginning of a text if its shape is known.
fn shaped<'a>(rest: &'a str, before: Option<char>) -> Option<(Piece<'a>, usize)> {
    let found = |make: fn(&'a str) -> Piece<'a>, end: usize| Some((make(rest.get(..end)?), end));
    if let Some(end) = uuid(rest) {
        return found(Piece::Uuid, end);
    }
    if let Some(end) = mail(rest).or_else(|| ip4(rest)).or_else(|| ip6(rest)) {
        return found(Piece::Address, end);
    }
    if let Some(end) = moment(rest, before) {
        return found(Piece::Moment, end);
    }
    found(Piece::Grouped, grouped(rest)?)
}

/// Returns where a UUID, an address or a date begins within the first `end` bytes, or `end`: the value of an option
/// can stand right behind its letter.
fn upto_shape(text: &str, end: usize) -> usize {
    let starts = |at: &usize, shape: fn(&str) -> Option<usize>| text.get(*at..).and_then(shape).is_some();
    let is_moment = |text: &str| moment(text, None);
    // What has dots or hyphens in it begins with the last digits, and IPv6 with four letters at most.
    let digits = text.get(..end).map_or(end, |run| run.trim_end_matches(|c: char| c.is_ascii_digit()).len());
    let number = Some(digits).filter(|at| *at > 0 && (starts(at, ip4) || starts(at, is_moment)));
    let hex = Some(1).filter(|at| (at + 1..=at + 4).contains(&end) && starts(at, ip6));
    let mut all = text.char_indices().map(|(at, _)| at).take_while(|at| *at < end).skip(1);
    all.find(|at| starts(at, uuid)).into_iter().chain(number).chain(hex).min().unwrap_or(end)
}

fn uuid(rest: &str) -> Option<usize> {
    let fits = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    rest.as_bytes().get(..36)?.iter().enumerate().all(fits).then_some(36)
}

/// Returns how many bytes of a text fit.
fn run(text: &str, fits: impl Fn(char) -> bool) -> usize {
    text.find(|c| !fits(c)).unwrap_or(text.len())
}

/// Finds an e-mail address: `name@host.domain`.
fn mail(rest: &str) -> Option<usize> {
    let user = run(rest, |c| c.is_alphanumeric() || "._%+-".contains(c));
    let host = rest.get(user..)?.strip_prefix('@').filter(|_| user > 0)?;
    let length = run(host, |c| c.is_alphanumeric() || ".-".contains(c));
    let host = host.get(..length)?.trim_end_matches(['.', '-']);
    // The text after a package's name is its version.
    let (_, domain) = host.rsplit_once('.')?;
    domain.chars().all(char::is_alphabetic).then_some(user + 1 + host.len())
}

fn digits(text: &str) -> usize {
    run(text, |c| c.is_ascii_digit())
}

fn ends_word(text: &str) -> bool {
    !text.starts_with(char::is_alphanumeric)
}

/// Finds an IPv4 address, or one with more parts; host names contain it with hyphens.
fn ip4(rest: &str) -> Option<usize> {
    let sign = rest.get(digits(rest)..)?.chars().next().filter(|sign| ".-_".contains(*sign))?;
    let run = run(rest, |c| c.is_ascii_digit() || c == sign);
    let text = rest.get(..run)?.trim_end_matches(sign);
    let parts = || text.split(sign);
    let is_one = parts().count() >= 4 && parts().all(|part| part.len() <= 3 && part.parse::<u8>().is_ok());
    is_one.then_some(text.len())
}

/// Finds an IPv6 or a MAC address: groups of hexadecimal digits and more colons than a time has.
fn ip6(rest: &str) -> Option<usize> {
    let end = run(rest, |c| c.is_ascii_hexdigit() || c == ':');
    let text = rest.get(..end)?;
    let text = if text.ends_with("::") { text } else { text.trim_end_matches(':') };
    let colons = text.matches(':').count();
    let is_one = text.split(':').all(|part| part.len() <= 4)
        && text.contains(|c: char| c.is_ascii_hexdigit())
        && (colons >= 4 || colons >= 2 && text.contains("::"));
    (is_one && rest.get(text.len()..).is_some_and(ends_word)).then_some(text.len())
}

/// The forms of times after a date, each with its possible suffix.
const TIMES: [(&str, &str); 6] = [
    ("T00:00", ":00"),
    (" 00:00", ":00"),
    ("T00-00", "-00"),
    ("_00-00", "-00"),
    ("-00-00", "-00"),
    ("T0000", "00"),
];

/// Finds a date, perhaps with `T10:00:00.5Z` after it.
fn moment(rest: &str, before: Option<char>) -> Option<usize> {
    let date = date(rest, before)?;
    let after = rest.get(date..)?;
    let time = TIMES.iter().find(|(form, _)| fits(after, form));
    let Some((form, seconds)) = time else { return ends_word(after).then_some(date) };
    let mut end = date + form.len();
    for form in [seconds, ".0"] {
        if rest.get(end..).is_some_and(|more| fits(more, form)) {
            end += form.len() + digits(rest.get(end + form.len()..)?);
        }
    }
    let zone = rest.get(end..)?;
    end += match zone.chars().next() {
        Some('Z') => 1,
        Some('+' | '-') if fits(zone.get(1..)?, "00:00") => 6,
        Some('+') if fits(zone.get(1..)?, "0000") => 5,
        _ => 0,
    };
    (end <= 40 && rest.get(end..).is_some_and(ends_word)).then_some(end)
}

/// Finds a date in common notations: `2026-11-20`, `20.11.2026`, `11/20/26`, and a month, `2026-11`. A text between
/// slashes is a path.
fn date(rest: &str, before: Option<char>) -> Option<usize> {
    let first = digits(rest);
    let sign = rest.get(first..)?.chars().next().filter(|sign| "-./_".contains(*sign))?;
    let mut end = first;
    let mut parts = vec![rest.get(..first)?];
    while parts.len() < 3
        && let Some(more) = rest.get(end..)?.strip_prefix(sign)
    {
        parts.push(more.get(..digits(more))?);
        end += 1 + digits(more);
    }
    let after = rest.get(end..)?;
    let is_in_path = sign == '/' && (before == Some('/') || after.starts_with('/'));
    let is_whole = !is_in_path && !after.starts_with(|c: char| c.is_ascii_digit());
    let is = |part: &str, most: u16| {
        part.len() <= 2 && part.parse().is_ok_and(|number: u16| (1..=most).contains(&number))
    };
    let is_year = |part: &str| part.len() == 4 && (part.starts_with("19") || part.starts_with("20"));
    let is_date = match parts.as_slice() {
        [year, month, day] if is_year(year) => is(month, 12) && is(day, 31),
        [day, month, year] if is_year(year) => is(month, 31) && is(day, 31),
        [day, month, year] => {
            "./".contains(sign)
                && [day, month, year].iter().all(|it| it.len() == 2)
                && is(day, 31)
                && is(month, 31)
        }
        [year, month] => {
            sign == '-' && is_year(year) && month.len() == 2 && is(month, 12) && !after.starts_with('-')
        }
        _ => false,
    };
    (is_date && is_whole).then_some(end)
}

/// Returns whether a text begins in a form, in which 0 stands for any digit.
fn fits(text: &str, form: &str) -> bool {
    form.len() <= text.len()
        && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
            b'0' => byte.is_ascii_digit(),
            form => byte == form,
        })
}

/// Finds numbers with one space, dot or hyphen between them, and many digits in all.
fn grouped(rest: &str) -> Option<usize> {
    let (mut end, mut count, mut groups) = (0, 0, 0);
    while let Some(more @ 1..) = rest.get(end..).map(digits) {
        let next = end + more;
        (count, groups) = (count + more, groups + 1);
        end = next;
        let joined = rest.get(next..).and_then(|after| after.strip_prefix([' ', '.', '-']));
        match joined {
            Some(after) if after.starts_with(|c: char| c.is_ascii_digit()) => end = next + 1,
            Some(_) | None => break,
        }
    }
    let is_whole = rest.get(end..).is_some_and(ends_word);
    (groups >= 3 && count >= GROUPED && is_whole).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[Piece<'_>]) {
        let found: Vec<Piece<'_>> =
            pieces(text).filter(|piece| !matches!(piece, Piece::Between(_))).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn shapes_are_told_apart() {
        use Piece::{Address, Grouped, Mixed, Moment, Number, Uuid, Word};
        const ID: &str = "95fe798d-3725-4649-974a-0dec79220193";
        check("a/swarm_4711.json", &[Word("a"), Word("swarm"), Number("4711"), Word("json")]);
        check(&format!("pid-{ID}.x{ID}"), &[Word("pid"), Uuid(ID), Word("x"), Uuid(ID)]);
        check(
            "call +49 170 1234567, 4111 1111-1111 1111",
            &[Word("call"), Grouped("49 170 1234567"), Grouped("4111 1111-1111 1111")],
        );
        check("an.na+x@mail.example, then", &[Address("an.na+x@mail.example"), Word("then")]);
        check(
            "10.0.0.255:80 fe80::1%x 10.0.0",
            &[
                Address("10.0.0.255"),
                Number("80"),
                Address("fe80::1"),
                Word("x"),
                Number("10"),
                Number("0"),
                Number("0"),
            ],
        );
        check(
            "-h10.0.0.7 ip-10-0-0-8.x -hfe80::1",
            &[
                Word("h"),
                Address("10.0.0.7"),
                Word("ip"),
                Address("10-0-0-8"),
                Word("x"),
                Word("h"),
                Address("fe80::1"),
            ],
        );
        check(
            "0:10.0.0.7/24, 1.10.0.0.7, 8.8.8",
            &[
                Number("0"),
                Address("10.0.0.7"),
                Number("24"),
                Address("1.10.0.0.7"),
                Number("8"),
                Number("8"),
                Number("8"),
            ],
        );
        check(
            "--born=12.05.1984 12/05/84 1984/5/12 d1984-05-12 2026-11",
            &[
                Word("born"),
                Moment("12.05.1984"),
                Moment("12/05/84"),
                Moment("1984/5/12"),
                Word("d"),
                Moment("1984-05-12"),
                Moment("2026-11"),
            ],
        );
        check(
            "sessions/2026/11/20/rollout-2026-11-20T21-40-35-x 2026-13-01",
            &[
                Word("sessions"),
                Number("2026"),
                Number("11"),
                Number("20"),
                Word("rollout"),
                Moment("2026-11-20T21-40-35"),
                Word("x"),
                Number("2026"),
                Number("13"),
                Number("01"),
            ],
        );
        check(
            "2026-11-20T21:40:35.25Z 2026-11-20 21:40:35",
            &[Moment("2026-11-20T21:40:35.25Z"), Moment("2026-11-20 21:40:35")],
        );
        check(
            "win-cc-62034-15504 v8 10:00:00",
            &[
                Word("win"),
                Word("cc"),
                Number("62034"),
                Number("15504"),
                Mixed("v8"),
                Number("10"),
                Number("00"),
                Number("00"),
            ],
        );
    }

    proptest::proptest! {
        #[test]
        fn pieces_lose_nothing(text in "[0-9a-f:. @-]{0,60}|.*") {
            let all: String = pieces(&text).map(text_of).collect();
            proptest::prop_assert_eq!(all, text);
        }
    }

    fn text_of(piece: Piece<'_>) -> &str {
        match piece {
            Piece::Word(text)
            | Piece::Number(text)
            | Piece::Grouped(text)
            | Piece::Mixed(text)
            | Piece::Uuid(text)
            | Piece::Moment(text)
            | Piece::Address(text)
            | Piece::Between(text) => text,
        }
    }
}
