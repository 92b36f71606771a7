//! Where the time of operations goes.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Records how long each operation of an interpreter takes, and the bytes that it reads and writes.
///
/// Set by [`with_profiler`](crate::TensorInterpreter::with_profiler). An operation whose panic was
/// caught is not recorded.
///
/// Many backends only queue an operation and return: what is recorded then is the time to queue it,
/// unless the profiler waits for the backend after each ([`synchronised`](Self::synchronised)).
#[derive(Clone, Debug)]
pub struct Profiler {
    began: Instant,
    synchronises: bool,
    events: Vec<Event>,
}

#[derive(Clone, Copy, Debug)]
struct Event {
    name: &'static str,
    start: Duration,
    time: Duration,
    bytes_in: u64,
    bytes_out: u64,
}

/// What a profiler recorded of one row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RowProfile {
    /// The row's name, [`OpInfo::name`](crate::OpInfo::name).
    pub name: &'static str,
    /// How many operations there were.
    pub count: usize,
    /// The time of all of them.
    pub total: Duration,
    /// The time that half of them took at most.
    pub median: Duration,
    /// The longest time of one.
    pub largest: Duration,
    /// The bytes of all inputs, as the IR declares them.
    pub bytes_in: u64,
    /// The bytes of all outputs, as the IR declares them.
    pub bytes_out: u64,
}

impl Default for Profiler {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            synchronises: false,
            events: Vec::new(),
        }
    }
}

impl Profiler {
    /// A profiler that has recorded nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same profiler, waiting for the backend after each operation.
    pub fn synchronised(mut self) -> Self {
        self.synchronises = true;
        self
    }

    pub(crate) fn synchronises(&self) -> bool {
        self.synchronises
    }

    /// Record an operation that began then and ends now.
    pub(crate) fn record(
        &mut self,
        name: &'static str,
        start: Instant,
        [bytes_in, bytes_out]: [u64; 2],
    ) {
        self.events.push(Event {
            name,
            start: start.saturating_duration_since(self.began),
            time: start.elapsed(),
            bytes_in,
            bytes_out,
        });
    }

    /// What was recorded, by row; the row with the largest total first.
    pub fn rows(&self) -> Vec<RowProfile> {
        let mut events: BTreeMap<&'static str, Vec<&Event>> = BTreeMap::new();
        for event in &self.events {
            events.entry(event.name).or_default().push(event);
        }
        let rows = events.into_iter().map(|(name, events)| {
            let mut times: Vec<Duration> = events.iter().map(|event| event.time).collect();
            times.sort_unstable();
            let at = |position: usize| times.get(position).copied().unwrap_or_default();
            RowProfile {
                name,
                count: times.len(),
                total: times.iter().sum(),
                median: at((times.len() - 1) / 2),
                largest: at(times.len() - 1),
                bytes_in: events.iter().map(|event| event.bytes_in).sum(),
                bytes_out: events.iter().map(|event| event.bytes_out).sum(),
            }
        });
        let mut rows: Vec<RowProfile> = rows.collect();
        rows.sort_by_key(|row| core::cmp::Reverse(row.total));
        rows
    }

    /// Write what was recorded as a Chrome trace, which Perfetto (<https://ui.perfetto.dev>) opens.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_chrome_trace(&self, mut to: impl Write) -> io::Result<()> {
        let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
        to.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[")?;
        for (position, event) in self.events.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            // A row's name has nothing to escape.
            write!(
                to,
                "{comma}\n{{\"name\":\"{}\",\"cat\":\"operation\",\"ph\":\"X\",\"pid\":1,\"tid\":1,\
                 \"ts\":{},\"dur\":{},\"args\":{{\"bytes in\":{},\"bytes out\":{}}}}}",
                event.name,
                micros(event.start),
                micros(event.time),
                event.bytes_in,
                event.bytes_out,
            )?;
        }
        to.write_all(b"\n]}\n")
    }
}

/// A table, sorted by total time.
impl fmt::Display for Profiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let names = rows.iter().map(|row| row.name.len());
        let width = names.max().unwrap_or(0).max("operation".len());
        writeln!(
            f,
            "{:<width$}  {:>7}  {:>10}  {:>10}  {:>10}  {:>12}  {:>12}",
            "operation", "count", "total µs", "median µs", "largest µs", "bytes in", "bytes out"
        )?;
        for row in rows {
            let micros = |time: Duration| time.as_nanos() as f64 / 1e3;
            writeln!(
                f,
                "{:<width$}  {:>7}  {:>10.1}  {:>10.1}  {:>10.1}  {:>12}  {:>12}",
                row.name,
                row.count,
                micros(row.total),
                micros(row.median),
                micros(row.largest),
                row.bytes_in,
                row.bytes_out,
            )?;
        }
        Ok(())
    }
}
