//! Greets people, and remembers whom it greeted.
//
//alcove:family example 0.1.0
//alcove:license Apache-2.0
//alcove:needs memory.write * to remember whom it greeted

use alcove::{object, Call, Code, Error, Family, MemoryItem, MemoryPutRequest, Result, Value};

object! {
    //alcove:config
    struct Config {
        word: String // the word before the name alcove:"default=Hello"
    }
    struct Greet {
        name: String // whom
    }
    struct Greeting { text: String }
}

/// Greet somebody.
fn greet(call: &Call, args: Greet) -> Result<Greeting> {
    if args.name.is_empty() {
        return Err(Error::new(Code::InvalidArgument, "give a name"));
    }
    let text = format!("{}, {}!", call.config::<Config>()?.word, args.name);
    let item = MemoryItem { value: Value::Text(format!("greeted {}", args.name)), tags: vec!["greeting".into()], ..Default::default() };
    call.memory_put(&MemoryPutRequest { items: vec![item] })?;
    Ok(Greeting { text })
}

fn family() -> Family {
    Family::new().tool("memory_greet", greet)
}

alcove::serve!(family);

#[cfg(test)]
mod tests {
    use super::*;
    use alcove::testing::Fake;

    #[test]
    fn a_greeting_is_remembered() {
        let mut host = Fake::new().answers("memory.put", r#"{"stored":[]}"#);
        host.config = r#"{"word":"Hello"}"#.into();
        assert_eq!(host.tool(&family(), "memory_greet", r#"{"name":"Ada"}"#).unwrap(), r#"{"text":"Hello, Ada!"}"#);
        assert_eq!(host.tool(&family(), "memory_greet", r#"{"name":""}"#).unwrap_err().code, Code::InvalidArgument);
        assert_eq!(host.calls.borrow().len(), 1);
    }
}
