//! A line of a known shape need not be parsed: what each of its scalars is to the record was learnt with the shape.
//!
//! The record becomes exactly what the strict parser would have made of the line; a test holds the two together.

use super::located;
use crate::ingest::record::Record;
use crate::ingest::record::error_body::{self, ErrorBody};
use crate::ingest::record::error_keys::{self, DEEPEST, Key, Part};
use crate::ingest::record::fields::Field;
use crate::ingest::record::header_names::{self, Header};
use crate::ingest::record::json::{self, Fault, Reader};
use crate::ingest::record::mapping::{Mapping, Own};
use crate::ingest::record::nested::{Container, container_of};
use crate::ingest::record::parts::{CLIENT_NAME, CLIENT_VERSION, HOST_NAME, Parts, is_usage};
use crate::ingest::record::scalar::Scalar;
use crate::ingest::record::scan::Kind;
use crate::ingest::record::spellings::{OWN, lookup};

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
    /// The same where an object stands, with so many scalars in it.
    Object(Field, u8, usize),
    Usage(Field),
    ClientName,
    ClientVersion,
    Header(Header),
    /// A scalar where an object is usual.
    Headers,
    RequestHeaders,
    Client,
    /// An error, and the rank of the key it stands under.
    Error(u8, ErrorValue),
    /// The body of a response.
    Body(ErrorValue),
}

/// What stands for an error.
#[derive(Clone, Debug)]
enum ErrorValue {
    /// A scalar at this depth.
    Bare(u8),
    Object(Box<[Member]>),
    List(Box<[ErrorValue]>),
    /// It stands too deep: so many scalars mean nothing.
    Skip(usize),
}

/// A member of an error.
#[derive(Clone, Debug)]
enum Member {
    Skip(usize),
    Said(Part),
    Error(ErrorValue),
    More(ErrorValue),
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
    pub(super) fn fill<'l>(&self, line: &'l str, scalars: &[located::Scalar], record: &mut Record<'l>) {
        let mut parts = Parts::of(record);
        let mut said = Said { line, scalars: scalars.iter() };
        for step in &self.steps {
            match step {
                Step::Skip(count) => said.skip(*count),
                Step::Field(field, rank) => match said.text() {
                    Some(text) => parts.set_text(*field, *rank, text),
                    None => parts.set(*field, *rank, said.next()),
                },
                Step::Object(field, rank, count) => {
                    parts.set(*field, *rank, Scalar::Other);
                    said.skip(*count);
                }
                Step::Usage(field) => parts.record.put(*field, said.next()),
                Step::ClientName => parts.record.client = said.next().into_text(),
                Step::ClientVersion => parts.record.client_version = said.next().into_text(),
                Step::Header(header) => match said.text() {
                    Some(text) => parts.record.headers.set_text(*header, text),
                    None => parts.record.headers.set_known(*header, said.next()),
                },
                Step::Headers => parts.record.headers.set_bare(&said.next()),
                Step::RequestHeaders => parts.record.headers.set_bare_of_request(&said.next()),
                Step::Client => parts.set_client(said.next()),
                Step::Error(rank, value) => {
                    parts.outranks(Field::Error, *rank);
                    fill_error(value, &mut said, &mut parts.record.error);
                }
                Step::Body(value) => fill_error(value, &mut said, &mut parts.body),
            }
        }
        parts.finish();
    }
}

fn fill_error<'l>(value: &ErrorValue, said: &mut Said<'l, '_>, body: &mut ErrorBody<'l>) {
    match value {
        ErrorValue::Bare(depth) => body.set_bare(said.next(), *depth),
        ErrorValue::Object(members) => fill_members(members, said, body),
        ErrorValue::List(values) => values.iter().for_each(|value| fill_error(value, said, body)),
        ErrorValue::Skip(count) => said.skip(*count),
    }
}

fn fill_members<'l>(members: &[Member], said: &mut Said<'l, '_>, body: &mut ErrorBody<'l>) {
    let mut inner = ErrorBody::default();
    for member in members {
        match member {
            Member::Skip(count) => said.skip(*count),
            Member::Said(part) => body.set(*part, said.next()),
            Member::Error(value) => {
                let mut error = ErrorBody::default();
                fill_error(value, said, &mut error);
                inner.nest(error);
            }
            Member::More(value) => fill_error(value, said, &mut inner),
        }
    }
    body.close(inner);
}

/// The scalars of a line that were not used so far.
struct Said<'l, 's> {
    line: &'l str,
    scalars: std::slice::Iter<'s, located::Scalar>,
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
    fn text_of(&self, scalar: &located::Scalar) -> &'l str {
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
        reader.object(|reader, key| match own.get(&key) {
            Some(own) => {
                let built_in = is_built_in(reader, &key);
                self.own_value(reader, own, built_in)
            }
            None => match container_of(&key, reader.rest()) {
                Some(container) => self.members_of(reader, container),
                None => self.known(reader, &key, lookup(&key)),
            },
        })
    }

    fn known(&mut self, reader: &mut Reader<'_>, key: &str, field: Option<(Field, u8)>) -> Learnt<()> {
        match field {
            Some((field, rank)) => self.value(reader, key, field, rank),
            None => self.skip(reader),
        }
    }

    /// The members of a container, unless its key means something else besides.
    fn members_of(&mut self, reader: &mut Reader<'_>, container: &Container) -> Learnt<()> {
        if container.itself {
            return give_up(reader);
        }
        reader.object(|reader, key| match container.inner(&key).filter(|_| opens(reader)) {
            Some(inner) => self.members_of(reader, inner),
            None => self.known(reader, &key, container.field(&key)),
        })
    }

    /// The value of a user's own key, unless it is more than one thing.
    fn own_value(&mut self, reader: &mut Reader<'_>, own: &Own, built_in: bool) -> Learnt<()> {
        match &own.target {
            Some(target) if own.below.is_empty() => self.value(reader, &target.name, target.field, OWN),
            None if !built_in && opens(reader) => reader.object(|reader, key| match own.below.get(&key) {
                Some(own) => {
                    let built_in = is_built_in(reader, &key);
                    self.own_value(reader, own, built_in)
                }
                None => self.skip(reader),
            }),
            None if !built_in => self.skip(reader),
            _ => give_up(reader),
        }
    }

    fn value(&mut self, reader: &mut Reader<'_>, name: &str, field: Field, rank: u8) -> Learnt<()> {
        match field {
            Field::Headers if opens(reader) => reader.object(|reader, name| self.header(reader, &name)),
            Field::RequestHeaders if opens(reader) => reader.object(|reader, name| {
                if header_names::is_of_request(&name) { self.header(reader, &name) } else { self.skip(reader) }
            }),
            Field::RequestHeaders => self.scalar(reader, Step::RequestHeaders),
            Field::Usage if opens(reader) => reader.object(|reader, key| match lookup(&key) {
                Some((field, _)) if is_usage(field) => self.scalar(reader, Step::Usage(field)),
                _ => self.skip(reader),
            }),
            Field::Client if opens(reader) => reader.object(|reader, key| match &*key {
                CLIENT_NAME => self.scalar(reader, Step::ClientName),
                CLIENT_VERSION => self.scalar(reader, Step::ClientVersion),
                _ => self.skip(reader),
            }),
            Field::Host if opens(reader) => reader.object(|reader, key| match &*key {
                HOST_NAME => self.scalar(reader, Step::Field(Field::Host, OWN)),
                _ => self.skip(reader),
            }),
            Field::Error => {
                let value = self.error(reader, error_body::INSIDE)?;
                self.steps.push(Step::Error(rank, value));
                Ok(())
            }
            Field::Body => {
                let value = self.error(reader, 0)?;
                self.steps.push(Step::Body(value));
                Ok(())
            }
            Field::Headers => self.scalar(reader, Step::Headers),
            Field::Client => self.scalar(reader, Step::Client),
            Field::Usage => self.skip(reader),
            Field::Header => self.header(reader, name),
            _ if opens(reader) => {
                let passed = self.pass(reader)?;
                self.steps.push(Step::Object(field, rank, passed));
                Ok(())
            }
            _ => self.scalar(reader, Step::Field(field, rank)),
        }
    }

    fn header(&mut self, reader: &mut Reader<'_>, name: &str) -> Learnt<()> {
        match header_names::named(name) {
            Some(header) => self.scalar(reader, Step::Header(header)),
            None => self.skip(reader),
        }
    }

    fn error(&mut self, reader: &mut Reader<'_>, depth: u8) -> Learnt<ErrorValue> {
        match reader.peek() {
            Some(b'{') => self.members(reader, depth + 1).map(ErrorValue::Object),
            Some(b'[') if depth < DEEPEST => {
                let mut values = Vec::new();
                reader.list(|reader| {
                    values.push(self.error(reader, depth + 1)?);
                    Ok(())
                })?;
                Ok(ErrorValue::List(values.into()))
            }
            Some(b'[') => self.pass(reader).map(ErrorValue::Skip),
            _ => self.bare(reader, ErrorValue::Bare(depth)),
        }
    }

    fn members(&mut self, reader: &mut Reader<'_>, depth: u8) -> Learnt<Box<[Member]>> {
        let mut members = Vec::new();
        reader.object(|reader, key| {
            members.push(match error_keys::key(&key, depth) {
                Some(Key::Error) => Member::Error(self.error(reader, depth)?),
                Some(Key::More | Key::Deeper) => Member::More(self.error(reader, depth)?),
                Some(Key::Said(part)) => self.bare(reader, Member::Said(part))?,
                Some(Key::Previous) => return give_up(reader),
                None => Member::Skip(self.pass(reader)?),
            });
            Ok(())
        })?;
        Ok(members.into())
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
        let passed = self.pass(reader)?;
        match self.steps.last_mut() {
            Some(Step::Skip(count)) => *count += passed,
            _ => self.steps.push(Step::Skip(passed)),
        }
        Ok(())
    }

    fn pass(&mut self, reader: &mut Reader<'_>) -> Learnt<usize> {
        let passed = pass(reader)?;
        self.scalars += passed;
        Ok(passed)
    }
}

/// Whether the value that comes next means something by itself under this key.
fn is_built_in(reader: &mut Reader<'_>, key: &str) -> bool {
    lookup(key).is_some() || container_of(key, reader.rest()).is_some()
}

fn opens(reader: &mut Reader<'_>) -> bool {
    reader.peek() == Some(b'{')
}

/// Passes a value of any kind; how many scalars are in it. A shape has bounded nesting.
fn pass(reader: &mut Reader<'_>) -> Learnt<usize> {
    let mut scalars = 0;
    match reader.peek() {
        Some(b'{') => reader.object(|reader, _| {
            scalars += pass(reader)?;
            Ok(())
        })?,
        Some(b'[') => reader.list(|reader| {
            scalars += pass(reader)?;
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
