//! Makes a Rust program a tool family of Alcove: a WebAssembly guest that serves tool calls, hooks and jobs.
//!
//! ```
//! use alcove::{object, Call, Family, Result};
//!
//! object! {
//!     struct Greet { name: String }
//!     struct Greeting { text: String }
//! }
//!
//! fn greet(_: &Call, args: Greet) -> Result<Greeting> {
//!     Ok(Greeting { text: format!("Hello, {}!", args.name) })
//! }
//!
//! fn family() -> Family {
//!     Family::new().tool("memory_greet", greet)
//! }
//!
//! alcove::serve!(family);
//! # fn main() {}
//! ```
//!
//! What a handler may ask of the host are the methods of [`Call`], one for each operation, such as `call.memory_search(&…)`; abi/OPERATIONS.md
//! of Alcove has their fields. Changes are staged: they are committed together when the handler has answered, and discarded when it
//! fails. An instance keeps nothing from one request to the next.
//!
//! On any other platform the same crate builds, and [`testing`] runs a family in `cargo test`.

pub mod json;
#[rustfmt::skip]
mod operations;
pub mod testing;
mod wire;

pub use json::{Json, Map, Value};
pub use operations::*;
pub use wire::*;

use std::fmt;

/// What handlers return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error with a code, as it reaches the caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    pub code: Code,
    pub message: String,
    pub details: Map<Value>,
}

impl Error {
    pub fn new(code: Code, message: impl Into<String>) -> Error {
        Error { code, message: message.into(), details: Map::new() }
    }

    /// Adds a fact for programs.
    pub fn detail(mut self, name: &str, value: Value) -> Error {
        self.details.insert(name.into(), value);
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}: {}", self.code.name(), self.message)
    }
}

impl std::error::Error for Error {}

/// Text is an error with the code internal.
impl From<String> for Error {
    fn from(message: String) -> Error {
        Error::new(Code::Internal, message)
    }
}

/// What carries operations out: the host of a guest, or that of a test.
pub trait Host {
    /// Runs an operation.
    fn call(&self, op: &str, request: &str) -> Result<String>;
    /// Takes one line.
    fn log(&self, line: &str);
}

/// A request: its context and configuration, and the operations of the host.
pub struct Call<'a> {
    pub context: Context,
    pub config: Value,
    host: &'a dyn Host,
}

impl Call<'_> {
    /// Reads the configuration into a type.
    pub fn config<T: Json>(&self) -> Result<T> {
        self.config.to().map_err(|e| Error::new(Code::InvalidArgument, format!("read the configuration: {}", e)))
    }

    /// Writes one line to the log.
    pub fn log(&self, line: impl AsRef<str>) {
        self.host.log(line.as_ref())
    }

    /// Runs an operation by its name. The methods of operations are typed.
    pub fn exchange<Q: Json, R: Json>(&self, op: &str, request: &Q) -> Result<R> {
        let answer = self.host.call(op, &json::encode(request))?;
        json::decode(&answer).map_err(|e| Error::new(Code::Internal, format!("read the answer of {}: {}", op, e)))
    }
}

/// What a store hook decides. An error is a failure of the hook, and no refusal.
pub enum Decision {
    Keep,
    /// The change of each entry; none for those that stay.
    Change(Vec<Option<Change>>),
    /// Nothing is stored, for this reason.
    Refuse(String),
    /// The write goes to a branch of proposals, for this reason and with these changes.
    Propose(String, Vec<Option<Change>>),
}

/// The candidates of a search.
pub struct Ranking {
    pub query: String,
    /// The instant of the search.
    pub now: String,
    /// How many candidates there are.
    pub count: usize,
    /// A column for each feature of the manifest, in its order, with a value for each candidate; NaN: missing.
    pub columns: Vec<Vec<f32>>,
}

/// Texts to embed.
pub struct Texts {
    pub texts: Vec<String>,
    /// document or query
    pub purpose: String,
}

type Handler = Box<dyn Fn(&Call, &Value) -> Result<String>>;
type Hook<I, O> = Option<Box<dyn Fn(&Call, I) -> Result<O>>>;

/// What a guest serves.
#[derive(Default)]
pub struct Family {
    tools: Vec<(&'static str, Handler)>,
    jobs: Vec<(&'static str, Handler)>,
    published: Option<Box<dyn Fn(&Call, &str, &Value) -> Result<Value>>>,
    store: Hook<Vec<Entry>, Decision>,
    stored: Hook<Vec<Entry>, ()>,
    merged: Hook<MergeNotice, ()>,
    session_end: Hook<Session, ()>,
    rank: Hook<Ranking, Vec<f32>>,
    embed: Hook<Texts, Vec<Vec<f32>>>,
}

fn handler<A: Json, R: Json>(handle: impl Fn(&Call, A) -> Result<R> + 'static) -> Handler {
    Box::new(move |call, arguments| {
        let arguments = arguments.to().map_err(|e| Error::new(Code::InvalidArgument, e))?;
        handle(call, arguments).map(|result| json::encode(&result))
    })
}

impl Family {
    pub fn new() -> Family {
        Family::default()
    }

    /// Adds a tool, by its name in the manifest.
    pub fn tool<A: Json + 'static, R: Json + 'static>(mut self, name: &'static str, handle: impl Fn(&Call, A) -> Result<R> + 'static) -> Family {
        self.tools.push((name, handler(handle)));
        self
    }

    /// Adds a job, by its name in the manifest. Its payload is null if it was queued without one.
    pub fn job<A: Json + 'static, R: Json + 'static>(mut self, name: &'static str, handle: impl Fn(&Call, A) -> Result<R> + 'static) -> Family {
        self.jobs.push((name, handler(handle)));
        self
    }

    /// Serves the tools that the family published.
    pub fn published(mut self, handle: impl Fn(&Call, &str, &Value) -> Result<Value> + 'static) -> Family {
        self.published = Some(Box::new(handle));
        self
    }

    /// Decides about what is about to be stored.
    pub fn store(mut self, handle: impl Fn(&Call, Vec<Entry>) -> Result<Decision> + 'static) -> Family {
        self.store = Some(Box::new(handle));
        self
    }

    /// Is told of what was stored.
    pub fn stored(mut self, handle: impl Fn(&Call, Vec<Entry>) -> Result<()> + 'static) -> Family {
        self.stored = Some(Box::new(handle));
        self
    }

    /// Is told of a merge.
    pub fn merged(mut self, handle: impl Fn(&Call, MergeNotice) -> Result<()> + 'static) -> Family {
        self.merged = Some(Box::new(handle));
        self
    }

    /// Is told of the end of a client's session.
    pub fn session_end(mut self, handle: impl Fn(&Call, Session) -> Result<()> + 'static) -> Family {
        self.session_end = Some(Box::new(handle));
        self
    }

    /// Scores the candidates of a search: higher is better.
    pub fn rank(mut self, handle: impl Fn(&Call, Ranking) -> Result<Vec<f32>> + 'static) -> Family {
        self.rank = Some(Box::new(handle));
        self
    }

    /// Turns texts into vectors.
    pub fn embed(mut self, handle: impl Fn(&Call, Texts) -> Result<Vec<Vec<f32>>> + 'static) -> Family {
        self.embed = Some(Box::new(handle));
        self
    }
}
