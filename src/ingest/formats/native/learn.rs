//! Compiles a line accepted by the strict reader into its constant bytes and a [`Plan`], in one walk that mirrors the
//! reader's.

use super::plan::{ErrorPlan, Member, Op, Plan, Target};
use super::trie::{Collect, Entry};
use crate::ingest::record::Mapping;
use crate::ingest::record::error_body;
use crate::ingest::record::error_keys::{self, DEEPEST, Key};
use crate::ingest::record::fields::Field;
use crate::ingest::record::header_names;
use crate::ingest::record::json::{Fault, Reader};
use crate::ingest::record::mapping::Own;
use crate::ingest::record::nested::{Container, container_of};
use crate::ingest::record::parts::{CLIENT_NAME, CLIENT_VERSION, HOST_NAME, is_usage};
use crate::ingest::record::spellings::{OWN, lookup};

/// Maximum length of a line to learn from, in bytes: longer lines rarely share their constant bytes.
const LONGEST: usize = 16 << 10;
/// Maximum nesting depth of a value that is skipped.
const DEEPEST_SKIPPED: usize = 8;

/// Returns the plan of `line`, which the strict reader has accepted; `own` are the user-defined keys. Returns `None`
/// if a nested value needs the strict reader.
pub(super) fn learn(line: &str, own: &Mapping) -> Option<Entry<Collect, Plan>> {
    if line.len() > LONGEST {
        return None;
    }
    let mut learner = Learner::default();
    learner.record(&mut Reader::new(line), own).ok()?;
    let scalars = learner.scalars.into_iter().map(|ends| (ends, Collect));
    Some(Entry::cut(line, scalars, learner.plan))
}

#[derive(Default)]
struct Learner {
    plan: Plan,
    /// Start and end of the scalars the plan consumes, including quotes.
    scalars: Vec<(usize, usize)>,
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

    /// Learns the members of a container, unless the container's key is itself a field.
    fn members_of(&mut self, reader: &mut Reader<'_>, container: &Container) -> Learnt<()> {
        if container.itself {
            return give_up(reader);
        }
        reader.object(|reader, key| match container.inner(&key).filter(|_| opens(reader)) {
            Some(inner) => self.members_of(reader, inner),
            None => self.known(reader, &key, container.field(&key)),
        })
    }

    /// Learns the value of a user-defined key, unless it serves more than one purpose.
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
            Field::Usage if opens(reader) => reader.object(|reader, key| match lookup(&key) {
                Some((field, _)) if is_usage(field) => self.scalar(reader, Target::Usage(field)),
                _ => self.skip(reader),
            }),
            Field::Client if opens(reader) => reader.object(|reader, key| match &*key {
                CLIENT_NAME => self.scalar(reader, Target::ClientName),
                CLIENT_VERSION => self.scalar(reader, Target::ClientVersion),
                _ => self.skip(reader),
            }),
            Field::Host if opens(reader) => reader.object(|reader, key| match &*key {
                HOST_NAME => self.scalar(reader, Target::Field(Field::Host, OWN)),
                _ => self.skip(reader),
            }),
            Field::Error => {
                let before = self.scalars.len();
                let plan = self.error(reader, error_body::INSIDE)?;
                self.plan.ops.push(Op::Error(rank, plan, self.scalars.len() - before));
                Ok(())
            }
            Field::Body => {
                let before = self.scalars.len();
                let plan = self.error(reader, 0)?;
                self.plan.ops.push(Op::Body(plan, self.scalars.len() - before));
                Ok(())
            }
            Field::Headers => self.scalar(reader, Target::Headers),
            Field::RequestHeaders => self.scalar(reader, Target::RequestHeaders),
            Field::Client => self.scalar(reader, Target::Client),
            Field::Usage => self.skip(reader),
            Field::Header => self.header(reader, name),
            _ => self.field(reader, field, rank),
        }
    }

    /// Learns the value of a field that is a scalar in nearly all logs.
    fn field(&mut self, reader: &mut Reader<'_>, field: Field, rank: u8) -> Learnt<()> {
        match reader.peek() {
            Some(b'{') => {
                let passed = self.pass(reader, 0)?;
                self.plan.ops.push(Op::Object(field, rank, passed));
                Ok(())
            }
            Some(b'[') => {
                let before = self.scalars.len();
                reader.list(|reader| {
                    if self.scalars.len() == before { self.bare(reader) } else { self.pass(reader, 0).map(|_| ()) }
                })?;
                match self.scalars.len() - before {
                    0 => self.plan.ops.push(Op::Object(field, rank, 0)),
                    count => self.plan.ops.push(Op::First(field, rank, count)),
                }
                Ok(())
            }
            _ => self.scalar(reader, Target::Field(field, rank)),
        }
    }

    fn header(&mut self, reader: &mut Reader<'_>, name: &str) -> Learnt<()> {
        match header_names::named(name) {
            Some(header) => self.scalar(reader, Target::Header(header)),
            None => self.skip(reader),
        }
    }

    fn error(&mut self, reader: &mut Reader<'_>, depth: u8) -> Learnt<ErrorPlan> {
        match reader.peek() {
            Some(b'{') => self.members(reader, depth + 1).map(ErrorPlan::Object),
            Some(b'[') if depth < DEEPEST => {
                let mut plans = Vec::new();
                reader.list(|reader| {
                    plans.push(self.error(reader, depth + 1)?);
                    Ok(())
                })?;
                Ok(ErrorPlan::List(plans.into()))
            }
            Some(b'[') => self.pass(reader, 0).map(ErrorPlan::Skip),
            _ => self.bare(reader).map(|()| ErrorPlan::Bare(depth)),
        }
    }

    fn members(&mut self, reader: &mut Reader<'_>, depth: u8) -> Learnt<Box<[Member]>> {
        let mut members = Vec::new();
        reader.object(|reader, key| {
            members.push(match error_keys::key(&key, depth) {
                Some(Key::Error) => Member::Error(self.error(reader, depth)?),
                Some(Key::More | Key::Deeper) => Member::More(self.error(reader, depth)?),
                Some(Key::Said(part)) => self.bare(reader).map(|()| Member::Part(part))?,
                Some(Key::Previous) => return give_up(reader),
                None => Member::Skip(self.pass(reader, 0)?),
            });
            Ok(())
        })?;
        Ok(members.into())
    }

    /// Learns a value that must be a scalar.
    fn scalar(&mut self, reader: &mut Reader<'_>, target: Target) -> Learnt<()> {
        self.bare(reader)?;
        self.plan.ops.push(Op::Set(target));
        Ok(())
    }

    fn bare(&mut self, reader: &mut Reader<'_>) -> Learnt<()> {
        if matches!(reader.peek(), Some(b'{' | b'[')) {
            return give_up(reader);
        }
        let start = reader.offset();
        reader.skip()?;
        self.scalars.push((start, reader.offset()));
        Ok(())
    }

    /// Learns a value that is ignored.
    fn skip(&mut self, reader: &mut Reader<'_>) -> Learnt<()> {
        let passed = self.pass(reader, 0)?;
        match self.plan.ops.last_mut() {
            Some(Op::Skip(count)) => *count += passed,
            _ => self.plan.ops.push(Op::Skip(passed)),
        }
        Ok(())
    }

    /// Passes over a value of any kind and returns the number of scalars in it.
    fn pass(&mut self, reader: &mut Reader<'_>, depth: usize) -> Learnt<usize> {
        let before = self.scalars.len();
        match reader.peek() {
            Some(b'{' | b'[') if depth == DEEPEST_SKIPPED => return give_up(reader),
            Some(b'{') => reader.object(|reader, _| self.pass(reader, depth + 1).map(|_| ()))?,
            Some(b'[') => reader.list(|reader| self.pass(reader, depth + 1).map(|_| ()))?,
            _ => self.bare(reader)?,
        }
        Ok(self.scalars.len() - before)
    }
}

/// Returns whether the next value has a built-in meaning under this key.
fn is_built_in(reader: &mut Reader<'_>, key: &str) -> bool {
    lookup(key).is_some() || container_of(key, reader.rest()).is_some()
}

fn opens(reader: &mut Reader<'_>) -> bool {
    reader.peek() == Some(b'{')
}

fn give_up<T>(reader: &Reader<'_>) -> Learnt<T> {
    Err(Fault { at: reader.offset(), what: "left to the strict reader" })
}
