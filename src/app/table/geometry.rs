//! How a screen of a given size is divided: the one place that decides which parts there are.

/// The size of the terminal in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns.
    pub width: u16,
    /// Lines.
    pub height: u16,
}

/// Where the evidence of the selected thing is shown beside the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Nowhere: there is no room.
    None,
    /// On the right, so many columns wide.
    Right(u16),
    /// Below, so many lines high with its rule, its text in so many columns.
    Below { lines: u16, parts: u16 },
}

/// The fewest lines below the table in which a look into a window says enough.
const PEEK: u16 = 12;
/// The columns of the screen for each column of text below a wide table.
const PART: u16 = 64;
/// From so many columns on there is room for text beside the table.
const WIDE: u16 = 160;

/// Lines above the body: header, tabs.
pub(crate) const TOP: u16 = 2;
/// Lines below the body: summary, keys.
pub(crate) const BOTTOM: u16 = 2;
/// The lines of details on a common screen, below their rule: five that say why, and how many more there are.
const FEW: u16 = 6;
/// The line with the names of the columns.
pub(crate) const HEAD: u16 = 1;

impl Detail {
    /// Decides whether a look into a window says enough there.
    pub(crate) fn shows_peek(self) -> bool {
        match self {
            Self::None => false,
            Self::Right(_) => true,
            Self::Below { lines, .. } => lines >= PEEK,
        }
    }

    /// Returns the same place with its text in one column: what a pane shows is wider than other text.
    pub(crate) fn in_one_part(self) -> Self {
        match self {
            Self::Below { lines, .. } => Self::Below { lines, parts: 1 },
            Self::None | Self::Right(_) => self,
        }
    }
}

impl Size {
    /// Returns the lines between tabs and summary.
    pub(crate) fn body(self) -> u16 {
        self.height.saturating_sub(TOP + BOTTOM)
    }

    /// Decides where details go when the table has so many rows: below it, in columns, on a wide screen of which it takes
    /// no more than half, on the right of one with more rows; on a common screen below: a few lines, more where there are
    /// lines to spare.
    pub(crate) fn detail(self, rows: usize) -> Detail {
        let half = self.body() / 2;
        let rows = u16::try_from(rows).unwrap_or(u16::MAX);
        // One line more than the rows need, so that a window more does not move everything.
        let spare = self.body().saturating_sub(HEAD + 1).saturating_sub(rows);
        let one = |lines| Detail::Below { lines, parts: 1 };
        if self.width >= WIDE && spare >= half {
            // What says why is longer than a table of few windows.
            Detail::Below { lines: spare.min(self.body() * 2 / 3), parts: self.width / PART }
        } else if self.width >= WIDE {
            Detail::Right((self.width / 3).min(76))
        } else if spare >= 7 {
            one(spare.min(half + 1))
        } else if self.height >= 30 {
            one(self.body().saturating_mul(2) / 5)
        } else if self.height >= 24 {
            one(FEW + 1)
        } else {
            Detail::None
        }
    }

    /// Returns how many rows the table shows beside details in such a place.
    pub(crate) fn rows(self, detail: Detail) -> usize {
        let below = match detail {
            Detail::Below { lines, .. } => lines,
            Detail::None | Detail::Right(_) => 0,
        };
        usize::from(self.body().saturating_sub(HEAD + below)).max(1)
    }

    /// Returns the columns of a line of text in the detail pane; the whole width when there is none.
    pub(crate) fn detail_width(self, detail: Detail) -> usize {
        usize::from(match detail {
            Detail::Right(columns) => columns.saturating_sub(3),
            Detail::Below { parts, .. } if parts > 1 => (self.width / parts).saturating_sub(3),
            Detail::Below { .. } | Detail::None => self.width.saturating_sub(2),
        })
    }

    /// Returns the lines for text in the detail pane, in all its columns.
    pub(crate) fn detail_lines(self, detail: Detail) -> usize {
        usize::from(match detail {
            Detail::Right(_) => self.body(),
            Detail::Below { lines, parts } => lines.saturating_sub(1).saturating_mul(parts),
            Detail::None => 0,
        })
    }

    /// Returns the columns for text in a panel that takes the body.
    pub(crate) fn panel_width(self) -> usize {
        usize::from(self.width.saturating_sub(4)).clamp(8, 116)
    }

    /// Returns the columns for a drawing in a panel: all, while text is not read in such long lines.
    pub(crate) fn drawing_width(self) -> usize {
        usize::from(self.width.saturating_sub(4)).max(8)
    }

    /// Decides whether a panel has room for so many lines in which words can be read.
    pub(crate) fn shows(self, lines: usize) -> bool {
        self.width >= 30 && usize::from(self.body().saturating_sub(2)) >= lines
    }

    /// Returns the lines for text in a panel that takes the body.
    pub(crate) fn panel_lines(self) -> usize {
        usize::from(self.body().saturating_sub(2)).max(1)
    }
}
