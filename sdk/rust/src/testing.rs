//! Runs a family natively, with a host whose operations the test defines.

use crate::json::{self, parse, Value};
use crate::*;
use std::cell::RefCell;

type Op = Box<dyn Fn(&Value) -> Result<Value>>;

/// A host for tests. An operation that it was not given is answered with not_found.
#[derive(Default)]
pub struct Fake {
    /// The configuration of requests, as JSON; empty: none.
    pub config: String,
    /// The operations that were called, each with its request.
    pub calls: RefCell<Vec<(String, Value)>>,
    /// The lines that were logged.
    pub logged: RefCell<Vec<String>>,
    ops: Vec<(&'static str, Op)>,
}

impl Host for Fake {
    fn call(&self, op: &str, request: &str) -> Result<String> {
        let request = parse(request)?;
        self.calls.borrow_mut().push((op.into(), request.clone()));
        match self.ops.iter().find(|(name, _)| *name == op) {
            Some((_, run)) => run(&request).map(|answer| answer.to_string()),
            None => Err(Error::new(Code::NotFound, format!("the test has no operation {}", op))),
        }
    }
    fn log(&self, line: &str) {
        self.logged.borrow_mut().push(line.into())
    }
}

impl Fake {
    pub fn new() -> Fake {
        Fake::default()
    }

    /// Adds an operation.
    pub fn on(mut self, op: &'static str, run: impl Fn(&Value) -> Result<Value> + 'static) -> Fake {
        self.ops.push((op, Box::new(run)));
        self
    }

    /// Adds an operation with one answer.
    pub fn answers(self, op: &'static str, answer: &str) -> Fake {
        let answer = parse(answer).expect("the answer is JSON");
        self.on(op, move |_| Ok(answer.clone()))
    }

    /// Calls a tool with arguments in JSON, and returns its result in JSON.
    pub fn tool(&self, family: &Family, name: &str, arguments: &str) -> Result<String> {
        self.json(family, KIND_TOOL, &format!(r#""tool":{},"arguments":{}"#, json::encode(&name.to_string()), arguments))
    }

    /// Runs a job.
    pub fn job(&self, family: &Family, name: &str, payload: &str) -> Result<String> {
        self.json(family, KIND_HOOK, &format!(r#""hook":"job","job":{},"payload":{}"#, json::encode(&name.to_string()), payload))
    }

    /// Asks the store hook about entries in JSON. The answer is empty if nothing changes.
    pub fn store(&self, family: &Family, entries: &str) -> Result<String> {
        self.json(family, KIND_HOOK, &format!(r#""hook":"store","entries":{}"#, entries))
    }

    fn json(&self, family: &Family, kind: u32, members: &str) -> Result<String> {
        let config = if self.config.is_empty() { "{}" } else { &self.config };
        let context = r#"{"family":"test","caller":"tester","namespace":"default","branch":"default","now":"2026-06-01T12:00:00Z","request_id":"r1"}"#;
        let request = format!(r#"{{{},"config":{},"context":{}}}"#, members, config, context);
        let answer = family.handle(self, kind, request.as_bytes())?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    }
}
