//! Hides secrets and personal data in what is about to be stored.
//!
//! Mail addresses, tokens of well-known forms and card numbers are replaced by their kind. A private key, or a secret in a memory's key,
//! namespace, type or links, which a hook cannot change, refuses the write.

use alcove::*;

object! {
    struct Redact { text: String }
    struct Redacted { text: String, found: i64 }
    struct Config { mode: String }
}

/// How tokens begin, and how long they are at least.
const TOKENS: [(&str, usize); 9] =
    [("AKIA", 20), ("ghp_", 36), ("gho_", 36), ("github_pat_", 40), ("sk-", 24), ("xoxb-", 24), ("xoxp-", 24), ("glpat-", 20), ("AIza", 39)];

fn is_card(digits: &str) -> bool {
    let sum: u32 = digits.bytes().rev().enumerate().map(|(i, c)| {
        let d = (c - b'0') as u32 * (1 + (i % 2) as u32);
        if d > 9 { d - 9 } else { d }
    }).sum();
    (13..=19).contains(&digits.len()) && sum % 10 == 0 && digits.bytes().any(|c| c != b'0')
}

/// Returns the kind of a word, and where the secret in it begins.
fn kind(word: &str) -> Option<(&'static str, usize)> {
    if let Some((at, _)) = TOKENS.iter().filter_map(|(begin, least)| word.find(begin).filter(|at| word.len() - at >= *least).map(|at| (at, begin))).min() {
        return Some(("[token]", at));
    }
    let (name, host) = word.split_once('@')?;
    let is_mail = !name.is_empty() && host.contains('.') && !host.starts_with('.') && !host.ends_with('.');
    is_mail.then(|| ("[mail]", 0))
}

/// Replaces digits, with single blanks or hyphens between them, that are a card number.
fn without_cards(text: &str, found: &mut i64) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut from, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        let start = at;
        let (mut digits, mut end) = (String::new(), at);
        while at < bytes.len() && (bytes[at].is_ascii_digit() || at > start && matches!(bytes[at], b' ' | b'-') && bytes[at - 1].is_ascii_digit()) {
            if bytes[at].is_ascii_digit() {
                digits.push(bytes[at] as char);
                end = at + 1;
            }
            at += 1;
        }
        if is_card(&digits) {
            *found += 1;
            out.push_str(&text[from..start]);
            out.push_str("[card]");
            from = end;
        }
        at = at.max(start + 1);
    }
    out + &text[from..]
}

/// Returns the text with each secret replaced by its kind.
fn redacted(text: &str, found: &mut i64) -> String {
    let is_part = |c: char| c.is_alphanumeric() || "@._-+%".contains(c);
    let mut out = String::new();
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        out.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        let word = rest[..end].trim_end_matches('.');
        match kind(word) {
            Some((kind, at)) => {
                *found += 1;
                out.push_str(&word[..at]);
                out.push_str(kind);
            }
            None => out.push_str(word),
        }
        rest = &rest[word.len().max(1).min(end)..];
        if word.is_empty() {
            out.push('.');
        }
    }
    without_cards(&(out + rest), found)
}

/// Redacts all text of a value, names of members included, and numbers that are card numbers.
fn walk(value: &Value, found: &mut i64) -> Value {
    match value {
        Value::Text(text) => Value::Text(redacted(text, found)),
        Value::Number(text) if is_card_number(text) => {
            *found += 1;
            Value::Text("[card]".into())
        }
        Value::List(items) => Value::List(items.iter().map(|v| walk(v, found)).collect()),
        Value::Object(members) => Value::Object(members.iter().map(|(n, v)| (redacted(n, found), walk(v, found))).collect()),
        other => other.clone(),
    }
}

fn is_card_number(text: &str) -> bool {
    text.bytes().all(|c| c.is_ascii_digit()) && is_card(text)
}

fn store(call: &Call, entries: Vec<Entry>) -> Result<Decision> {
    let refuses = call.config::<Config>()?.mode == "refuse";
    let mut changes = Vec::new();
    for e in entries {
        let (mut found, mut fixed) = (0, 0);
        for text in [&e.namespace, &e.key].into_iter().chain(&e.links).chain(&e.supersedes) {
            redacted(text, &mut fixed);
        }
        e.metadata.keys().for_each(|name| drop(redacted(name, &mut fixed)));
        redacted(&e.r#type, &mut fixed);
        let text = format!("{}{}", e.value, json::encode(&e.metadata));
        let change = Change {
            value: walk(&e.value, &mut found),
            tags: e.tags.iter().map(|tag| redacted(tag, &mut found)).collect(),
            metadata: e.metadata.iter().map(|(name, v)| (name.clone(), walk(v, &mut found))).collect(),
            ..Default::default()
        };
        if text.contains("PRIVATE KEY-----") {
            return Ok(Decision::Refuse("it has a private key: store where the key is kept instead".into()));
        }
        if fixed > 0 || refuses && found > 0 {
            return Ok(Decision::Refuse("it has a secret or personal data: store it without".into()));
        }
        changes.push(if found > 0 { Some(change) } else { None });
    }
    Ok(Decision::Change(changes))
}

fn redact(_: &Call, args: Redact) -> Result<Redacted> {
    let mut found = 0;
    let text = redacted(&args.text, &mut found);
    Ok(Redacted { text, found })
}

fn family() -> Family {
    Family::new().tool("memory_redact_text", redact).store(store)
}

serve!(family);

#[cfg(test)]
mod tests {
    use super::*;
    use alcove::testing::Fake;

    #[test]
    fn secrets_are_replaced_and_the_rest_stays() {
        for (text, want) in [
            ("mail ann.b+x@example.co.uk, now.", "mail [mail], now."),
            ("key=AKIAIOSFODNN7EXAMPLE!", "key=[token]!"),
            ("pay with 4111 1111 1111 1111 today", "pay with [card] today"),
            ("é 4111-1111-1111-1111", "é [card]"),
            ("order 4111111111111112, a@b, sk-short, 12:30. ...", "order 4111111111111112, a@b, sk-short, 12:30. ..."),
            ("", ""),
        ] {
            assert_eq!(redacted(text, &mut 0), want);
        }
    }

    #[test]
    fn a_store_is_changed_or_refused() {
        let mut host = Fake::new();
        host.config = r#"{"mode":"redact"}"#.into();
        let entry = |key: &str, value: &str| format!(r#"[{{"namespace":"default","collection":"memory","key":"{}","value":{}}}]"#, key, value);
        let answer = |key: &str, value: &str| host.store(&family(), &entry(key, value)).unwrap();
        assert_eq!(answer("a", r#"{"to":["ann@example.com"],"n":4111111111111111}"#), r#"{"entries":[{"value":{"to":["[mail]"],"n":"[card]"}}]}"#);
        assert_eq!(answer("a", r#""tea""#), r#"{"entries":[null]}"#);
        assert!(answer("ann@example.com", r#""tea""#).contains("refuse"));
        let linked = r#"[{"namespace":"default","collection":"memory","key":"a","value":"tea","links":["ann@example.com"]}]"#;
        assert!(host.store(&family(), linked).unwrap().contains("refuse"));
        assert!(answer("a", r#""-----BEGIN PRIVATE KEY-----""#).contains("refuse"));
    }
}
