//! Charts inside a page: drawn for white paper, in the colours of the theme by `assets/page.css`.

use crate::render::charts::{Chart, ChartError, ChartKind, fleet_charts};
use crate::report::Report;
use maud::{Markup, PreEscaped, html};

/// A chart with its words for those who cannot see it.
pub(in crate::render) fn figure(chart: &Chart<'_>) -> Result<Markup, ChartError> {
    let svg = chart.svg()?;
    Ok(html! {
        figure.chart {
            div.sheet { (PreEscaped(svg)) }
        }
    })
}

/// Every chart of one kind that the report has data for.
pub(super) fn figures(report: &Report, kind: ChartKind) -> Result<Markup, ChartError> {
    let charts = fleet_charts(report).into_iter().filter(|chart| chart.kind == kind);
    let figures = charts.map(|chart| figure(&chart)).collect::<Result<Vec<_>, _>>()?;
    Ok(html! { div.charts { @for one in &figures { (one) } } })
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
