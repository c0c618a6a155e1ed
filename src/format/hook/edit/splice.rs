//! Changes at exact places of a text: items appended to a list, or cut out of it so that nothing else changes.
//!
//! What was appended can be cut out again to the byte, by what is around it: a list that was made for it begins with a
//! line break, and goes with its last item; in one that was there and empty, a single space stands before the first item.

use std::ops::Range;

use crate::format::hook::edit::scan::{Extra, ExtraKind, Item, Node, SettingsText};

/// The bytes of a text that are replaced, and by what.
pub(crate) type Splice = (Range<usize>, String);

/// A scanned text, and how it is laid out.
pub(crate) struct Layout<'a> {
    pub(crate) text: &'a str,
    extras: &'a [Extra],
    pub(crate) line_end: &'static str,
    /// By how much each level is indented.
    pub(crate) unit: String,
}

/// What an emptied list was before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ListOrigin {
    /// It has items or comments of others.
    No,
    /// It was made for what it had.
    Whole,
    /// It was there, and empty.
    Before,
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

impl<'a> Layout<'a> {
    pub(crate) fn new(text: &'a str, scanned: &'a SettingsText) -> Self {
        let line_end = match text.find('\n').and_then(|at| at.checked_sub(1)).and_then(|at| text.get(at..=at))
        {
            Some("\r") => "\r\n",
            Some(_) | None => "\n",
        };
        let mut layout = Self { text, extras: &scanned.extras, line_end, unit: "  ".to_owned() };
        if let Some(root) = &scanned.root
            && let Some(first) = root.items().first()
            && layout.is_on_lines(root, first.start)
            && !layout.indent(first.start).is_empty()
        {
            layout.unit = layout.indent(first.start).to_owned();
        }
        layout
    }

    fn part(&self, span: Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }

    /// Returns the white space with which the line of a place begins.
    pub(crate) fn indent(&self, at: usize) -> &'a str {
        let before = self.part(0..at);
        let line = before.rfind('\n').map_or(0, |newline| newline + 1);
        let rest = self.part(line..self.text.len());
        self.part(line..line + rest.len() - rest.trim_start_matches([' ', '\t']).len())
    }

    /// Returns whether an item is not on the line on which its list begins.
    fn is_on_lines(&self, list: &Node, at: usize) -> bool {
        self.part(list.span.start..at).contains('\n')
    }

    /// Returns with how much white space items of a list begin.
    pub(crate) fn item_indent(&self, list: &Node) -> String {
        match list.items().last() {
            Some(last) if self.is_on_lines(list, last.start) => self.indent(last.start).to_owned(),
            Some(_) | None => format!("{}{}", self.indent(list.span.start), self.unit),
        }
    }

    /// Appends items to a list.
    pub(crate) fn append(&self, list: &Node, new: &[String]) -> Vec<Splice> {
        let lines = format!("{}{}", self.line_end, self.item_indent(list));
        let Some(last) = list.items().last() else {
            let at = list.span.start + 1;
            return vec![(at..at, format!(" {}", new.join(&format!(",{lines}"))))];
        };
        let (at, is_in_comment) = self.behind(last.comma.map_or(last.end(), |comma| comma + 1));
        let between = if self.is_on_lines(list, last.start) || is_in_comment { &lines } else { " " };
        let joined: String = match last.comma {
            Some(_) => new.iter().map(|item| format!("{between}{item},")).collect(),
            None => format!("{between}{}", new.join(&format!(",{between}"))),
        };
        let end = last.end();
        match last.comma {
            None if at == end => vec![(at..at, format!(",{joined}"))],
            None => vec![(end..end, ",".to_owned()), (at..at, joined)],
            Some(_) => vec![(at..at, joined)],
        }
    }

    /// Returns the place behind the comments that follow on the same line, and whether the last one ends with it.
    fn behind(&self, mut at: usize) -> (usize, bool) {
        loop {
            let rest = self.part(at..self.text.len());
            let start = at + rest.len() - rest.trim_start_matches([' ', '\t']).len();
            match self.extras.iter().find(|extra| extra.span.start == start) {
                Some(Extra { span, kind: ExtraKind::LineComment }) => return (span.end, true),
                Some(Extra { span, kind: ExtraKind::BlockComment })
                    if !self.part(span.clone()).contains('\n') =>
                {
                    at = span.end;
                }
                Some(_) | None => return (at, false),
            }
        }
    }

    /// Returns whether the text ends in a comment that its line's end would end.
    pub(crate) fn ends_in_comment(&self) -> bool {
        let last = self.extras.last();
        last.is_some_and(|last| last.kind == ExtraKind::LineComment && last.span.end == self.text.len())
    }

    /// Cuts items out of a list, with the commas and the white space that they had needed.
    pub(crate) fn cut(&self, list: &Node, gone: &[usize]) -> Vec<Splice> {
        let items = list.items();
        let is_gone = |(index, _): &(usize, &Item)| gone.contains(index);
        let mut cuts = Vec::new();
        for (_, item) in items.iter().enumerate().filter(is_gone) {
            let start = self.part(0..item.start).trim_end_matches(is_blank).len();
            cuts.push(start..item.end());
            cuts.extend(item.comma.map(|comma| comma..comma + 1));
        }
        let kept = items.iter().enumerate().rfind(|item| !is_gone(item)).map(|(_, item)| item);
        let is_last_gone = gone.contains(&(items.len().saturating_sub(1)));
        if is_last_gone
            && items.last().is_some_and(|last| last.comma.is_none())
            && let Some(comma) = kept.and_then(|kept| kept.comma)
        {
            cuts.push(comma..comma + 1);
        }
        cuts.sort_by_key(|cut| cut.start);
        joined(cuts).into_iter().map(|cut| (self.behind_comment(cut), String::new())).collect()
    }

    /// Leaves the line end before a cut, if a comment needs it.
    fn behind_comment(&self, cut: Range<usize>) -> Range<usize> {
        let is_line = |extra: &Extra| extra.kind == ExtraKind::LineComment && extra.span.end == cut.start;
        let after = self.part(cut.end..self.text.len()).trim_start_matches([' ', '\t', '\r']);
        if !self.extras.iter().any(is_line) || after.is_empty() || after.starts_with('\n') {
            return cut;
        }
        let newline = self.part(cut.clone()).find('\n').map_or(0, |newline| newline + 1);
        cut.start + newline..cut.end
    }

    /// Returns what a list was before it had some items.
    pub(crate) fn emptied(&self, list: &Node, gone: &[usize]) -> ListOrigin {
        let items = list.items();
        let is_inside = |extra: &&Extra| {
            let is_comment = matches!(extra.kind, ExtraKind::LineComment | ExtraKind::BlockComment);
            let is_in = |item: &Item| item.start <= extra.span.start && extra.span.end <= item.end();
            let is_in_list = list.span.start < extra.span.start && extra.span.end < list.span.end;
            is_comment && is_in_list && !items.iter().any(is_in)
        };
        if gone.len() < items.len() {
            ListOrigin::No
        } else if self.gap(list) == Some(" ") {
            ListOrigin::Before
        } else if self.extras.iter().any(|extra| is_inside(&extra)) {
            ListOrigin::No
        } else {
            ListOrigin::Whole
        }
    }

    /// Returns what is between the beginning of a list and its first item.
    pub(crate) fn gap(&self, list: &Node) -> Option<&'a str> {
        Some(self.part(list.span.start + 1..list.items().first()?.start))
    }
}

/// Joins ranges that touch each other.
fn joined(ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut joined: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            Some(_) | None => joined.push(range),
        }
    }
    joined
}

/// Applies changes to a text.
pub(crate) fn applied(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|(span, _)| span.start);
    let mut out = String::with_capacity(text.len() + 1_024);
    let mut at = 0;
    for (span, new) in splices {
        out.push_str(text.get(at..span.start).unwrap_or_default());
        out.push_str(&new);
        at = span.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}
