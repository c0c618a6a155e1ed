//! Cuts a text into what can be told apart by its shape.

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Piece<'a> {
    /// Nothing but letters.
    Word(&'a str),
    /// Nothing but digits.
    Number(&'a str),
    /// Several numbers that stand together as those of cards and telephones do.
    Grouped(&'a str),
    /// Letters and digits.
    Mixed(&'a str),
    Uuid(&'a str),
    /// A date, perhaps with a time.
    Moment(&'a str),
    /// An address of a person or a machine: e-mail, IPv4, IPv6, MAC.
    Address(&'a str),
    /// What stands between.
    Between(&'a str),
}

/// From how many digits on several numbers are a card's or a telephone's.
const GROUPED: usize = 9;

/// Cuts a text; nothing is lost.
pub(crate) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let (piece, end) = if !first.is_alphanumeric() && !rest.starts_with("::") {
            let end = rest.find(|c: char| c.is_alphanumeric() || c == ':').filter(|end| *end > 0);
            let end = end.unwrap_or(if first == ':' { 1 } else { rest.len() });
            (Piece::Between(rest.get(..end)?), end)
        } else {
            known(rest)?
        };
        rest = rest.get(end..)?;
        Some(piece)
    })
}

/// Returns the longest thing that a text begins with.
fn known<'a>(rest: &'a str) -> Option<(Piece<'a>, usize)> {
    let of = |make: fn(&'a str) -> Piece<'a>, end: usize| Some((make(rest.get(..end)?), end));
    if let Some(end) = uuid(rest) {
        return of(Piece::Uuid, end);
    }
    if let Some(end) = mail(rest).or_else(|| ip4(rest)).or_else(|| ip6(rest)) {
        return of(Piece::Address, end);
    }
    if let Some(end) = moment(rest) {
        return of(Piece::Moment, end);
    }
    if let Some(end) = grouped(rest) {
        return of(Piece::Grouped, end);
    }
    let run = upto_uuid(rest, rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()));
    if run == 0 {
        return of(Piece::Between, 1);
    }
    let text = rest.get(..run)?;
    if text.chars().all(char::is_alphabetic) {
        of(Piece::Word, run)
    } else if text.bytes().all(|byte| byte.is_ascii_digit()) {
        of(Piece::Number, run)
    } else {
        of(Piece::Mixed, run)
    }
}

/// Returns where a UUID begins within the first `end` bytes, or `end`.
fn upto_uuid(text: &str, end: usize) -> usize {
    let mut starts = text.char_indices().map(|(at, _)| at).take_while(|at| *at < end).skip(1);
    starts.find(|at| text.get(*at..).and_then(uuid).is_some()).unwrap_or(end)
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
    // What follows the name of a package is its version.
    let (_, domain) = host.rsplit_once('.')?;
    domain.chars().all(char::is_alphabetic).then_some(user + 1 + host.len())
}

fn digits(text: &str) -> usize {
    run(text, |c| c.is_ascii_digit())
}

fn ends_word(text: &str) -> bool {
    !text.starts_with(char::is_alphanumeric)
}

fn ip4(rest: &str) -> Option<usize> {
    let end = run(rest, |c| c.is_ascii_digit() || c == '.');
    let text = rest.get(..end)?.trim_end_matches('.');
    let parts: Vec<&str> = text.split('.').collect();
    let is_one = parts.len() == 4 && parts.iter().all(|part| part.parse::<u8>().is_ok());
    (is_one && rest.get(text.len()..).is_some_and(ends_word)).then_some(text.len())
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

/// Finds `2026-11-20`, perhaps with `T10:00:00.5Z` after it.
fn moment(rest: &str) -> Option<usize> {
    let fits = |text: &str, form: &str| {
        form.len() <= text.len()
            && text.bytes().zip(form.bytes()).all(|(byte, form)| match form {
                b'0' => byte.is_ascii_digit(),
                form => byte == form,
            })
    };
    if !fits(rest, "0000-00-00") {
        return None;
    }
    let after = rest.get(10..)?;
    let has_time = fits(after, "T00:00") || fits(after, " 00:00");
    if !has_time {
        return ends_word(after).then_some(10);
    }
    let mut end = 16;
    for form in [":00", ".0"] {
        if rest.get(end..).is_some_and(|more| fits(more, form)) {
            end += 1 + digits(rest.get(end + 1..)?);
        }
    }
    let zone = rest.get(end..)?;
    end += match zone.chars().next() {
        Some('Z') => 1,
        Some('+' | '-') if fits(zone.get(1..)?, "00:00") => 6,
        _ => 0,
    };
    (end <= 36 && rest.get(end..).is_some_and(ends_word)).then_some(end)
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
