//! JSON: a value, its text, and the trait by which types are read and written.

use std::collections::BTreeMap;
use std::fmt::{self, Write};

/// A map with text as its keys.
pub type Map<T> = BTreeMap<String, T>;

/// A JSON value. A number keeps its text, so that what is passed on is not rounded; an object keeps its order.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<Value>),
    Object(Vec<(String, Value)>),
}

impl Default for Value {
    fn default() -> Value {
        Value::Null
    }
}

impl Value {
    /// Returns the member of that name; null if there is none.
    pub fn get(&self, name: &str) -> &Value {
        match self {
            Value::Object(members) => members.iter().find(|(n, _)| n == name).map_or(&Value::Null, |(_, v)| v),
            _ => &Value::Null,
        }
    }

    /// Returns the text; none of any other value.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the number; none of any other value.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Value::Number(text) => text.parse().ok(),
            _ => None,
        }
    }

    /// Returns the elements; none of what is no list.
    pub fn items(&self) -> &[Value] {
        match self {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// Reads a type.
    pub fn to<T: Json>(&self) -> Result<T, String> {
        T::read(self)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(&encode(self))
    }
}

/// What JSON is read into and written from. `object!` implements it for structs.
pub trait Json: Sized {
    /// Appends the JSON text.
    fn write(&self, out: &mut String);
    /// Reads a value. The error says what was wanted.
    fn read(value: &Value) -> Result<Self, String>;
    /// Says whether an optional field is left out.
    fn absent(&self) -> bool {
        false
    }
}

/// Encodes a value as JSON.
pub fn encode<T: Json>(value: &T) -> String {
    let mut out = String::new();
    value.write(&mut out);
    out
}

/// Decodes JSON.
pub fn decode<T: Json>(text: &str) -> Result<T, String> {
    T::read(&parse(text)?)
}

fn wanted<T>(what: &str, value: &Value) -> Result<T, String> {
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::Text(_) => "text",
        Value::List(_) => "a list",
        Value::Object(_) => "an object",
    };
    Err(format!("got {}, want {}", kind, what))
}

impl Json for Value {
    fn write(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(v) => v.write(out),
            Value::Number(text) => out.push_str(text),
            Value::Text(text) => text.write(out),
            Value::List(items) => items.write(out),
            Value::Object(members) => {
                out.push('{');
                for (name, value) in members {
                    member(out, name, value);
                }
                out.push('}');
            }
        }
    }
    fn read(value: &Value) -> Result<Value, String> {
        Ok(value.clone())
    }
    fn absent(&self) -> bool {
        *self == Value::Null
    }
}

/// Appends a member of an object.
pub fn member<T: Json>(out: &mut String, name: &str, value: &T) {
    if !out.ends_with('{') {
        out.push(',');
    }
    quote(name, out);
    out.push(':');
    value.write(out);
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

impl Json for String {
    fn write(&self, out: &mut String) {
        quote(self, out)
    }
    fn read(value: &Value) -> Result<String, String> {
        value.as_str().map_or_else(|| wanted("text", value), |text| Ok(text.into()))
    }
    fn absent(&self) -> bool {
        self.is_empty()
    }
}

impl Json for bool {
    fn write(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" })
    }
    fn read(value: &Value) -> Result<bool, String> {
        match value {
            Value::Bool(v) => Ok(*v),
            _ => wanted("true or false", value),
        }
    }
    fn absent(&self) -> bool {
        !*self
    }
}

macro_rules! whole {
    ($($t:ty)*) => {$(
        impl Json for $t {
            fn write(&self, out: &mut String) {
                let _ = write!(out, "{}", self);
            }
            fn read(value: &Value) -> Result<$t, String> {
                if let Value::Number(text) = value {
                    if let Ok(v) = text.parse() {
                        return Ok(v);
                    }
                    let v: f64 = text.parse().unwrap_or(0.5); // 1e3 and 2.0 are whole numbers
                    if v == v as $t as f64 && v.abs() < 9007199254740992.0 {
                        return Ok(v as $t);
                    }
                }
                wanted("a whole number", value)
            }
            fn absent(&self) -> bool {
                *self == 0
            }
        }
    )*};
}
whole!(i64 u64 i32 u32);

macro_rules! real {
    ($($t:ty)*) => {$(
        impl Json for $t {
            // Infinities and NaN, which JSON does not have, are null.
            fn write(&self, out: &mut String) {
                let size = self.abs();
                let _ = match size {
                    _ if !size.is_finite() => write!(out, "null"),
                    _ if size != 0.0 && (size < 1e-6 || size >= 1e21) => write!(out, "{:e}", self),
                    _ => write!(out, "{}", self),
                };
            }
            fn read(value: &Value) -> Result<$t, String> {
                match value {
                    Value::Number(text) => text.parse().or_else(|_| wanted("a number", value)),
                    _ => wanted("a number", value),
                }
            }
            fn absent(&self) -> bool {
                *self == 0.0
            }
        }
    )*};
}
real!(f32 f64);

impl<T: Json> Json for Vec<T> {
    fn write(&self, out: &mut String) {
        out.push('[');
        for (i, item) in self.iter().enumerate() {
            if i > 0 {
                out.push(',');
            }
            item.write(out);
        }
        out.push(']');
    }
    fn read(value: &Value) -> Result<Vec<T>, String> {
        match value {
            Value::Null => Ok(Vec::new()),
            Value::List(items) => items.iter().enumerate().map(|(i, v)| T::read(v).map_err(|e| format!("{}: {}", i, e))).collect(),
            _ => wanted("a list", value),
        }
    }
    fn absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Json> Json for Map<T> {
    fn write(&self, out: &mut String) {
        out.push('{');
        for (name, value) in self {
            member(out, name, value);
        }
        out.push('}');
    }
    fn read(value: &Value) -> Result<Map<T>, String> {
        match value {
            Value::Null => Ok(Map::new()),
            Value::Object(members) => members.iter().map(|(n, v)| Ok((n.clone(), T::read(v).map_err(|e| format!("{}: {}", n, e))?))).collect(),
            _ => wanted("an object", value),
        }
    }
    fn absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Json> Json for Option<T> {
    fn write(&self, out: &mut String) {
        match self {
            Some(value) => value.write(out),
            None => out.push_str("null"),
        }
    }
    fn read(value: &Value) -> Result<Option<T>, String> {
        match value {
            Value::Null => Ok(None),
            _ => T::read(value).map(Some),
        }
    }
    fn absent(&self) -> bool {
        self.is_none()
    }
}

impl Json for () {
    fn write(&self, out: &mut String) {
        out.push_str("{}")
    }
    fn read(_: &Value) -> Result<(), String> {
        Ok(())
    }
}

/// Declares structs that are JSON objects. Fields behind the semicolon are left out where they are empty, zero, false or none. A
/// field that a request lacks has its default; unknown members are ignored. A field named `r#type` is the member `type`.
///
/// ```
/// alcove::object! {
///     /// What to greet.
///     pub struct Greet { name: String; times: i64 }
/// }
/// ```
#[macro_export]
macro_rules! object {
    ($($(#[$meta:meta])* $vis:vis struct $name:ident { $($must:ident: $must_type:ty),* $(,)? $(; $($may:ident: $may_type:ty),* $(,)?)? })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq)]
        $vis struct $name { $(pub $must: $must_type,)* $($(pub $may: $may_type,)*)? }

        impl $crate::json::Json for $name {
            fn write(&self, out: &mut String) {
                out.push('{');
                $($crate::json::member(out, stringify!($must).trim_start_matches("r#"), &self.$must);)*
                $($(if !$crate::json::Json::absent(&self.$may) {
                    $crate::json::member(out, stringify!($may).trim_start_matches("r#"), &self.$may);
                })*)?
                out.push('}');
            }
            #[allow(unused_mut)]
            fn read(value: &$crate::json::Value) -> ::std::result::Result<$name, String> {
                let members = $crate::json::members(value)?;
                let mut it = $name::default();
                for (name, value) in members {
                    let name = name.as_str();
                    $(if name == stringify!($must).trim_start_matches("r#") { it.$must = $crate::json::field(name, value)?; continue; })*
                    $($(if name == stringify!($may).trim_start_matches("r#") { it.$may = $crate::json::field(name, value)?; continue; })*)?
                }
                Ok(it)
            }
        }
    )*};
}

/// The members of an object, for `object!`.
#[doc(hidden)]
pub fn members(value: &Value) -> Result<&[(String, Value)], String> {
    match value {
        Value::Object(members) => Ok(members),
        _ => wanted("an object", value),
    }
}

/// A field of a struct, for `object!`.
#[doc(hidden)]
pub fn field<T: Json + Default>(name: &str, value: &Value) -> Result<T, String> {
    match value {
        Value::Null => Ok(T::read(value).unwrap_or_default()),
        _ => T::read(value).map_err(|e| format!("{}: {}", name, e)),
    }
}

/// How deep lists and objects may nest.
const DEEPEST: usize = 200;

/// Parses JSON.
pub fn parse(text: &str) -> Result<Value, String> {
    let mut p = Parser { text, at: 0 };
    let value = p.value(0)?;
    p.blanks();
    if p.at < text.len() {
        return p.fail("the end");
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn fail<T>(&self, wanted: &str) -> Result<T, String> {
        Err(format!("read JSON at byte {}: want {}", self.at, wanted))
    }

    fn peek(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    /// Passes a byte, if it is the next one behind blanks.
    fn pass(&mut self, c: u8) -> bool {
        self.blanks();
        let is = self.peek() == c && self.at < self.text.len();
        self.at += is as usize;
        is
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return self.fail("less depth");
        }
        self.blanks();
        match self.peek() {
            b'{' => self.object(depth),
            b'[' => self.list(depth),
            b'"' => Ok(Value::Text(self.string()?)),
            b'-' | b'0'..=b'9' => self.number(),
            _ => {
                for (word, value) in [("null", Value::Null), ("true", Value::Bool(true)), ("false", Value::Bool(false))] {
                    if self.text[self.at..].starts_with(word) {
                        self.at += word.len();
                        return Ok(value);
                    }
                }
                self.fail("a value")
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut items = Vec::new();
        if self.pass(b']') {
            return Ok(Value::List(items));
        }
        loop {
            items.push(self.value(depth + 1)?);
            if self.pass(b']') {
                return Ok(Value::List(items));
            }
            if !self.pass(b',') {
                return self.fail("a comma or ]");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, String> {
        self.at += 1;
        let mut members = Vec::new();
        if self.pass(b'}') {
            return Ok(Value::Object(members));
        }
        loop {
            self.blanks();
            if self.peek() != b'"' {
                return self.fail("a name");
            }
            let name = self.string()?;
            if !self.pass(b':') {
                return self.fail("a colon");
            }
            members.push((name, self.value(depth + 1)?));
            if self.pass(b'}') {
                return Ok(Value::Object(members));
            }
            if !self.pass(b',') {
                return self.fail("a comma or }");
            }
        }
    }

    fn digits(&mut self) -> Result<(), String> {
        if !self.peek().is_ascii_digit() {
            return self.fail("a digit");
        }
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Value, String> {
        let from = self.at;
        self.at += (self.peek() == b'-') as usize;
        if self.peek() == b'0' {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            self.at += matches!(self.peek(), b'+' | b'-') as usize;
            self.digits()?;
        }
        Ok(Value::Number(self.text[from..self.at].into()))
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let mut out = String::new();
        loop {
            let from = self.at;
            while !matches!(self.peek(), b'"' | b'\\' | 0..=31) {
                self.at += 1;
            }
            out.push_str(&self.text[from..self.at]);
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(out);
                }
                b'\\' => out.push(self.escape()?),
                _ => return self.fail("the end of the text"),
            }
        }
    }

    fn escape(&mut self) -> Result<char, String> {
        self.at += 2;
        Ok(match self.text.as_bytes().get(self.at - 1) {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => return self.unicode(),
            Some(&c @ (b'"' | b'\\' | b'/')) => c as char,
            _ => return self.fail("an escape"),
        })
    }

    /// Half a surrogate pair is the replacement character.
    fn unicode(&mut self) -> Result<char, String> {
        let high = self.unit()?;
        if (0xd800..0xdc00).contains(&high) && self.text[self.at..].starts_with("\\u") {
            let back = self.at;
            self.at += 2;
            let low = self.unit()?;
            if (0xdc00..0xe000).contains(&low) {
                return Ok(char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)).unwrap_or('\u{fffd}'));
            }
            self.at = back;
        }
        Ok(char::from_u32(high).unwrap_or('\u{fffd}'))
    }

    fn unit(&mut self) -> Result<u32, String> {
        match self.text.get(self.at..self.at + 4).map(|hex| (hex.bytes().all(|c| c.is_ascii_hexdigit()), u32::from_str_radix(hex, 16))) {
            Some((true, Ok(unit))) => {
                self.at += 4;
                Ok(unit)
            }
            _ => self.fail("four hexadecimal digits"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_written_as_it_was_read() {
        for text in [r#"{"a":[1,2.50,-3e-7,true,null],"b":"\"\\\n\t\u0001é😀","c":{}}"#, "[]", "0", r#""""#] {
            assert_eq!(parse(text).unwrap().to_string(), text);
        }
        assert_eq!(parse(r#""\ud83d\ude00\/\ud800x""#).unwrap(), Value::Text("😀/\u{fffd}x".into()));
    }

    #[test]
    fn malformed_json_is_an_error() {
        for text in ["", "{", "[1,]", "01", "1.", "\"\n\"", "\"\\x\"", "{\"a\" 1}", "nul", "1 2", "\"\\u00g0\"", "\"\\u+0ff\"", &"[".repeat(1000)] {
            assert!(parse(text).is_err(), "{}", text);
        }
    }

    object! { struct Sample { name: String, count: i64; r#type: String, part: Option<f64> } }

    #[test]
    fn optional_fields_are_left_out() {
        let sample = Sample { name: "x".into(), part: Some(0.0), ..Default::default() };
        assert_eq!(encode(&sample), r#"{"name":"x","count":0,"part":0}"#);
        assert_eq!(decode::<Sample>(r#"{"part":0,"name":"x","new":[1]}"#).unwrap(), sample);
        assert_eq!(decode::<Sample>(r#"{"name":"x","count":1.5}"#).unwrap_err(), "count: got a number, want a whole number");
        assert_eq!(decode::<Sample>(r#"{"name":null,"count":2e2,"type":"t"}"#).unwrap().count, 200);
    }

    #[test]
    fn numbers_round_trip() {
        for v in [0.1, 1e300, -5e-324, 123456789.25, 1e21, f64::MAX] {
            assert_eq!(decode::<f64>(&encode(&v)).unwrap(), v);
        }
        assert_eq!(decode::<u64>("18446744073709551615").unwrap(), u64::MAX);
        assert_eq!(encode(&f64::NAN), "null");
    }
}
