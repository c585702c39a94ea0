//! The two directions of the ABI: requests that a family serves, and the host on the other side.

use crate::json::{self, Value};
use crate::*;

impl Family {
    /// Serves one request.
    pub fn handle(&self, host: &dyn Host, kind: u32, request: &[u8]) -> Result<Vec<u8>> {
        if kind == KIND_SCORE {
            return self.score(host, request);
        }
        let request = read(request)?;
        let call = call(host, &request)?;
        let name = request.get("hook").as_str().unwrap_or("");
        match kind {
            KIND_TOOL => self.call_tool(&call, &request),
            KIND_EMBED => self.call_embed(&call, &request),
            KIND_HOOK if name == "store" => self.call_store(&call, &request),
            KIND_HOOK if name == "job" => self.call_job(&call, &request),
            KIND_HOOK => match name {
                "stored" => tell(&self.stored, name, &call, request.get("entries")),
                "merged" => tell(&self.merged, name, &call, request.get("merge")),
                "session_end" => tell(&self.session_end, name, &call, request.get("session")),
                _ => absent(name),
            },
            _ => Err(Error::new(Code::InvalidArgument, format!("this family serves no requests of kind {}", kind))),
        }
    }

    fn call_tool(&self, call: &Call, request: &Value) -> Result<Vec<u8>> {
        let (name, arguments) = (request.get("tool").as_str().unwrap_or(""), request.get("arguments"));
        if let Some((_, handle)) = self.tools.iter().find(|(n, _)| *n == name) {
            return handle(call, arguments).map(String::into_bytes);
        }
        match &self.published {
            Some(handle) => handle(call, name, arguments).map(|result| result.to_string().into_bytes()),
            None => Err(Error::new(Code::NotFound, format!("this family has no tool {:?}", name))),
        }
    }

    fn call_job(&self, call: &Call, request: &Value) -> Result<Vec<u8>> {
        let name = request.get("job").as_str().unwrap_or("");
        match self.jobs.iter().find(|(n, _)| *n == name) {
            Some((_, handle)) => handle(call, request.get("payload")).map(String::into_bytes),
            None => Err(Error::new(Code::NotFound, format!("this family has no job {:?}", name))),
        }
    }

    fn call_store(&self, call: &Call, request: &Value) -> Result<Vec<u8>> {
        let store = match &self.store {
            Some(store) => store,
            None => return absent("store"),
        };
        let result = match store(call, argument(request.get("entries"))?)? {
            Decision::Keep => return Ok(Vec::new()),
            Decision::Change(entries) => StoreResult { entries, ..Default::default() },
            Decision::Refuse(reason) => StoreResult { refuse: Some(reason), ..Default::default() },
            Decision::Propose(reason, entries) => StoreResult { entries, propose: Some(reason), ..Default::default() },
        };
        Ok(json::encode(&result).into_bytes())
    }

    fn call_embed(&self, call: &Call, request: &Value) -> Result<Vec<u8>> {
        let embed = match &self.embed {
            Some(embed) => embed,
            None => return absent("embed"),
        };
        let vectors = embed(call, Texts { texts: argument(request.get("texts"))?, purpose: argument(request.get("purpose"))? })?;
        let dimensions = vectors.first().map_or(0, Vec::len);
        let mut out = Vec::with_capacity(8 + 4 * vectors.len() * dimensions);
        out.extend_from_slice(&(vectors.len() as u32).to_le_bytes());
        out.extend_from_slice(&(dimensions as u32).to_le_bytes());
        vectors.iter().flatten().for_each(|v| out.extend_from_slice(&v.to_le_bytes()));
        Ok(out)
    }

    fn score(&self, host: &dyn Host, request: &[u8]) -> Result<Vec<u8>> {
        let short = || Error::new(Code::InvalidArgument, "the request to score is too short");
        let number = |at: usize| request.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize).ok_or_else(short);
        let (count, features, length) = (number(0)?, number(4)?, number(8)?);
        let params = read(request.get(12..12 + length).ok_or_else(short)?)?;
        let columns = request.get((12 + length + 3) / 4 * 4..).ok_or_else(short)?;
        if columns.len() as u64 != 4 * count as u64 * features as u64 {
            return Err(short());
        }
        let values: Vec<f32> = columns.chunks(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let columns = (0..features).map(|f| values[f * count..(f + 1) * count].to_vec()).collect();
        let rank = match &self.rank {
            Some(rank) => rank,
            None => return absent("rank"),
        };
        let ranking = Ranking { query: argument(params.get("query"))?, now: argument(params.get("now"))?, count, columns };
        Ok(rank(&call(host, &params)?, ranking)?.iter().flat_map(|v| v.to_le_bytes()).collect())
    }
}

fn read(request: &[u8]) -> Result<Value> {
    let text = std::str::from_utf8(request).map_err(|_| Error::new(Code::InvalidArgument, "the request is not UTF-8"))?;
    json::parse(text).map_err(|e| Error::new(Code::InvalidArgument, e))
}

fn call<'a>(host: &'a dyn Host, request: &Value) -> Result<Call<'a>> {
    let context = match request.get("context") {
        Value::Null => Context::default(),
        context => argument(context)?,
    };
    Ok(Call { context, config: request.get("config").clone(), host })
}

fn argument<T: Json + Default>(value: &Value) -> Result<T> {
    json::field("the request", value).map_err(|e| Error::new(Code::InvalidArgument, e))
}

fn tell<T: Json + Default>(hook: &Hook<T, ()>, name: &str, call: &Call, value: &Value) -> Result<Vec<u8>> {
    match hook {
        Some(handle) => handle(call, argument(value)?).map(|_| Vec::new()),
        None => absent(name),
    }
}

fn absent<T>(hook: &str) -> Result<T> {
    Err(Error::new(Code::NotFound, format!("this family has no hook {:?}", hook)))
}

impl Error {
    /// The error body.
    pub fn body(&self) -> String {
        let body = ErrorBody { code: self.code.name().into(), message: self.message.clone(), retryable: self.code.retryable(), details: self.details.clone() };
        json::encode(&body)
    }

    /// Reads an error body.
    pub fn of(body: &str) -> Error {
        match json::decode::<ErrorBody>(body) {
            Ok(e) => Error { code: Code::named(&e.code), message: e.message, details: e.details },
            Err(e) => Error::new(Code::Internal, format!("read the host's error: {}", e)),
        }
    }
}

/// Serves a family: exports what the host calls. On other platforms it does nothing.
#[macro_export]
macro_rules! serve {
    ($family:ident) => {
        #[cfg(target_arch = "wasm32")]
        mod alcove_exports {
            #[no_mangle]
            pub extern "C" fn _initialize() {
                $crate::guest::initialize()
            }
            #[no_mangle]
            pub extern "C" fn alcove_handle(kind: u32, length: u32) -> i32 {
                $crate::guest::serve(&super::$family(), kind, length as usize)
            }
        }
    };
}

#[cfg(target_arch = "wasm32")]
#[doc(hidden)]
pub mod guest {
    use crate::*;

    #[link(wasm_import_module = "alcove")]
    extern "C" {
        fn read(channel: i32, to: *mut u8, capacity: usize) -> i32;
        fn write(channel: i32, from: *const u8, length: usize) -> i32;
        fn call(op: *const u8, op_length: usize, request: *const u8, length: usize) -> i32;
    }

    /// How much memory a request finds free. A request that needs more makes the next one slower.
    const ROOM: usize = 1 << 20;

    /// Prepares the state from which each request starts.
    pub fn initialize() {
        let room = Vec::<u8>::with_capacity(ROOM);
        unsafe { std::ptr::read_volatile(&room.as_ptr()) }; // or the compiler would leave the allocation out
        drop(room);
        std::panic::set_hook(Box::new(|info| {
            let text = match (info.payload().downcast_ref::<&str>(), info.payload().downcast_ref::<String>()) {
                (Some(text), _) => text,
                (_, Some(text)) => text.as_str(),
                _ => "without a text",
            };
            let at = info.location().map_or(String::new(), |l| format!(" ({}:{})", l.file().rsplit('/').next().unwrap_or(""), l.line()));
            let line = format!("panic: {}{}", text, at);
            put(WRITE_LOG, line.as_bytes());
            put(WRITE_RESULT, Error::new(Code::Internal, line).body().as_bytes());
        }));
    }

    fn put(channel: i32, data: &[u8]) {
        unsafe { write(channel, data.as_ptr(), data.len()) };
    }

    fn receive(channel: i32, length: usize) -> Vec<u8> {
        let mut data = vec![0; length];
        let mut done = 0;
        while done < length {
            match unsafe { read(channel, data[done..].as_mut_ptr(), length - done) } {
                n if n > 0 => done += n as usize,
                _ => break,
            }
        }
        data.truncate(done);
        data
    }

    struct Imports;

    impl Host for Imports {
        fn call(&self, op: &str, request: &str) -> Result<String> {
            let length = unsafe { call(op.as_ptr(), op.len(), request.as_ptr(), request.len()) };
            let answer = String::from_utf8(receive(READ_RESPONSE, length.unsigned_abs() as usize)).unwrap_or_default();
            if length >= 0 { Ok(answer) } else { Err(Error::of(&answer)) }
        }
        fn log(&self, line: &str) {
            put(WRITE_LOG, line.as_bytes())
        }
    }

    pub fn serve(family: &Family, kind: u32, length: usize) -> i32 {
        let request = receive(READ_REQUEST, length);
        match family.handle(&Imports, kind, &request) {
            Ok(result) => {
                put(WRITE_RESULT, &result);
                STATUS_OK
            }
            Err(e) => {
                put(WRITE_RESULT, e.body().as_bytes());
                STATUS_ERROR
            }
        }
    }
}
