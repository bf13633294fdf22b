//! Charts inside a page: drawn for white paper, in the colours of the theme by `assets/page.css`.

use crate::render::charts::{Chart, ChartError};
use maud::{Markup, PreEscaped, html};

/// A chart; `caption` stands below it.
pub(in crate::render) fn figure(chart: &Chart<'_>, caption: &Markup) -> Result<Markup, ChartError> {
    let svg = chart.svg()?;
    Ok(html! {
        figure.chart {
            div.sheet { (PreEscaped(svg)) }
            figcaption { (caption) }
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::render::charts::palette;

    #[test]
    fn every_colour_of_a_chart_has_a_theme() {
        let style = include_str!("assets/page.css");
        for (red, green, blue) in palette() {
            for attribute in ["fill", "stroke"] {
                let rule = format!(".chart [{attribute}=\"#{red:02X}{green:02X}{blue:02X}\"]");
                assert!(style.contains(&rule), "no rule {rule}");
            }
        }
    }
}
