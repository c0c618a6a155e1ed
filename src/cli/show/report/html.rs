//! HTML that text from outside cannot leave: everything goes in escaped.

use jiff::Timestamp;

use crate::core::model::text::shown;
use crate::present::text::zone::Zone;

/// A piece of a page while it is written.
#[derive(Debug, Default)]
pub(super) struct Html {
    pub(super) out: String,
    zone: Zone,
}

impl Html {
    /// Starts a page that shows moments in this zone.
    pub(super) fn in_zone(zone: &Zone) -> Self {
        Self { out: String::new(), zone: zone.clone() }
    }

    /// Returns a moment as the page shows it.
    pub(super) fn moment(&self, at: Timestamp) -> String {
        self.zone.date(at)
    }

    /// Adds a tag of our own.
    pub(super) fn raw(&mut self, tag: &str) {
        self.out.push_str(tag);
    }

    /// Adds text, whatever it holds, with its moments in the page's zone.
    pub(super) fn text(&mut self, text: &str) {
        let text = escaped(&self.zone.localized(text));
        self.out.push_str(&text);
    }

    /// Adds an element with nothing but text in it.
    pub(super) fn element(&mut self, name: &str, class: &str, text: &str) {
        let class = if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") };
        self.raw(&format!("<{name}{class}>"));
        self.text(text);
        self.raw(&format!("</{name}>"));
    }

    /// Adds a table; nothing but its head where there are no rows.
    pub(super) fn table(&mut self, head: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        self.raw("<div class=\"scroll\"><table><thead><tr>");
        head.iter().for_each(|title| self.element("th", "", title));
        self.raw("</tr></thead><tbody>\n");
        for row in rows {
            self.raw("<tr>");
            row.iter().for_each(|cell| self.element("td", "", cell));
            self.raw("</tr>\n");
        }
        self.raw("</tbody></table></div>\n");
    }
}

/// Returns text in which nothing is markup and nothing is invisible.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in shown(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_text_is_markup() {
        assert_eq!(
            escaped("<script>a('&\u{202e}\u{1b}[m\")</script>"),
            "&lt;script&gt;a(&#39;&amp;‹U+202E›\\x1B[m&quot;)&lt;/script&gt;"
        );
    }

    proptest::proptest! {
        #[test]
        fn escaped_text_has_no_markup_and_nothing_forbidden(text in ".*") {
            let escaped = escaped(&text);
            proptest::prop_assert!(!escaped.contains(['<', '>', '"', '\'']));
            proptest::prop_assert!(!escaped.chars().any(crate::core::model::text::is_forbidden));
        }
    }
}
