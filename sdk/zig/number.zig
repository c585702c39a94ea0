//! Numbers as JSON has them. They are exact: what is read is the nearest number, and what is written is the shortest text that is read as the
//! same number.
const std = @import("std");

/// A whole number without a sign, that all digits of a number fit in.
const Big = struct {
    n: usize = 0,
    w: [136]u32 = undefined,

    fn of(v: u64) Big {
        var b = Big{};
        b.add(@truncate(v >> 32));
        if (b.n > 0) b.multiply(1 << 16, 0);
        if (b.n > 0) b.multiply(1 << 16, 0);
        b.add(@truncate(v));
        return b;
    }

    /// Adds what no multiple of 2^32 lacks.
    fn add(b: *Big, v: u32) void {
        if (b.n > 0) b.multiply(1, v) else if (v > 0) b.push(v);
    }

    fn push(b: *Big, v: u32) void {
        if (b.n == b.w.len) return;
        b.w[b.n] = v;
        b.n += 1;
    }

    fn multiply(b: *Big, by: u32, carry: u32) void {
        var c: u64 = carry;
        for (b.w[0..b.n]) |*w| {
            c += @as(u64, w.*) * by;
            w.* = @truncate(c);
            c >>= 32;
        }
        if (c > 0) b.push(@truncate(c));
    }

    fn power(b: *Big, base: u32, n: usize) void {
        for (0..n) |_| b.multiply(base, 0);
    }

    fn bits(b: *const Big) i32 {
        return if (b.n == 0) 0 else @intCast(32 * b.n - @clz(b.w[b.n - 1]));
    }

    fn shift(b: *Big, n: usize) void {
        for (0..n / 16) |_| b.multiply(1 << 16, 0);
        b.multiply(@as(u32, 1) << @intCast(n % 16), 0);
    }

    fn trim(b: *Big) void {
        while (b.n > 0 and b.w[b.n - 1] == 0) b.n -= 1;
    }

    fn halve(b: *Big) void {
        for (0..b.n) |i| b.w[i] = b.w[i] >> 1 | (if (i + 1 < b.n) b.w[i + 1] << 31 else 0);
        b.trim();
    }

    /// Divides by ten, and returns the rest.
    fn tenth(b: *Big) u8 {
        var rest: u64 = 0;
        var i = b.n;
        while (i > 0) {
            i -= 1;
            rest = rest << 32 | b.w[i];
            b.w[i] = @truncate(rest / 10);
            rest %= 10;
        }
        b.trim();
        return @intCast(rest);
    }

    /// Subtracts b if a is not less, and says so.
    fn subtract(a: *Big, b: *const Big) bool {
        if (a.n < b.n) return false;
        var i = if (a.n == b.n) a.n else 0;
        while (i > 0) {
            i -= 1;
            if (a.w[i] < b.w[i]) return false;
            if (a.w[i] > b.w[i]) break;
        }
        var borrow: u1 = 0;
        for (a.w[0..a.n], 0..) |*w, at| {
            const one = @subWithOverflow(w.*, if (at < b.n) b.w[at] else 0);
            const two = @subWithOverflow(one[0], borrow);
            w.* = two[0];
            borrow = one[1] | two[1];
        }
        a.trim();
        return true;
    }
};

/// q * 2^e, and a little more if rest, as the nearest number.
fn nearest(q: u64, e: i32, rest: bool) f64 {
    const top: i32 = 63 - @as(i32, @clz(q));
    const exponent = top + e;
    const precision = if (exponent < -1022) 53 + exponent + 1022 else 53;
    if (exponent > 1023) return std.math.inf(f64);
    if (precision < 0) return 0;
    const drop = top + 1 - precision;
    var mantissa: u64 = 0;
    if (drop > 0) {
        if (drop <= 63) mantissa = q >> @intCast(drop);
        const tail = if (drop <= 63) q - (mantissa << @intCast(drop)) else q;
        const half = @as(u64, 1) << @intCast(drop - 1);
        if (tail > half or tail == half and (rest or mantissa & 1 == 1)) mantissa += 1;
    } else {
        mantissa = q << @intCast(-drop);
    }
    if (exponent < -1022) return @bitCast(mantissa);
    return @bitCast((@as(u64, @intCast(exponent + 1023)) << 52) +% mantissa -% (1 << 52));
}

const tens = [_]f64{ 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

/// digits * 10^power
fn decimal(all: []const u8, power: i32) f64 {
    var digits = all;
    var e = power;
    while (digits.len > 0 and digits[0] == 0) digits = digits[1..];
    if (digits.len > 700) {
        e += @intCast(digits.len - 700);
        digits = digits[0..700];
    }
    const n: i32 = @intCast(digits.len);
    if (n == 0 or n + e < -330) return 0;
    if (n + e > 310) return std.math.inf(f64);
    var few: u64 = 0;
    if (n <= 15 and e >= -22 and e <= 22) {
        for (digits) |d| few = 10 * few + d;
        const v: f64 = @floatFromInt(few);
        return if (e < 0) v / tens[@intCast(-e)] else v * tens[@intCast(e)];
    }
    var a = Big{};
    var b = Big.of(1);
    for (digits) |d| if (a.n > 0) a.multiply(10, d) else a.push(d);
    if (e < 0) b.power(10, @intCast(-e)) else a.power(10, @intCast(e));
    const s = 62 - (a.bits() - b.bits());
    if (s > 0) a.shift(@intCast(s)) else b.shift(@intCast(-s));
    b.shift(63);
    for (0..64) |_| {
        few = few << 1 | @intFromBool(a.subtract(&b));
        b.halve();
    }
    return nearest(few, -s, a.n > 0);
}

/// The nearest number to a number of JSON.
pub fn parse(text: []const u8) f64 {
    var digits: [800]u8 = undefined;
    var n: usize = 0;
    var e: i32 = 0;
    var point = false;
    const minus = text.len > 0 and text[0] == '-';
    var i: usize = @intFromBool(minus);
    while (i < text.len and text[i] | 32 != 'e') : (i += 1) {
        if (text[i] == '.') {
            point = true;
        } else if (n < digits.len) {
            digits[n] = text[i] - '0';
            n += 1;
            e -= @intFromBool(point);
        } else {
            e += @intFromBool(!point);
        }
    }
    if (i + 1 < text.len) {
        const down = text[i + 1] == '-';
        i += if (down or text[i + 1] == '+') 2 else 1;
        var power: i32 = 0;
        for (text[i..]) |d| if (power < 100000) {
            power = 10 * power + (d - '0');
        };
        e += if (down) -power else power;
    }
    const v = decimal(digits[0..n], e);
    return if (minus) -v else v;
}

/// The first 18 digits of a number above zero, the last of which is no tie if there are more; the number is 0.DIGITS * 10^point.
const Digits = struct { digits: [18]u8, n: usize, point: i32 };

fn expand(v: f64) Digits {
    const bits: u64 = @bitCast(v);
    var e = @as(i32, @intCast(bits >> 52)) - 1075;
    var mantissa = bits & ((1 << 52) - 1);
    if (e > -1075) mantissa |= 1 << 52 else e = -1074;
    var b = Big.of(mantissa);
    if (e > 0) b.shift(@intCast(e)) else b.power(5, @intCast(-e));
    var backwards: [1200]u8 = undefined;
    var count: usize = 0;
    while (b.n > 0) : (count += 1) backwards[count] = b.tenth();
    var out = Digits{ .digits = undefined, .n = @min(count, 18), .point = @as(i32, @intCast(count)) + @min(e, 0) };
    for (0..out.n) |i| out.digits[i] = backwards[count - 1 - i];
    for (out.n..@max(count, out.n)) |i| if (backwards[count - 1 - i] != 0 and out.digits[17] == 5) {
        out.digits[17] = 6;
    };
    return out;
}

/// The first p digits of a number, rounded.
fn rounded(all: *const Digits, p: usize) Digits {
    var d = all.*;
    d.n = @min(p, all.n);
    if (d.n == all.n or all.digits[d.n] < 5) return d;
    while (d.n > 0 and d.digits[d.n - 1] == 9) d.n -= 1;
    if (d.n > 0) {
        d.digits[d.n - 1] += 1;
        return d;
    }
    return .{ .digits = [_]u8{1} ++ [_]u8{0} ** 17, .n = 1, .point = all.point + 1 };
}

/// The room that format needs at most.
pub const longest = 32;

/// The shortest text of a number, with the digits of a single one if that is wanted. What JSON lacks is null.
pub fn format(room: *[longest]u8, number: f64, single: bool) []const u8 {
    if (number != number or number - number != 0) return "null";
    const minus = number < 0;
    const v = if (minus) -number else number;
    var out = Text{ .room = room };
    if (minus) out.put('-');
    if (v < 9007199254740992 and v == @trunc(v)) {
        out.whole(@intFromFloat(v));
        return out.text();
    }
    const all = expand(v);
    var d = all;
    for (1..18) |p| {
        d = rounded(&all, p);
        const is = decimal(d.digits[0..d.n], d.point - @as(i32, @intCast(d.n)));
        if (if (single) @as(f32, @floatCast(is)) == @as(f32, @floatCast(v)) else is == v) break;
    }
    if (d.point < -5 or d.point > 21) {
        out.put('0' + d.digits[0]);
        if (d.n > 1) out.put('.');
        for (d.digits[1..@max(d.n, 1)]) |digit| out.put('0' + digit);
        out.put('e');
        if (d.point < 1) out.put('-');
        out.whole(if (d.point < 1) @intCast(1 - d.point) else @intCast(d.point - 1));
        return out.text();
    }
    if (d.point <= 0) {
        out.put('0');
        out.put('.');
        for (0..@intCast(-d.point)) |_| out.put('0');
    }
    const point: usize = @intCast(@max(d.point, 0));
    for (0..@max(d.n, point)) |i| {
        if (i > 0 and i == point) out.put('.');
        out.put(if (i < d.n) '0' + d.digits[i] else '0');
    }
    return out.text();
}

const Text = struct {
    room: *[longest]u8,
    n: usize = 0,

    fn put(t: *Text, byte: u8) void {
        t.room[t.n] = byte;
        t.n += 1;
    }

    fn whole(t: *Text, number: u64) void {
        var at: usize = 20;
        var digits: [20]u8 = undefined;
        var v = number;
        while (true) {
            at -= 1;
            digits[at] = '0' + @as(u8, @intCast(v % 10));
            v /= 10;
            if (v == 0) break;
        }
        for (digits[at..]) |digit| t.put(digit);
    }

    fn text(t: *Text) []const u8 {
        return t.room[0..t.n];
    }
};

/// A whole number in decimal digits.
pub fn whole(room: *[longest]u8, magnitude: u64, minus: bool) []const u8 {
    var out = Text{ .room = room };
    if (minus) out.put('-');
    out.whole(magnitude);
    return out.text();
}
