//! The conformance guest in Rust.

use alcove::*;

object! {
    struct Echo { text: String, count: i64, ratio: f64, flag: bool, list: Vec<String>; any: Value, names: Map<i64> }
    struct Fail { code: String, message: String }
    struct Text { text: String }
    struct Key { key: String }
    struct Remembered { found: Vec<String>, importance: f64, total: i64, missing: String }
    struct Raw { op: String, request: Value }
    struct Answered { answer: Value }
    struct Config { word: String }
    struct Known { caller: String, namespace: String, branch: String, now: String, word: String }
    struct Tidy { n: i64 }
    struct Tidied { done: i64 }
}

fn echo(_: &Call, args: Echo) -> Result<Echo> {
    Ok(args)
}

fn fail(_: &Call, args: Fail) -> Result<Echo> {
    Err(Error::new(Code::named(&args.code), args.message).detail("where", Value::Text("here".into())))
}

fn give_up(_: &Call, args: Text) -> Result<Echo> {
    panic!("{}", args.text)
}

fn remember(call: &Call, args: Key) -> Result<Remembered> {
    let item = MemoryItem {
        key: args.key.clone(),
        value: Value::Text("tea".into()),
        tags: vec!["drink".into()],
        r#type: Some("fact".into()),
        importance: Some(0.5),
        metadata: Map::from([("n".into(), Value::Number("1".into()))]),
        ..Default::default()
    };
    call.memory_put(&MemoryPutRequest { items: vec![item] })?;
    let got = call.memory_get(&MemoryGetRequest { keys: vec![args.key, "nothing".into()], ..Default::default() })?;
    let found = got.memories.iter().map(|m| m.as_ref().map_or("-".into(), |m| m.key.clone())).collect();
    let importance = got.memories.iter().flatten().filter_map(|m| m.importance).last().unwrap_or(0.0);
    let hits = call.memory_search(&MemorySearchRequest { query: "tea".into(), k: 3, ..Default::default() })?.hits;
    let missing = call.branch_list().err().map_or("", |e| e.code.name());
    Ok(Remembered { found, importance, total: hits.len() as i64, missing: missing.into() })
}

fn raw(call: &Call, args: Raw) -> Result<Answered> {
    Ok(Answered { answer: call.exchange(&args.op, &args.request)? })
}

fn context(call: &Call, _: ()) -> Result<Known> {
    let word = call.config::<Config>()?.word;
    call.log(format!("the word is {}", word));
    let c = call.context.clone();
    Ok(Known { caller: c.caller, namespace: c.namespace, branch: c.branch, now: c.now, word })
}

fn store(_: &Call, entries: Vec<Entry>) -> Result<Decision> {
    let mut changes = vec![None; entries.len()];
    for (i, mut e) in entries.into_iter().enumerate() {
        match e.value.as_str().unwrap_or("") {
            _ if e.change == "delete" => return Ok(Decision::Refuse("it stays".into())),
            "secret" => {
                e.tags.push("redacted".into());
                changes[i] = Some(Change { value: Value::Text("[hidden]".into()), tags: e.tags, ..Default::default() })
            }
            "no" => return Ok(Decision::Refuse("no means no".into())),
            "maybe" => return Ok(Decision::Propose("perhaps".into(), changes)),
            "broken" => return Err(Error::new(Code::Unavailable, "it is broken")),
            _ => {}
        }
    }
    Ok(Decision::Change(changes))
}

fn stored(call: &Call, entries: Vec<Entry>) -> Result<()> {
    entries.iter().for_each(|e| call.log(format!("stored {}", e.key)));
    Ok(())
}

fn rank(_: &Call, r: Ranking) -> Result<Vec<f32>> {
    let second = |v: f32| if v.is_nan() { 0.0 } else { v };
    Ok((0..r.count).map(|i| 2.0 * r.columns[0][i] + second(r.columns[1][i])).collect())
}

fn embed(_: &Call, t: Texts) -> Result<Vec<Vec<f32>>> {
    Ok(t.texts.iter().map(|text| vec![text.len() as f32, 0.5, -1.0]).collect())
}

fn family() -> Family {
    Family::new()
        .tool("memory_interop_echo", echo)
        .tool("memory_interop_fail", fail)
        .tool("memory_interop_panic", give_up)
        .tool("memory_interop_memory", remember)
        .tool("memory_interop_raw", raw)
        .tool("memory_interop_context", context)
        .job("tidy", |_, job: Tidy| Ok(Tidied { done: job.n }))
        .store(store)
        .stored(stored)
        .rank(rank)
        .embed(embed)
}

serve!(family);
