//! Findings about LEO's database, where a claim is written on two surfaces: the item of work names
//! its owner, and the session's own row mirrors what it works on.

pub(crate) mod book;
pub(crate) mod items;
pub(crate) mod sessions;
pub(crate) mod trees;

use crate::core::judge::rules::facts::Facts;
use crate::core::judge::rules::found::Findings;
use crate::core::judge::rules::system::leo::book::Book;
use crate::core::model::Format;

/// Finds what is wrong between items of work and sessions. A partial reading reports nothing.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let databases = facts.world.snapshot.databases.iter();
    let read = databases.filter(|database| database.format == Format::Leo && database.is_complete);
    let books: Vec<Book<'_>> = read.map(|database| Book::from_database(database, facts)).collect();
    found.extend(trees::findings(&books, facts));
    for book in &books {
        found.extend(items::findings(book));
        found.extend(sessions::findings(book));
    }
}
