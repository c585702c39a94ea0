//! Cards that come back at growing intervals.
//
//alcove:family reminders 1.0.0
//alcove:license Apache-2.0
//alcove:needs record cards to keep the cards
//alcove:collection cards
const std = @import("std");
const alcove = @import("alcove");
const Call = alcove.Call;

const Card = struct { text: []const u8, days: i64, times: i64, ease: i64, due: i64 };
const NewCard = struct {
    card: []const u8, // alcove:"max=100"
    text: []const u8,
};
const Graded = struct {
    card: []const u8,
    grade: i64, // alcove:"min=0,max=5"
};
const Due = struct { card: []const u8, text: []const u8 };

/// The day of the request, since 1970.
fn today(c: *Call) !i64 {
    const now = c.context.now;
    const month = try std.fmt.parseInt(i64, now[5..7], 10);
    const year = try std.fmt.parseInt(i64, now[0..4], 10) - @intFromBool(month <= 2);
    const of_era = @mod(year, 400);
    const of_year = @divFloor(153 * @mod(month + 9, 12) + 2, 5) + try std.fmt.parseInt(i64, now[8..10], 10) - 1;
    return @divFloor(year, 400) * 146097 + of_era * 365 + @divFloor(of_era, 4) - @divFloor(of_era, 100) + of_year - 719468;
}

fn keep(c: *Call, key: []const u8, card: Card) !void {
    _ = try c.recordPut(.{ .collection = "cards", .items = &.{.{ .key = key, .value = c.json(card) }} });
}

pub const tools = struct {
    /// Add a card, due today.
    pub fn reminders_add(c: *Call, in: NewCard) !struct { card: []const u8, due: i64 } {
        if (in.card.len == 0) return c.fail(.invalid_argument, "name the card", .{});
        const due = try today(c);
        try keep(c, in.card, .{ .text = in.text, .days = 0, .times = 0, .ease = 250, .due = due });
        return .{ .card = in.card, .due = due };
    }

    /// Grade a card from 0 (forgotten) to 5 (known at once), and set when it is due, in days since 1970.
    pub fn reminders_review(c: *Call, in: Graded) !struct { card: []const u8, days: i64, due: i64 } {
        const found = try c.recordGet(.{ .collection = "cards", .keys = &.{in.card} });
        const record = found.records[0] orelse return c.fail(.not_found, "there is no card {s}", .{in.card});
        var card = try c.read(Card, record.value);
        card.times = if (in.grade < 3) 0 else card.times + 1;
        card.days = if (card.times < 2) 1 else if (card.times == 2) 6 else @divFloor(card.days * card.ease + 50, 100);
        card.ease = @max(130, card.ease + 10 - (5 - in.grade) * (8 + (5 - in.grade) * 2));
        card.due = try today(c) + card.days;
        try keep(c, in.card, card);
        return .{ .card = in.card, .days = card.days, .due = card.due };
    }

    /// List the cards that are due, by their names.
    //alcove:tool read-only
    pub fn reminders_due(c: *Call) !struct { cards: []const Due } {
        const found = try c.recordList(.{ .collection = "cards", .limit = 1000 });
        var cards = std.ArrayListUnmanaged(Due){};
        for (found.records) |r| {
            const card = try c.read(Card, r.value);
            if (card.due <= try today(c)) try cards.append(c.arena, .{ .card = r.key, .text = card.text });
        }
        return .{ .cards = cards.items };
    }
};
