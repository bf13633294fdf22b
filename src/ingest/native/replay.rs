//! A line of a known shape need not be parsed: what each of its scalars is to the record was learnt with the shape.
//!
//! The record becomes exactly what the strict parser would have made of the line; a test holds the two together.

use super::error_body::{self, ErrorBody, Key, Part};
use super::fields::{Field, OWN, lookup};
use super::headers::{self, Header};
use super::json::{self, Fault, Reader};
use super::mapping::{Mapping, Own};
use super::parts::{CLIENT_NAME, CLIENT_VERSION, Parts, is_usage};
use super::record::Record;
use super::scalar::Scalar;
use super::scan::Kind;
use super::values;

/// What the scalars of a shape are to the strict parser, in the order of the line.
#[derive(Clone, Debug)]
pub(super) struct Replay {
    steps: Box<[Step]>,
}

/// What to do with the next scalar, or the next few.
#[derive(Clone, Debug)]
enum Step {
    /// So many mean nothing.
    Skip(usize),
    /// A field, and the rank of its spelling.
    Field(Field, u8),
    Usage(Field),
    ClientName,
    ClientVersion,
    Header(Header),
    /// A scalar where an object is usual.
    Headers,
    Client,
    Error,
    Body,
    /// An error, or the body of a response, member by member.
    ErrorObject(Box<[ErrorStep]>),
    BodyObject(Box<[ErrorStep]>),
}

/// The same inside an error.
#[derive(Clone, Debug)]
enum ErrorStep {
    Skip(usize),
    Said(Part),
    /// A scalar in place of an error at this depth.
    Error(u8),
    More(u8),
    ErrorObject(Box<[ErrorStep]>),
    MoreObject(Box<[ErrorStep]>),
}

impl Replay {
    /// Learns from `line`, which has `scalars` of them and which the strict parser has accepted. `None` where a
    /// value has a structure that the parser makes something of.
    pub(super) fn learn(line: &str, own: &Mapping, scalars: usize) -> Option<Replay> {
        let mut learner = Learner::default();
        learner.record(&mut Reader::new(line), own).ok()?;
        (learner.scalars == scalars).then(|| Replay { steps: learner.steps.into() })
    }

    /// Fills an empty record from the scalars of `line`.
    pub(super) fn fill<'l>(&self, line: &'l str, scalars: &[values::Scalar], record: &mut Record<'l>) {
        let mut parts = Parts::of(record);
        let mut said = Said { line, scalars: scalars.iter() };
        for step in &self.steps {
            match step {
                Step::Skip(count) => said.skip(*count),
                Step::Field(field, rank) => match said.text() {
                    Some(text) => parts.set_text(*field, *rank, text),
                    None => parts.set(*field, *rank, said.next()),
                },
                Step::Usage(field) => parts.record.set(*field, said.next()),
                Step::ClientName => parts.record.client = said.next().into_text(),
                Step::ClientVersion => parts.record.client_version = said.next().into_text(),
                Step::Header(header) => match said.text() {
                    Some(text) => parts.record.headers.set_text(*header, text),
                    None => parts.record.headers.set_known(*header, said.next()),
                },
                Step::Headers => parts.record.headers.set_bare(&said.next()),
                Step::Client => parts.set_client(said.next()),
                Step::Error => parts.record.error.set_bare(said.next(), 0),
                Step::Body => parts.body.set_bare(said.next(), 0),
                Step::ErrorObject(steps) => fill_error(steps, &mut said, &mut parts.record.error),
                Step::BodyObject(steps) => fill_error(steps, &mut said, &mut parts.body),
            }
        }
        parts.finish();
    }
}

fn fill_error<'l>(steps: &[ErrorStep], said: &mut Said<'l, '_>, body: &mut ErrorBody<'l>) {
    let mut inner = ErrorBody::default();
    for step in steps {
        match step {
            ErrorStep::Skip(count) => said.skip(*count),
            ErrorStep::Said(part) => body.set(*part, said.next()),
            ErrorStep::Error(depth) => {
                let mut error = ErrorBody::default();
                error.set_bare(said.next(), *depth);
                inner.nest(error);
            }
            ErrorStep::More(depth) => inner.set_bare(said.next(), *depth),
            ErrorStep::ErrorObject(steps) => {
                let mut error = ErrorBody::default();
                fill_error(steps, said, &mut error);
                inner.nest(error);
            }
            ErrorStep::MoreObject(steps) => fill_error(steps, said, &mut inner),
        }
    }
    body.close(inner);
}

/// The scalars of a line that were not used so far.
struct Said<'l, 's> {
    line: &'l str,
    scalars: std::slice::Iter<'s, values::Scalar>,
}

impl<'l> Said<'l, '_> {
    fn skip(&mut self, count: usize) {
        self.scalars = self.scalars.as_slice().get(count..).unwrap_or_default().iter();
    }

    /// The next scalar, if it is a string without escapes.
    #[inline]
    fn text(&mut self) -> Option<&'l str> {
        let (scalar, rest) = self.scalars.as_slice().split_first().filter(|(scalar, _)| scalar.kind == Kind::Text)?;
        self.scalars = rest.iter();
        Some(self.text_of(scalar))
    }

    #[inline]
    fn text_of(&self, scalar: &values::Scalar) -> &'l str {
        self.line.get(scalar.start as usize..scalar.end as usize).unwrap_or_default()
    }

    /// The next scalar, whatever it is.
    fn next(&mut self) -> Scalar<'l> {
        let Some(scalar) = self.scalars.next() else { return Scalar::Null };
        let text = || self.text_of(scalar);
        match scalar.kind {
            Kind::Null => Scalar::Null,
            Kind::True => Scalar::Bool(true),
            Kind::False => Scalar::Bool(false),
            Kind::Text => Scalar::Text(text().into()),
            Kind::Escaped => Reader::new(text()).string().map_or(Scalar::Null, Scalar::Text),
            Kind::Integer => json::integer(text()).unwrap_or(Scalar::Null),
            Kind::Decimal => json::decimal(text()).unwrap_or(Scalar::Null),
        }
    }
}

/// Walks through a line as the strict parser does.
#[derive(Default)]
struct Learner {
    steps: Vec<Step>,
    /// How many scalars the steps take.
    scalars: usize,
}

type Learnt<T> = Result<T, Fault>;

impl Learner {
    fn record(&mut self, reader: &mut Reader<'_>, own: &Mapping) -> Learnt<()> {
        reader.object(|reader, key| match (own.get(&key), lookup(&key)) {
            (Some(own), built_in) => self.own_value(reader, own, built_in.is_some()),
            (None, Some((field, rank))) => self.value(reader, &key, field, rank),
            (None, None) => self.skip(reader),
        })
    }

    /// The value of a user's own key, unless it is more than one thing.
    fn own_value(&mut self, reader: &mut Reader<'_>, own: &Own, built_in: bool) -> Learnt<()> {
        match &own.target {
            Some(target) if own.below.is_empty() => self.value(reader, &target.name, target.field, OWN),
            None if !built_in && opens(reader) => reader.object(|reader, key| match own.below.get(&key) {
                Some(own) => self.own_value(reader, own, lookup(&key).is_some()),
                None => self.skip(reader),
            }),
            None if !built_in => self.skip(reader),
            _ => give_up(reader),
        }
    }

    fn value(&mut self, reader: &mut Reader<'_>, name: &str, field: Field, rank: u8) -> Learnt<()> {
        match field {
            Field::Headers if opens(reader) => reader.object(|reader, name| self.header(reader, &name)),
            Field::Usage if opens(reader) => reader.object(|reader, key| match lookup(&key) {
                Some((field, _)) if is_usage(field) => self.scalar(reader, Step::Usage(field)),
                _ => self.skip(reader),
            }),
            Field::Client if opens(reader) => reader.object(|reader, key| match &*key {
                CLIENT_NAME => self.scalar(reader, Step::ClientName),
                CLIENT_VERSION => self.scalar(reader, Step::ClientVersion),
                _ => self.skip(reader),
            }),
            Field::Error if opens(reader) => {
                let steps = self.error(reader, 1)?;
                self.steps.push(Step::ErrorObject(steps));
                Ok(())
            }
            Field::Body if opens(reader) => {
                let steps = self.error(reader, 1)?;
                self.steps.push(Step::BodyObject(steps));
                Ok(())
            }
            Field::Headers => self.scalar(reader, Step::Headers),
            Field::Client => self.scalar(reader, Step::Client),
            Field::Error => self.scalar(reader, Step::Error),
            Field::Body => self.scalar(reader, Step::Body),
            Field::Usage => self.skip(reader),
            Field::Header => self.header(reader, name),
            _ => self.scalar(reader, Step::Field(field, rank)),
        }
    }

    fn header(&mut self, reader: &mut Reader<'_>, name: &str) -> Learnt<()> {
        match headers::named(name) {
            Some(header) => self.scalar(reader, Step::Header(header)),
            None => self.skip(reader),
        }
    }

    fn error(&mut self, reader: &mut Reader<'_>, depth: u8) -> Learnt<Box<[ErrorStep]>> {
        let mut steps = Vec::new();
        reader.object(|reader, key| {
            let step = match error_body::key(&key, depth) {
                Some(Key::Error) if opens(reader) => ErrorStep::ErrorObject(self.error(reader, depth + 1)?),
                Some(Key::More) if opens(reader) => ErrorStep::MoreObject(self.error(reader, depth + 1)?),
                Some(Key::Error) => self.bare(reader, ErrorStep::Error(depth))?,
                Some(Key::More) => self.bare(reader, ErrorStep::More(depth))?,
                Some(Key::Said(part)) => self.bare(reader, ErrorStep::Said(part))?,
                None => {
                    let skipped = skip(reader)?;
                    self.scalars += skipped;
                    ErrorStep::Skip(skipped)
                }
            };
            steps.push(step);
            Ok(())
        })?;
        Ok(steps.into())
    }

    /// A value that must be a scalar.
    fn scalar(&mut self, reader: &mut Reader<'_>, step: Step) -> Learnt<()> {
        let step = self.bare(reader, step)?;
        self.steps.push(step);
        Ok(())
    }

    fn bare<S>(&mut self, reader: &mut Reader<'_>, step: S) -> Learnt<S> {
        if matches!(reader.peek(), Some(b'{' | b'[')) {
            return give_up(reader);
        }
        reader.skip()?;
        self.scalars += 1;
        Ok(step)
    }

    fn skip(&mut self, reader: &mut Reader<'_>) -> Learnt<()> {
        let skipped = skip(reader)?;
        self.scalars += skipped;
        match self.steps.last_mut() {
            Some(Step::Skip(count)) => *count += skipped,
            _ => self.steps.push(Step::Skip(skipped)),
        }
        Ok(())
    }
}

fn opens(reader: &mut Reader<'_>) -> bool {
    reader.peek() == Some(b'{')
}

/// Passes a value of any kind; how many scalars are in it. A shape has bounded nesting.
fn skip(reader: &mut Reader<'_>) -> Learnt<usize> {
    let mut scalars = 0;
    match reader.peek() {
        Some(b'{') => reader.object(|reader, _| {
            scalars += skip(reader)?;
            Ok(())
        })?,
        Some(b'[') => reader.list(|reader| {
            scalars += skip(reader)?;
            Ok(())
        })?,
        _ => {
            reader.skip()?;
            scalars = 1;
        }
    }
    Ok(scalars)
}

fn give_up<T>(reader: &Reader<'_>) -> Learnt<T> {
    Err(Fault { at: reader.offset(), what: "left to the strict parser" })
}
