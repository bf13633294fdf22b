//! Extraction plans: what each scalar of a line means to the record. A plan is learned once; lines with the same
//! constant bytes need not be parsed.
//!
//! The record is exactly the one the strict reader would have made of the line; a test compares them.

use super::trie::ScalarSpan;
use crate::ingest::record::Record;
use crate::ingest::record::error_body::ErrorBody;
use crate::ingest::record::error_keys::BodyField;
use crate::ingest::record::fields::Field;
use crate::ingest::record::header_names::Header;
use crate::ingest::record::json::{self, Reader};
use crate::ingest::record::record_builder::RecordBuilder;
use crate::ingest::record::scalar::Scalar;
use crate::ingest::record::scan::Kind;

/// Operations on the scalars of a line, in order.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) ops: Vec<Op>,
}

/// Operation on the next scalar or scalars.
#[derive(Debug)]
pub(super) enum Op {
    /// Ignores this many scalars.
    Skip(usize),
    /// Sets this target.
    Set(Target),
    /// Sets a field (with the rank of its key) to the first of a list of this many scalars.
    First(Field, u8, usize),
    /// Marks a field (with the rank of its key) as an object, and ignores the scalars in it.
    Object(Field, u8, usize),
    /// Reads an error: rank of its key, plan and number of scalars.
    Error(u8, ErrorPlan, usize),
    /// Reads a response body: plan and number of scalars.
    Body(ErrorPlan, usize),
}

/// Target of one scalar.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Target {
    /// A field, and the rank of its spelling.
    Field(Field, u8),
    /// A member of `usage`.
    Usage(Field),
    ClientName,
    ClientVersion,
    Header(Header),
    /// A scalar where an object is usual.
    Headers,
    RequestHeaders,
    Client,
}

/// Shape of an error value.
#[derive(Debug)]
pub(super) enum ErrorPlan {
    /// A scalar at this depth.
    Bare(u8),
    Object(Box<[Member]>),
    List(Box<[ErrorPlan]>),
    /// Nested too deep: this many scalars are ignored.
    Skip(usize),
}

/// A member of an error object.
#[derive(Debug)]
pub(super) enum Member {
    Skip(usize),
    Part(BodyField),
    Error(ErrorPlan),
    More(ErrorPlan),
}

/// Role of a scalar in its line.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// Ignored.
    Free,
    /// The value of this target.
    Is(Target),
    /// Part of a list, an error or a body.
    Part,
}

impl Plan {
    /// Fills an empty record from the scalars of `line`.
    pub(super) fn fill<'l>(&self, line: &'l str, scalars: &[ScalarSpan], record: &mut Record<'l>) {
        let mut parts = RecordBuilder::of(record);
        let mut rest = Rest { line, scalars: scalars.iter() };
        for op in &self.ops {
            match op {
                Op::Skip(count) => rest.skip(*count),
                Op::Set(target) => target.set(&mut rest, &mut parts),
                Op::First(field, rank, count) => {
                    parts.set(*field, *rank, Scalar::First(Box::new(rest.next())));
                    rest.skip(count - 1);
                }
                Op::Object(field, rank, count) => {
                    parts.set(*field, *rank, Scalar::Other);
                    rest.skip(*count);
                }
                Op::Error(rank, plan, _) => {
                    parts.outranks(Field::Error, *rank);
                    plan.fill(&mut rest, &mut parts.record.error);
                }
                Op::Body(plan, _) => plan.fill(&mut rest, &mut parts.body),
            }
        }
        parts.finish();
    }

    /// Returns the role of each scalar, in order.
    pub(super) fn roles(&self) -> Vec<Role> {
        let mut roles = Vec::new();
        for op in &self.ops {
            let (role, count) = match op {
                Op::Skip(count) | Op::Object(.., count) => (Role::Free, *count),
                Op::Set(target) => (Role::Is(*target), 1),
                Op::First(.., count) | Op::Error(.., count) | Op::Body(.., count) => (Role::Part, *count),
            };
            roles.extend(std::iter::repeat_n(role, count));
        }
        roles
    }
}

impl Target {
    #[inline]
    fn set<'l>(self, rest: &mut Rest<'l, '_>, parts: &mut RecordBuilder<'_, 'l>) {
        match self {
            Target::Field(field, rank) => match rest.text() {
                Some(text) => parts.set_text(field, rank, text),
                None => parts.set(field, rank, rest.next()),
            },
            Target::Usage(field) => parts.record.put(field, rest.next()),
            Target::ClientName => parts.record.client = rest.next().into_text(),
            Target::ClientVersion => parts.record.client_version = rest.next().into_text(),
            Target::Header(header) => match rest.text() {
                Some(text) => parts.record.headers.set_text(header, text),
                None => parts.record.headers.set_known(header, rest.next()),
            },
            Target::Headers => parts.record.headers.set_bare(&rest.next()),
            Target::RequestHeaders => parts.record.headers.set_bare_of_request(&rest.next()),
            Target::Client => parts.set_client(rest.next()),
        }
    }
}

impl ErrorPlan {
    fn fill<'l>(&self, rest: &mut Rest<'l, '_>, body: &mut ErrorBody<'l>) {
        match self {
            ErrorPlan::Bare(depth) => body.set_bare(rest.next(), *depth),
            ErrorPlan::Object(members) => fill_members(members, rest, body),
            ErrorPlan::List(plans) => plans.iter().for_each(|plan| plan.fill(rest, body)),
            ErrorPlan::Skip(count) => rest.skip(*count),
        }
    }
}

fn fill_members<'l>(members: &[Member], rest: &mut Rest<'l, '_>, body: &mut ErrorBody<'l>) {
    let mut inner = ErrorBody::default();
    for member in members {
        match member {
            Member::Skip(count) => rest.skip(*count),
            Member::Part(part) => body.set(*part, rest.next()),
            Member::Error(plan) => {
                let mut error = ErrorBody::default();
                plan.fill(rest, &mut error);
                inner.nest(error);
            }
            Member::More(plan) => plan.fill(rest, &mut inner),
        }
    }
    body.close(inner);
}

/// The scalars of a line not consumed yet.
struct Rest<'l, 's> {
    line: &'l str,
    scalars: std::slice::Iter<'s, ScalarSpan>,
}

impl<'l> Rest<'l, '_> {
    fn skip(&mut self, count: usize) {
        self.scalars = self.scalars.as_slice().get(count..).unwrap_or_default().iter();
    }

    /// Consumes the next scalar if it is a string without escapes.
    #[inline]
    fn text(&mut self) -> Option<&'l str> {
        let (scalar, rest) = self.scalars.as_slice().split_first().filter(|(scalar, _)| scalar.kind == Kind::Text)?;
        self.scalars = rest.iter();
        scalar.inside(self.line)
    }

    /// Consumes the next scalar of any kind; null after the last.
    fn next(&mut self) -> Scalar<'l> {
        let Some(scalar) = self.scalars.next() else { return Scalar::Null };
        let text = || scalar.of(self.line).unwrap_or_default();
        match scalar.kind {
            Kind::Null => Scalar::Null,
            Kind::True => Scalar::Bool(true),
            Kind::False => Scalar::Bool(false),
            Kind::Text => Scalar::Text(scalar.inside(self.line).unwrap_or_default().into()),
            Kind::Escaped => Reader::new(text()).string().map_or(Scalar::Null, Scalar::Text),
            Kind::Integer => json::integer(text()).unwrap_or(Scalar::Null),
            Kind::Decimal => json::decimal(text()).unwrap_or(Scalar::Null),
        }
    }
}
