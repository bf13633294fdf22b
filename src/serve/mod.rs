//! Two HTTP servers on loopback that write an attempt record for each request leaving a process: a provider that fails
//! on a schedule, and a recorder in front of a real one.

mod answer;
mod attempt;
mod bodies;
mod connection;
mod decode;
mod events;
mod exchange;
mod facts;
mod hosts;
mod listen;
mod log;
mod record;
mod replies;
mod scalars;
pub(crate) mod scenario;
mod scripted;
mod socket;
mod stub;
mod upstream;
mod usage;
mod watched;

pub(crate) use hosts::Hosts;
pub(crate) use listen::Server;
pub(crate) use log::{Counts, Log};
pub(crate) use record::Recorder;
pub(crate) use stub::Stub;
pub(crate) use upstream::Upstreams;
