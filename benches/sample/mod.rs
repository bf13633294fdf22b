//! Times of repeated runs: by the clock, and of the processor, which other work on the machine disturbs less.

use std::fs;
use std::hint::black_box;
use std::time::Instant;

/// What each run took, sorted: seconds by the clock, seconds of processors.
pub(crate) struct Sample {
    wall: Vec<f64>,
    cpu: Vec<f64>,
}

impl Sample {
    /// Runs `work` once to warm up, then `runs` times.
    pub(crate) fn of<T>(runs: usize, mut work: impl FnMut() -> T) -> Sample {
        black_box(work());
        let mut sample = Sample { wall: Vec::new(), cpu: Vec::new() };
        for _ in 0..runs {
            let (cpu, start) = (cpu_seconds(), Instant::now());
            let result = black_box(work());
            sample.wall.push(start.elapsed().as_secs_f64());
            sample.cpu.push(cpu_seconds() - cpu);
            // Freeing a result is no part of the work.
            drop(result);
        }
        sample.wall.sort_by(f64::total_cmp);
        sample.cpu.sort_by(f64::total_cmp);
        sample
    }

    /// One row under [`head`].
    pub(crate) fn show(&self, name: &str, bytes: usize, attempts: usize) {
        let rate = |seconds: f64| bytes as f64 / 1e6 / seconds;
        let [middle, least, most] = [median(&self.wall), self.wall[self.wall.len() - 1], self.wall[0]].map(rate);
        let millions = attempts as f64 / 1e6 / median(&self.wall);
        let cpu = median(&self.cpu);
        println!("{name:32} {middle:8.0} {least:8.0} {most:8.0} {millions:8.2} {cpu:8.2} {:8.0}", rate(cpu));
    }

    /// For what is not measured by the byte.
    pub(crate) fn milliseconds(&self) -> String {
        let ms = |seconds: f64| seconds * 1e3;
        let (least, most) = (self.wall[0], self.wall[self.wall.len() - 1]);
        format!("{:.1} ms (min {:.1}, max {:.1})", ms(median(&self.wall)), ms(least), ms(most))
    }
}

/// What the columns of [`Sample::show`] are.
pub(crate) fn head() {
    let columns = ["MB/s", "min", "max", "M att./s", "CPU s", "MB/CPU s"].map(|name| format!("{name:>8}"));
    println!("{:32} {}", "", columns.join(" "));
}

fn median(sorted: &[f64]) -> f64 {
    sorted[sorted.len() / 2]
}

/// Processor time of this process and of the children it waited for, by Linux's 10 ms ticks.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program, in brackets, may hold spaces.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_ascii_whitespace();
    let ticks: u64 = fields.skip(11).take(4).filter_map(|field| field.parse::<u64>().ok()).sum();
    ticks as f64 / 100.0
}
