//! Cards that come back at growing intervals.
//
//alcove:family reminders 1.0.0
//alcove:license Apache-2.0
//alcove:needs record cards to keep the cards
//alcove:collection cards

use alcove::{object, Call, Code, Error, Family, RecordGetRequest, RecordItem, RecordListRequest, RecordPutRequest, Result};

object! {
    struct Add {
        card: String, // alcove:"max=100"
        text: String
    }
    struct Added { card: String, due: i64 }
    struct Review {
        card: String,
        grade: i64 // alcove:"min=0,max=5"
    }
    struct Reviewed { card: String, days: i64, due: i64 }
    struct Nothing { }
    struct Card { text: String, days: i64, times: i64, ease: i64, due: i64 }
    struct Due { card: String, text: String }
    struct AllDue { cards: Vec<Due> }
}

/// The day of the request, since 1970.
fn today(call: &Call) -> i64 {
    let part = |from: usize, to: usize| call.context.now[from..to].parse::<i64>().unwrap_or(0);
    let (month, day) = (part(5, 7), part(8, 10));
    let year = part(0, 4) - i64::from(month <= 2);
    let of_era = year % 400;
    year / 400 * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + (153 * ((month + 9) % 12) + 2) / 5 + day - 1 - 719468
}

fn keep(call: &Call, key: &str, card: &Card) -> Result<()> {
    let item = RecordItem { key: key.into(), value: alcove::json::parse(&alcove::json::encode(card)).map_err(|e| Error::new(Code::Internal, e))?, ..Default::default() };
    call.record_put(&RecordPutRequest { collection: "cards".into(), items: vec![item], ..Default::default() })?;
    Ok(())
}

/// Add a card, due today.
fn add(call: &Call, args: Add) -> Result<Added> {
    if args.card.is_empty() {
        return Err(Error::new(Code::InvalidArgument, "name the card"));
    }
    let due = today(call);
    keep(call, &args.card, &Card { text: args.text, days: 0, times: 0, ease: 250, due })?;
    Ok(Added { card: args.card, due })
}

/// Grade a card from 0 (forgotten) to 5 (known at once), and set when it is due, in days since 1970.
fn review(call: &Call, args: Review) -> Result<Reviewed> {
    let found = call.record_get(&RecordGetRequest { collection: "cards".into(), keys: vec![args.card.clone()], ..Default::default() })?;
    let record = found.records[0].as_ref().ok_or_else(|| Error::new(Code::NotFound, format!("there is no card {}", args.card)))?;
    let mut v: Card = record.value.to().map_err(|e| Error::new(Code::Internal, e))?;
    v.times = if args.grade < 3 { 0 } else { v.times + 1 };
    v.days = match v.times {
        0 | 1 => 1,
        2 => 6,
        _ => (v.days * v.ease + 50) / 100,
    };
    v.ease = (v.ease + 10 - (5 - args.grade) * (8 + (5 - args.grade) * 2)).max(130);
    v.due = today(call) + v.days;
    keep(call, &args.card, &v)?;
    Ok(Reviewed { card: args.card, days: v.days, due: v.due })
}

/// List the cards that are due, by their names.
//alcove:tool read-only
fn due(call: &Call, _: Nothing) -> Result<AllDue> {
    let mut cards = vec![];
    for r in call.record_list(&RecordListRequest { collection: "cards".into(), limit: 1000, ..Default::default() })?.records {
        let v: Card = r.value.to().map_err(|e| Error::new(Code::Internal, e))?;
        if v.due <= today(call) {
            cards.push(Due { card: r.key, text: v.text });
        }
    }
    Ok(AllDue { cards })
}

fn family() -> Family {
    Family::new().tool("reminders_add", add).tool("reminders_review", review).tool("reminders_due", due)
}

alcove::serve!(family);
