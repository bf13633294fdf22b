//! How the failures of each class fared.

use super::layout::{Fit, Text};
use super::page::Page;
use super::table::{Column, Table};
use super::{style, words};
use crate::report::{ClassRow, Report, Share};
use std::io;

const COLUMNS: [Column; 5] = [
    Column::new("class", Fit::Words).cut_to(10),
    Column::new("bucket", Fit::Words).spare(2),
    Column::new("attempts", Fit::Number).spare(1),
    Column::new("calls", Fit::Number),
    Column::new("calls recovered", Fit::Number),
];

pub(super) fn write(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    if report.classes.is_empty() {
        return Ok(());
    }
    page.heading("CLASSES", "failures by class, and the calls that succeeded all the same")?;
    let mut table = Table::new(&COLUMNS);
    report.classes.iter().for_each(|class| table.row(row(class)));
    page.table(&table)
}

fn row(class: &ClassRow) -> Vec<Text> {
    let recovered = Share { count: class.recovered, of: class.calls };
    let style = match class.recovered {
        0 => style::RED,
        n if n == class.calls => style::GREEN,
        _ => style::PLAIN,
    };
    vec![
        Text::plain(class.class),
        Text::styled(style::FAINT, class.bucket),
        Text::plain(words::number(class.attempts)),
        Text::plain(words::number(class.calls)),
        Text::styled(style, words::share(recovered)),
    ]
}
