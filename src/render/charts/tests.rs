//! Properties of every chart, whatever the report.

use super::*;
use crate::model::{Bar, LimitKind, Time};
use crate::report::{HeadroomPoint, IncidentRow, RecoveryRow, Window};

const HOSTILE: &str = "</text><script>alert('1')</script> & \"q\" \u{202e}evil\u{1b}[2J\n\u{2066}";

fn histogram_of(bars: &[(u32, u64, u64, u64)]) -> Histogram {
    let bar = |(key, ok, failed, open): &(u32, u64, u64, u64)| (*key, Bar { ok: *ok, failed: *failed, open: *open });
    Histogram { bars: bars.iter().map(bar).collect() }
}

fn fleet(histogram: &Histogram, of: &str) -> Chart<'static> {
    let kept: &'static Histogram = Box::leak(Box::new(histogram.clone()));
    histogram_chart("a".to_owned(), ChartKind::Fleet, of, kept)
}

fn limit(scope: &str, kind: LimitKind, limit: i64, readings: &[(i64, [i64; 3])]) -> Headroom {
    let point = |(us, [first, min, last]): &(i64, [i64; 3])| HeadroomPoint {
        at: Time(*us),
        first: *first,
        min: *min,
        last: *last,
        limit,
        rejected: u64::from(*min == 0),
        overloaded: 0,
    };
    Headroom {
        scope: scope.to_owned(),
        limit_kind: kind,
        limit,
        min_ratio: 0.0,
        bad_readings: false,
        resolution_s: 1.0,
        points: readings.iter().map(point).collect(),
    }
}

fn headroom_chart(limits: &[Headroom]) -> Chart<'_> {
    let limits: Vec<&Headroom> = limits.iter().collect();
    let title = format!("Headroom: {}", limits.first().map_or(String::new(), |one| title_name(&one.scope)));
    Chart { name: "h".to_owned(), title, kind: ChartKind::Headroom, data: Data::Headroom(limits) }
}

fn draws(chart: &Chart<'_>) -> Result<String, ChartError> {
    let png = chart.png()?;
    assert!(png.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert_eq!(png[16..24], [0, 0, 6, 64, 0, 0, 3, 132], "1600 by 900");
    let svg = chart.svg()?;
    assert!(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"800\" height=\"450\""));
    assert!(svg.trim_end().ends_with("</svg>"));
    Ok(svg)
}

#[test]
fn empty_and_extreme_figures_are_drawn() -> Result<(), ChartError> {
    let big = u64::MAX;
    for bars in [
        &[][..],
        &[(1, 0, 0, 0)],
        &[(1, 1, 0, 0)],
        &[(0, 1, 0, 0), (45, 0, 1, 0)],
        &[(1, big, big, big), (2, 1, 1, 1), (u32::MAX, 0, 0, 1)],
    ] {
        draws(&fleet(&histogram_of(bars), "all runs"))?;
    }
    let kind = LimitKind::Requests;
    for one in [
        limit("s", kind, 50, &[]),
        limit("s", kind, 0, &[(0, [0, 0, 0])]),
        limit("s", kind, -1, &[(0, [-1, -1, -1])]),
        limit("s", kind, 50, &[(0, [50, 50, 50])]),
        limit("s", kind, 50, &[(0, [7, 7, 7]), (0, [7, 7, 7])]),
        limit("s", kind, 50, &[(i64::MIN, [7, 0, 7]), (i64::MAX, [7, 0, 7])]),
        limit("s", kind, i64::MAX, &[(i64::MAX, [i64::MAX, i64::MIN, 0])]),
    ] {
        for resolution_s in [0.0, 1.0, f64::NAN, f64::INFINITY, -1.0] {
            draws(&headroom_chart(&[Headroom { resolution_s, ..one.clone() }]))?;
        }
    }
    draws(&headroom_chart(&[]))?;
    Ok(())
}

#[test]
fn the_same_figures_give_the_same_bytes() -> Result<(), ChartError> {
    let histogram = histogram_of(&[(1, 40, 1, 0), (2, 3, 0, 1), (45, 0, 2, 0)]);
    let limits = [limit("s", LimitKind::Tokens, 100, &[(0, [90, 10, 10]), (9_000_000, [5, 0, 100])])];
    for (first, second) in
        [(fleet(&histogram, "x"), fleet(&histogram, "x")), (headroom_chart(&limits), headroom_chart(&limits))]
    {
        assert_eq!(first.svg()?, second.svg()?);
        assert!(first.png()? == second.png()?);
    }
    Ok(())
}

#[test]
fn text_of_a_log_is_escaped() -> Result<(), ChartError> {
    let limits = [limit(HOSTILE, LimitKind::Requests, 10, &[(0, [9, 0, 0])])];
    for chart in
        [headroom_chart(&limits), fleet(&histogram_of(&[(1, 1, 0, 0)]), &style::shorten(HOSTILE, MAX_TITLE_NAME * 9))]
    {
        let svg = draws(&chart)?;
        assert!(!svg.contains("<script") && !svg.contains("</script"));
        assert!(svg.contains("&lt;/text&gt;"));
        for c in ['\u{1b}', '\u{202e}', '\u{2066}'] {
            assert!(!svg.contains(c) && !chart.title.contains(c) && !chart.alt().contains(c));
        }
    }
    Ok(())
}

#[test]
fn invalid_readings_are_not_drawn() -> Result<(), ChartError> {
    let good = limit("s", LimitKind::Requests, 10, &[(0, [9, 8, 8]), (9_000_000, [7, 6, 6])]);
    let mut bad = good.clone();
    bad.points.push(HeadroomPoint { min: -1, first: -1, ..good.points[0] });
    bad.points[2].at = Time(9_000_000);
    let chart = headroom_chart(std::slice::from_ref(&bad));
    assert!(chart.alt().contains("lowest 60% (6 of 10)"), "{}", chart.alt());
    let line = |svg: &str| svg.lines().filter(|line| line.contains("polyline") && line.contains("#0072B2")).count();
    assert_eq!(line(&draws(&chart)?), line(&draws(&headroom_chart(std::slice::from_ref(&good)))?));
    assert!(draws(&chart)?.contains("Some readings were no data"));
    Ok(())
}

#[test]
fn the_limit_that_binds_first_is_named() {
    let fast = limit("s", LimitKind::OutputTokens, 100, &[(0, [50, 9, 9]), (5_000_000, [8, 8, 8])]);
    let slow = limit("s", LimitKind::Requests, 100, &[(0, [50, 50, 50]), (5_000_000, [3, 0, 0])]);
    let alt = headroom_chart(&[slow.clone(), fast]).alt();
    assert!(alt.contains("Output tokens bind first: below 10% at 00:00:00"), "{alt}");
    let alt = headroom_chart(&[slow]).alt();
    assert!(alt.contains("empty at 00:00:05"), "{alt}");
    assert!(alt.contains("next 429 at 00:00:05"), "{alt}");
    assert!(
        headroom_chart(&[limit("s", LimitKind::Requests, 100, &[(0, [50, 30, 30])])]).alt().contains("came closest")
    );
}

#[test]
fn many_attempts_share_a_bar_whose_label_says_so() -> Result<(), ChartError> {
    let chart = fleet(&histogram_of(&[(1, 9, 0, 0), (14, 1, 0, 0), (45, 0, 1, 0)]), "x");
    assert!(
        chart.alt().contains("13–16 attempts: 1 call (1 succeeded); 17+ attempts: 1 call (1 failed)"),
        "{}",
        chart.alt()
    );
    assert!(draws(&chart)?.contains("grouped from 13 on; the most was 45)"));
    let short = fleet(&histogram_of(&[(16, 1, 0, 0)]), "x");
    assert!(!short.alt().contains('–'));
    Ok(())
}

#[test]
fn names_are_unique_and_safe() {
    let mut names = UniqueNames::default();
    let wanted = ["a", "A", "a-2", "", "日本", "../../etc/passwd", "a/b", "a b", "CON", HOSTILE];
    let given: Vec<String> = wanted.iter().map(|text| names.unique(&slug(text))).collect();
    assert_eq!(given[..4], ["a", "a-2", "a-2-2", "unnamed"]);
    let distinct: HashSet<&String> = given.iter().collect();
    assert_eq!(distinct.len(), given.len());
    let safe = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    assert!(given.iter().all(|name| name.len() < 60 && name.chars().all(safe)), "{given:?}");
}

#[test]
fn scopes_keep_their_order() {
    let one = |scope: &str, kind| limit(scope, kind, 1, &[]);
    let limits = [one("b", LimitKind::Requests), one("a", LimitKind::Tokens), one("b", LimitKind::Tokens)];
    let scopes: Vec<(&str, usize)> = by_scope(&limits).into_iter().map(|(scope, all)| (scope, all.len())).collect();
    assert_eq!(scopes, [("b", 2), ("a", 1)]);
}

fn incident(class: &'static str, model: &str, from: i64, to: i64, failed: u64) -> IncidentRow {
    IncidentRow {
        class,
        classes: Vec::new(),
        provider: None,
        model: Some(model.to_owned()),
        first: Time(from),
        last: Time(to),
        failed,
        sends: failed,
        sends_exact: true,
        calls: failed,
        runs: 1,
        runs_exact: true,
        peak_per_min: 1,
        ended: crate::report::IncidentEnd::Recovered,
        request_ids: Vec::new(),
    }
}

fn incidents_chart(incidents: &[IncidentRow], from: i64, to: i64) -> Chart<'_> {
    let window = Window { first: Time(from), last: Time(to) };
    let title = "Incidents".to_owned();
    let data = Data::Incidents(incidents, window);
    Chart { name: "i".to_owned(), title, kind: ChartKind::Incidents, data }
}

#[test]
fn extreme_incidents_are_drawn() -> Result<(), ChartError> {
    let hour = 3_600_000_000;
    let many: Vec<IncidentRow> =
        (0..40).map(|n| incident("overloaded", &format!("model-{n} {HOSTILE}"), n * hour, n * hour + 9, 7)).collect();
    let wild = [incident("timeout", "m", i64::MIN, i64::MAX, u64::MAX), incident("timeout", "m", 5, 1, 0)];
    for chart in
        [incidents_chart(&many, 0, 41 * hour), incidents_chart(&wild, i64::MIN, i64::MAX), incidents_chart(&wild, 0, 0)]
    {
        let svg = chart.svg()?;
        assert!(chart.png()?.starts_with(b"\x89PNG"));
        assert!(!svg.contains("<script") && !svg.contains('\u{202e}') && !svg.contains("NaN"));
    }
    let chart = incidents_chart(&many, 0, 41 * hour);
    assert!(chart.alt().contains("33 more kinds: 231 failed in 33"), "{}", chart.alt());
    let few = [incident("overloaded", "m", 0, hour, 7)];
    let (few, all) = (incidents_chart(&few, 0, hour).svg()?, chart.svg()?);
    let height = |svg: &str| svg.split("height=\"").nth(1).and_then(|rest| rest.split('"').next()?.parse::<u32>().ok());
    assert!(height(&few) < height(&all) && height(&all) <= Some(450), "no white below a single lane");
    Ok(())
}

#[test]
fn retries_with_few_calls_are_not_drawn() -> Result<(), ChartError> {
    let share = |count, of| crate::report::Share { count, of };
    let step = |retry: usize, of: u64| crate::report::RecoveryStep {
        retry,
        succeeded: share(of / 2, of),
        observed: 0.5,
        predicted: 0.6,
        expected_attempts: 1.5,
    };
    let row = |steps: Vec<crate::report::RecoveryStep>| RecoveryRow {
        provider: None,
        model: Some("m".to_owned()),
        class: "overloaded",
        first_attempts: share(20, 40),
        retried: share(20, 20),
        recovered: share(10, 20),
        one_retry: share(10, 30),
        failing_first: share(20, 40),
        failing_again: share(20, 30),
        steps,
        sends_per_recovery: Some(3.0),
        seconds_per_recovery: None,
    };
    let chart = |row: &RecoveryRow| -> Result<(String, String), ChartError> {
        let title = "t".to_owned();
        let chart = Chart { name: "r".to_owned(), title, kind: ChartKind::Recovery, data: Data::Recovery(row) };
        Ok((draws(&chart)?, chart.alt()))
    };
    let (_, alt) = chart(&row(vec![step(1, 20), step(2, 10), step(3, 4)]))?;
    assert!(alt.contains("1: 50%, independent 60%; 2: 50%, independent 60%."), "three were too few tries: {alt}");
    chart(&row((1..100).map(|n| step(n, 1000)).collect()))?;
    chart(&row(Vec::new()))?;
    Ok(())
}
