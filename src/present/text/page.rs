//! A page of lines: headings, fields and evidence, wrapped to a width.

use jiff::Timestamp;

use crate::core::model::snapshot::work::UNSEEN;
use crate::core::model::{Evidence, Key, Severity};
use crate::present::text::age;
use crate::present::text::tone::{Line, Mark, Span, Tone, of_severity};
use crate::present::text::zone::Zone;
use crate::present::text::{cut, fact, outside, safe, width, wrap};

/// Columns for the names of fields.
const LABEL: usize = 15;

/// Columns before the values of fields.
const VALUE: usize = 2 + LABEL + 1;

/// How far ahead a moment may lie that is as good as now, in seconds: what is shown was made a little earlier.
const JUST_NOW: i64 = -5;

/// Columns for the moments of a story; those of another day take more.
const DATE: usize = 9;

/// Where a page is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    /// On the full screen: signs, and the keys that help.
    Screen,
    /// In plain output: words, and the keys that name things.
    Text,
}

/// Lines that are filled one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Page {
    medium: Medium,
    width: usize,
    now: Timestamp,
    zone: Zone,
    /// The facts that were left out, where they are.
    folded: Option<usize>,
    /// The lines so far.
    pub(crate) lines: Vec<Line>,
    /// How many of them, from the first, stay when the others are scrolled.
    pub(crate) pinned: usize,
    /// The moments whose ages are given in the lines.
    pub(crate) moments: Vec<Timestamp>,
    /// Whether it says already which edits cannot be seen.
    is_unseen_noted: bool,
}

impl Page {
    /// Begins an empty page of the screen of so many columns, whose ages are those at `now`.
    pub(crate) fn new(width: usize, now: Timestamp) -> Self {
        let (medium, width) = (Medium::Screen, width.max(16));
        Self {
            medium,
            width,
            now,
            zone: Zone::default(),
            folded: None,
            lines: Vec::new(),
            pinned: 0,
            moments: Vec::new(),
            is_unseen_noted: false,
        }
    }

    /// Shows moments in this zone.
    pub(crate) fn in_zone(mut self, zone: &Zone) -> Self {
        self.zone = zone.clone();
        self
    }

    /// Returns a moment as people compare it with other evidence.
    pub(crate) fn clock(&self, at: Timestamp) -> String {
        match self.medium {
            // The header of the screen names the zone.
            Medium::Screen => self.zone.clock(self.now, at),
            Medium::Text => self.zone.clock_and_offset(self.now, at),
        }
    }

    /// Returns a sentence with its moments in this person's zone.
    pub(crate) fn localized(&self, text: &str) -> String {
        self.zone.localized(text).into_owned()
    }

    /// Leaves out the facts from now on, and counts them.
    pub(crate) fn folding(mut self) -> Self {
        self.folded = Some(0);
        self
    }

    /// Returns how many facts were left out.
    pub(crate) fn folded(&self) -> usize {
        self.folded.unwrap_or(0)
    }

    /// Returns whether facts are left out, and counts these.
    pub(crate) fn folds(&mut self, facts: usize) -> bool {
        self.folded.as_mut().is_some_and(|folded| {
            *folded += facts;
            true
        })
    }

    /// Begins an empty page of plain output, in which no line is broken.
    pub(crate) fn for_text(now: Timestamp) -> Self {
        Self { medium: Medium::Text, ..Self::new(usize::MAX, now) }
    }

    /// Returns the key before what it names, in plain output: there is no row to choose.
    pub(crate) fn key(&self, key: &Key) -> String {
        match self.medium {
            Medium::Screen => String::new(),
            Medium::Text => format!("{key}  "),
        }
    }

    pub(crate) fn medium(&self) -> Medium {
        self.medium
    }

    /// Keeps the lines so far in sight when those that follow are scrolled.
    pub(crate) fn pin(&mut self) {
        self.pinned = self.lines.len();
    }

    /// Adds an empty line, unless the page is empty or ends with one.
    pub(crate) fn gap(&mut self) {
        if self.lines.last().is_some_and(|line| !line.0.is_empty()) {
            self.lines.push(Line::default());
        }
    }

    /// Adds a heading after an empty line.
    pub(crate) fn heading(&mut self, text: &str) {
        self.gap();
        self.lines.push(Line::new(text, Tone::Accent));
    }

    /// Adds text over the whole width.
    pub(crate) fn text(&mut self, text: &str, tone: Tone) {
        self.hanging(Line::default(), text, tone);
    }

    /// Adds a line of a file as it is, indented; of the screen only as much as fits.
    pub(crate) fn verbatim(&mut self, text: &str, tone: Tone) {
        let room = self.width.saturating_sub(4);
        let text = safe(&text.replace('\t', "    "));
        self.lines.push(Line::new("    ", Tone::Dim).then(&cut(&text, room), tone));
    }

    /// Adds a line with a sign; what does not fit hangs below the text.
    pub(crate) fn bullet(&mut self, mark: Mark, text: &str, tone: Tone) {
        self.hanging(self.lead(mark, "", tone), text, tone);
    }

    /// Adds a problem: how bad it is and its code in their tone, its sentence in plain.
    pub(crate) fn problem(&mut self, severity: Severity, code: &str, message: &str) {
        let (mark, tone, word) = of_severity(severity);
        let start = self.lines.len();
        let lead = self.lead(mark, word, tone);
        let message = self.localized(message);
        self.hanging(lead.clone(), &format!("{code}: {message}"), Tone::Plain);
        let Some(first) = self.lines.get_mut(start) else { return };
        let text = first.0.pop().map(|span| span.text().to_owned()).unwrap_or_default();
        let (code, message) = text.split_at_checked(code.len() + 1).unwrap_or((&text, ""));
        first.0 = lead.0;
        first.0.extend([Span::new(code, tone), Span::new(message, Tone::Plain)]);
    }

    /// Begins a line with a sign; in plain output with a word in its place.
    fn lead(&self, mark: Mark, word: &str, tone: Tone) -> Line {
        let line = Line::default();
        match self.medium {
            Medium::Screen => line.then_marked(mark, "", tone).then(" ", tone),
            Medium::Text => line.then(if word.is_empty() { " " } else { word }, tone).then(" ", tone),
        }
    }

    /// Adds a named value; nothing when it is empty.
    pub(crate) fn field(&mut self, label: &str, text: &str, tone: Tone) {
        if !text.is_empty() {
            self.hanging(self.label(label), text, tone);
        }
    }

    /// Says once on the page which edits cannot be seen.
    pub(crate) fn note_unseen(&mut self) {
        if !std::mem::replace(&mut self.is_unseen_noted, true) {
            self.field("Not seen", UNSEEN, Tone::Dim);
        }
    }

    /// Adds values under one name.
    pub(crate) fn list<T: AsRef<str>>(&mut self, label: &str, texts: impl Iterator<Item = T>, tone: Tone) {
        for (at, text) in texts.enumerate() {
            self.field(if at == 0 { label } else { "" }, text.as_ref(), tone);
        }
    }

    /// Adds a named value with a sign.
    pub(crate) fn sign(&mut self, label: &str, (mark, tone, word): (Mark, Tone, &str), text: &str) {
        let between = match self.medium {
            Medium::Text if word.is_empty() => "",
            Medium::Text if !text.is_empty() => " · ",
            Medium::Screen | Medium::Text => " ",
        };
        let lead = self.label(label).then_marked(mark, word, tone).then(between, Tone::Dim);
        let text = self.localized(text);
        self.hanging(lead, &text, Tone::Dim);
    }

    /// Adds a moment with its age; nothing when there is none.
    pub(crate) fn moment(&mut self, label: &str, at: Option<Timestamp>) {
        let Some(at) = at else { return };
        self.moments.push(at);
        let ago = match age::seconds(self.now, at) {
            ..JUST_NOW => "ahead of now".to_owned(),
            JUST_NOW..0 => "just now".to_owned(),
            seconds => format!("{} ago", age::label(seconds)),
        };
        self.field(label, &format!("{ago}, {}", self.clock(at)), Tone::Plain);
    }

    /// Returns how many columns it has.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Returns the moment that ages are given for.
    pub(crate) fn now(&self) -> Timestamp {
        self.now
    }

    /// Adds a sentence behind the moment at which it happened; what only explains the sentence
    /// before has no moment and is dim.
    pub(crate) fn dated(&mut self, at: &str, text: &str) {
        let tone = if text.starts_with('(') { Tone::Dim } else { Tone::Plain };
        let lead = Line::new("  ", Tone::Dim).then(&pad(at, DATE), Tone::Dim).then(" ", Tone::Dim);
        let text = self.localized(&fact(text));
        self.hanging(lead, &text, tone);
    }

    /// Adds one fact: what it says, where that was read, and when.
    pub(crate) fn evidence(&mut self, evidence: &Evidence) {
        if evidence.value.raw() == UNSEEN && std::mem::replace(&mut self.is_unseen_noted, true) {
            return;
        }
        if self.folds(1) {
            return;
        }
        let label = Line::new("  ", Tone::Dim)
            .then(&pad(&evidence.fact.shown(), LABEL), Tone::Dim)
            .then(" ", Tone::Dim);
        let mut source = format!("({}", outside(Some(&evidence.source)));
        if let Some(at) = evidence.at {
            source.push_str(&format!(", {}", self.clock(at)));
        }
        source.push(')');
        let value = self.localized(&fact(evidence.value.raw()));
        let lead = label.width();
        if lead + width(&value) + 2 + width(&source) <= self.width {
            self.lines.push(label.then(&value, Tone::Plain).then("  ", Tone::Dim).then(&source, Tone::Dim));
        } else {
            self.hanging(label, &value, Tone::Plain);
            let indent = Line::new(&" ".repeat(VALUE.min(self.width / 2)), Tone::Dim);
            self.hanging(indent, &source, Tone::Dim);
        }
    }

    fn label(&self, label: &str) -> Line {
        Line::new("  ", Tone::Dim).then(&pad(label, LABEL), Tone::Dim).then(" ", Tone::Dim)
    }

    /// Adds text after a beginning; further lines stand below the text. A beginning that leaves it
    /// less than half of the width has a line of its own.
    fn hanging(&mut self, lead: Line, text: &str, tone: Tone) {
        let mut indent = lead.width();
        let mut lead = Some(lead);
        if indent > self.width / 2 {
            self.lines.extend(lead.take());
            indent = VALUE.min(self.width / 2);
        }
        for part in wrap(&safe(text), self.width.saturating_sub(indent)) {
            let start = lead.take().unwrap_or_else(|| Line::new(&" ".repeat(indent), Tone::Dim));
            self.lines.push(Line(start.0.into_iter().chain([Span::new(&part, tone)]).collect()));
        }
    }
}

fn pad(text: &str, columns: usize) -> String {
    let text = safe(text);
    let missing = columns.saturating_sub(width(&text));
    text + &" ".repeat(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_without_a_word_leaves_no_dot_in_text() {
        let sign = |word| {
            let mut page = Page::for_text(Timestamp::UNIX_EPOCH);
            page.sign("Waits", (Mark::Waiting, Tone::Notice, word), "may it run `ls`?");
            page.lines.iter().map(Line::plain).collect::<String>()
        };
        assert_eq!(sign("").split_whitespace().collect::<Vec<_>>().join(" "), "Waits may it run `ls`?");
        assert!(sign("asks").contains("asks · may it"), "{}", sign("asks"));
    }

    #[test]
    fn no_word_is_wider_than_the_page_or_lost() {
        let why = "nothing proves whether the holder is alive or dead";
        for columns in 32..80 {
            let mut page = Page::new(columns, Timestamp::UNIX_EPOCH);
            page.sign("Status", (Mark::Unknown, Tone::Notice, "unproven"), why);
            assert!(page.lines.iter().all(|line| line.width() <= columns), "{:#?}", page.lines);
            let text: Vec<String> = page.lines.iter().map(Line::plain).collect();
            let words: Vec<&str> = text.iter().flat_map(|line| line.split_whitespace()).collect();
            assert_eq!(words.join(" "), format!("Status unproven {why}"));
        }
    }
}
