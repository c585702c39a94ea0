"""Dates, times and zones of a fixed offset."""
import alcove

MINYEAR, MAXYEAR = 1, 9999
_DAY = 86400000000  # microseconds
_months = "January February March April May June July August September October November December".split()
_days = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()


def _leap(y):
    return y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)


def _month_days(y, m):
    return 28 + _leap(y) if m == 2 else 31 - (m - 1) % 7 % 2


def _ordinal(y, m, d):
    n = y - 1
    return n * 365 + n // 4 - n // 100 + n // 400 + (367 * m - 362) // 12 - (0 if m < 3 else 1 if _leap(y) else 2) + d


def _civil(n):
    n -= 1
    c400, n = divmod(n, 146097)
    c100 = min(n // 36524, 3)
    n -= c100 * 36524
    c4, n = divmod(n, 1461)
    c1 = min(n // 365, 3)
    n -= c1 * 365
    y, m = 400 * c400 + 100 * c100 + 4 * c4 + c1 + 1, 1
    while n >= _month_days(y, m):
        n -= _month_days(y, m)
        m += 1
    return y, m, n + 1


_EPOCH = _ordinal(1970, 1, 1)


def _number(text, low, high, what):
    if not text.isdigit() or not low <= int(text) <= high:
        raise ValueError("%s %s is not from %d to %d" % (what, text, low, high))
    return int(text)


def _check(value, low, high, what):
    if not isinstance(value, int):
        raise TypeError("%s has to be an int" % what)
    if not low <= value <= high:
        raise ValueError("%s %d is not from %d to %d" % (what, value, low, high))
    return value


def _parse_date(text):
    if len(text) != 10 or text[4] != "-" or text[7] != "-":
        raise ValueError("%r is no date as in 2006-01-02" % text)
    y, m = _number(text[:4], MINYEAR, MAXYEAR, "year"), _number(text[5:7], 1, 12, "month")
    return y, m, _number(text[8:], 1, _month_days(y, m), "day")


def _parse_time(text):
    offset = None
    if text[-1:] in "Zz" and text:
        text, offset = text[:-1], 0
    else:
        sign = max(text.rfind("+"), text.rfind("-"))
        if sign >= 0:
            zone, text, negative = text[sign + 1 :].replace(":", ""), text[:sign], text[sign] == "-"
            offset = _number(zone[:2], 0, 23, "offset") * 60 + _number(zone[2:4] or "0", 0, 59, "offset")
            offset = -offset if negative else offset
    text, _, fraction = text.partition(".")
    parts = text.split(":")
    if not 1 <= len(parts) <= 3:
        raise ValueError("%r is no time as in 15:04:05" % text)
    most = (23, 59, 59)
    numbers = [_number(p, 0, most[i], "time") for i, p in enumerate(parts)] + [0, 0]
    micros = _number((fraction + "000000")[:6], 0, 999999, "fraction") if fraction else 0
    return numbers[0], numbers[1], numbers[2], micros, offset


class timedelta:
    def __init__(self, days=0, seconds=0, microseconds=0, milliseconds=0, minutes=0, hours=0, weeks=0):
        all = (days + weeks * 7) * _DAY + (seconds + minutes * 60 + hours * 3600) * 1000000 + milliseconds * 1000 + microseconds
        self._us = round(all)

    @staticmethod
    def _of(us):
        d = timedelta()
        d._us = us
        return d

    @property
    def days(self):
        return self._us // _DAY

    @property
    def seconds(self):
        return self._us % _DAY // 1000000

    @property
    def microseconds(self):
        return self._us % 1000000

    def total_seconds(self):
        return self._us / 1000000

    def __add__(self, other):
        if isinstance(other, timedelta):
            return timedelta._of(self._us + other._us)
        if isinstance(other, date):
            return other + self
        return NotImplemented

    def __sub__(self, other):
        return timedelta._of(self._us - other._us)

    def __neg__(self):
        return timedelta._of(-self._us)

    def __abs__(self):
        return timedelta._of(abs(self._us))

    def __mul__(self, n):
        return timedelta._of(round(self._us * n))

    __rmul__ = __mul__

    def __truediv__(self, other):
        return self._us / other._us if isinstance(other, timedelta) else timedelta._of(round(self._us / other))

    def __floordiv__(self, other):
        return self._us // other._us if isinstance(other, timedelta) else timedelta._of(self._us // other)

    def __mod__(self, other):
        return timedelta._of(self._us % other._us)

    def __eq__(self, other):
        return isinstance(other, timedelta) and self._us == other._us

    def __lt__(self, other):
        return self._us < other._us

    def __le__(self, other):
        return self._us <= other._us

    def __gt__(self, other):
        return self._us > other._us

    def __ge__(self, other):
        return self._us >= other._us

    def __hash__(self):
        return hash(self._us)

    def __bool__(self):
        return self._us != 0

    def __str__(self):
        days, rest = divmod(self._us, _DAY)
        text = "%d:%02d:%02d" % (rest // 3600000000, rest // 60000000 % 60, rest // 1000000 % 60)
        if rest % 1000000:
            text += ".%06d" % (rest % 1000000)
        return "%d day%s, %s" % (days, "" if abs(days) == 1 else "s", text) if days else text

    def __repr__(self):
        return "datetime.timedelta(days=%d, seconds=%d, microseconds=%d)" % (self.days, self.seconds, self.microseconds)


class tzinfo:
    pass


class timezone(tzinfo):
    def __init__(self, offset, name=None):
        self._offset, self._name = offset, name

    def utcoffset(self, dt=None):
        return self._offset

    def tzname(self, dt=None):
        if self._name:
            return self._name
        return "UTC" + (_zone(self._offset) if self._offset else "")

    def __eq__(self, other):
        return isinstance(other, timezone) and self._offset == other._offset

    def __hash__(self):
        return hash(self._offset)

    def __repr__(self):
        return "datetime.timezone.utc" if not self._offset else "datetime.timezone(%r)" % self._offset


timezone.utc = timezone(timedelta())
UTC = timezone.utc


def _zone(offset):
    minutes = offset._us // 60000000
    return "%s%02d:%02d" % ("-" if minutes < 0 else "+", abs(minutes) // 60, abs(minutes) % 60)


def _strftime(d, form):
    out, i = "", 0
    hour, minute, second = getattr(d, "hour", 0), getattr(d, "minute", 0), getattr(d, "second", 0)
    while i < len(form):
        c = form[i]
        i += 1
        if c != "%" or i == len(form):
            out += c
            continue
        c = form[i]
        i += 1
        if c == "Y":
            out += "%04d" % d.year
        elif c == "y":
            out += "%02d" % (d.year % 100)
        elif c == "m":
            out += "%02d" % d.month
        elif c == "d":
            out += "%02d" % d.day
        elif c == "H":
            out += "%02d" % hour
        elif c == "I":
            out += "%02d" % ((hour + 11) % 12 + 1)
        elif c == "M":
            out += "%02d" % minute
        elif c == "S":
            out += "%02d" % second
        elif c == "f":
            out += "%06d" % getattr(d, "microsecond", 0)
        elif c == "p":
            out += "AM" if hour < 12 else "PM"
        elif c == "j":
            out += "%03d" % (d.toordinal() - _ordinal(d.year, 1, 1) + 1)
        elif c == "A":
            out += _days[d.weekday()]
        elif c == "a":
            out += _days[d.weekday()][:3]
        elif c == "B":
            out += _months[d.month - 1]
        elif c == "b":
            out += _months[d.month - 1][:3]
        elif c == "u":
            out += str(d.isoweekday())
        elif c == "w":
            out += str(d.isoweekday() % 7)
        elif c == "F":
            out += _strftime(d, "%Y-%m-%d")
        elif c == "T":
            out += _strftime(d, "%H:%M:%S")
        elif c == "z":
            zone = getattr(d, "tzinfo", None)
            out += _zone(zone.utcoffset(d)).replace(":", "") if zone else ""
        elif c == "Z":
            zone = getattr(d, "tzinfo", None)
            out += zone.tzname(d) if zone else ""
        elif c == "%":
            out += "%"
        else:
            raise ValueError("%%%s is not supported" % c)
    return out


class date:
    def __init__(self, year, month, day):
        self.year, self.month = _check(year, MINYEAR, MAXYEAR, "year"), _check(month, 1, 12, "month")
        self.day = _check(day, 1, _month_days(year, month), "day")

    @classmethod
    def today(cls):
        return cls.fromtimestamp(alcove.now_ns() / 1e9)

    @classmethod
    def fromtimestamp(cls, seconds):
        return date(*_civil(_EPOCH + int(seconds // 86400)))

    @classmethod
    def fromordinal(cls, n):
        return date(*_civil(n))

    @classmethod
    def fromisoformat(cls, text):
        return date(*_parse_date(text))

    def toordinal(self):
        return _ordinal(self.year, self.month, self.day)

    def weekday(self):
        return (self.toordinal() + 6) % 7

    def isoweekday(self):
        return self.weekday() + 1

    def isocalendar(self):
        thursday = self.toordinal() + 3 - self.weekday()
        year = _civil(thursday)[0]
        return year, (thursday - _ordinal(year, 1, 1)) // 7 + 1, self.isoweekday()

    def replace(self, year=None, month=None, day=None):
        return date(year or self.year, month or self.month, day or self.day)

    def isoformat(self):
        return "%04d-%02d-%02d" % (self.year, self.month, self.day)

    def strftime(self, form):
        return _strftime(self, form)

    def __format__(self, form):
        return _strftime(self, form) if form else str(self)

    def _key(self):
        return self.toordinal()

    def __add__(self, delta):
        return date.fromordinal(self.toordinal() + delta.days)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return date.fromordinal(self.toordinal() - other.days)
        return timedelta(self.toordinal() - other.toordinal())

    def __eq__(self, other):
        return type(other) is type(self) and self._key() == other._key()

    def _compared(self, other):
        if type(other) is not type(self):
            raise TypeError("a %s cannot be compared with a %s" % (type(self).__name__, type(other).__name__))
        return other._key()

    def __lt__(self, other):
        return self._key() < self._compared(other)

    def __le__(self, other):
        return self._key() <= self._compared(other)

    def __gt__(self, other):
        return self._key() > self._compared(other)

    def __ge__(self, other):
        return self._key() >= self._compared(other)

    def __hash__(self):
        return hash(self._key())

    def __str__(self):
        return self.isoformat()

    def __repr__(self):
        return "datetime.date(%d, %d, %d)" % (self.year, self.month, self.day)


class datetime(date):
    def __init__(self, year, month, day, hour=0, minute=0, second=0, microsecond=0, tzinfo=None):
        date.__init__(self, year, month, day)
        self.hour, self.minute = _check(hour, 0, 23, "hour"), _check(minute, 0, 59, "minute")
        self.second, self.microsecond = _check(second, 0, 59, "second"), _check(microsecond, 0, 999999, "microsecond")
        self.tzinfo = tzinfo

    @staticmethod
    def _of(us, zone=None):
        days, rest = divmod(us, _DAY)
        y, m, d = _civil(_EPOCH + days)
        return datetime(y, m, d, rest // 3600000000, rest // 60000000 % 60, rest // 1000000 % 60, rest % 1000000, zone)

    @classmethod
    def now(cls, tz=None):
        us = alcove.now_ns() // 1000
        return datetime._of(us + (tz.utcoffset()._us if tz else 0), tz)

    @classmethod
    def utcnow(cls):
        return cls.now()

    @classmethod
    def today(cls):
        return cls.now()

    @classmethod
    def fromtimestamp(cls, seconds, tz=None):
        return datetime._of(round(seconds * 1000000) + (tz.utcoffset()._us if tz else 0), tz)

    @classmethod
    def fromisoformat(cls, text):
        y, m, d = _parse_date(text[:10])
        if len(text) == 10:
            return datetime(y, m, d)
        hour, minute, second, micros, offset = _parse_time(text[11:])
        zone = None if offset is None else timezone(timedelta(minutes=offset)) if offset else timezone.utc
        return datetime(y, m, d, hour, minute, second, micros, zone)

    @classmethod
    def combine(cls, day, clock):
        return datetime(day.year, day.month, day.day, clock.hour, clock.minute, clock.second, clock.microsecond, clock.tzinfo)

    def _local(self):
        return (((self.toordinal() - _EPOCH) * 24 + self.hour) * 3600 + self.minute * 60 + self.second) * 1000000 + self.microsecond

    def _key(self):
        return self._local() - (self.tzinfo.utcoffset(self)._us if self.tzinfo else 0)

    def _compared(self, other):
        key = date._compared(self, other)
        if (self.tzinfo is None) != (other.tzinfo is None):
            raise TypeError("a time with a zone cannot be compared with one without")
        return key

    def date(self):
        return date(self.year, self.month, self.day)

    def time(self):
        return time(self.hour, self.minute, self.second, self.microsecond)

    def utcoffset(self):
        return self.tzinfo.utcoffset(self) if self.tzinfo else None

    def timestamp(self):
        return self._key() / 1000000

    def astimezone(self, tz=None):
        tz = tz or timezone.utc
        return datetime._of(self._key() + tz.utcoffset()._us, tz)

    def replace(self, year=None, month=None, day=None, hour=None, minute=None, second=None, microsecond=None, tzinfo=False):
        def kept(new, old):
            return old if new is None else new

        return datetime(kept(year, self.year), kept(month, self.month), kept(day, self.day), kept(hour, self.hour), kept(minute, self.minute),
                        kept(second, self.second), kept(microsecond, self.microsecond), self.tzinfo if tzinfo is False else tzinfo)

    def isoformat(self, sep="T", timespec="auto"):
        text = date.isoformat(self) + sep + "%02d:%02d:%02d" % (self.hour, self.minute, self.second)
        if timespec == "milliseconds":
            text += ".%03d" % (self.microsecond // 1000)
        elif timespec == "microseconds" or timespec == "auto" and self.microsecond:
            text += ".%06d" % self.microsecond
        return text + (_zone(self.tzinfo.utcoffset(self)) if self.tzinfo else "")

    def __add__(self, delta):
        return datetime._of(self._local() + delta._us, self.tzinfo)

    __radd__ = __add__

    def __sub__(self, other):
        if isinstance(other, timedelta):
            return datetime._of(self._local() - other._us, self.tzinfo)
        if (self.tzinfo is None) != (other.tzinfo is None):
            raise TypeError("a time with a zone cannot be subtracted from one without")
        return timedelta._of(self._key() - other._key())

    @classmethod
    def strptime(cls, text, form):
        import re

        names = {"Y": (r"\d{4}", "year"), "m": (r"\d\d?", "month"), "d": (r"\d\d?", "day"), "H": (r"\d\d?", "hour"), "M": (r"\d\d?", "minute"), "S": (r"\d\d?", "second")}
        pattern, fields, i = "", [], 0
        while i < len(form):
            if form[i] == "%" and i + 1 < len(form) and form[i + 1] in names:
                part, field = names[form[i + 1]]
                pattern += "(" + part + ")"
                fields.append(field)
                i += 2
                continue
            if form[i] == "%":
                raise ValueError("%s is not supported" % form[i : i + 2])
            pattern += re.escape(form[i])
            i += 1
        found = re.fullmatch(pattern, text)
        if not found:
            raise ValueError("time data %r does not match format %r" % (text, form))
        values = {"year": 1900, "month": 1, "day": 1}
        for i, field in enumerate(fields):
            values[field] = int(found.group(i + 1))
        return datetime(**values)

    def __str__(self):
        return self.isoformat(" ")

    def __repr__(self):
        zone = ", tzinfo=%r" % self.tzinfo if self.tzinfo else ""
        return "datetime.datetime(%d, %d, %d, %d, %d, %d, %d%s)" % (self.year, self.month, self.day, self.hour, self.minute, self.second, self.microsecond, zone)


class time:
    def __init__(self, hour=0, minute=0, second=0, microsecond=0, tzinfo=None):
        self.hour, self.minute = _check(hour, 0, 23, "hour"), _check(minute, 0, 59, "minute")
        self.second, self.microsecond = _check(second, 0, 59, "second"), _check(microsecond, 0, 999999, "microsecond")
        self.tzinfo = tzinfo

    @classmethod
    def fromisoformat(cls, text):
        hour, minute, second, micros, _ = _parse_time(text)
        return time(hour, minute, second, micros)

    def isoformat(self):
        return "%02d:%02d:%02d" % (self.hour, self.minute, self.second) + (".%06d" % self.microsecond if self.microsecond else "")

    def _key(self):
        return self.hour, self.minute, self.second, self.microsecond

    def __eq__(self, other):
        return isinstance(other, time) and self._key() == other._key()

    def __lt__(self, other):
        return self._key() < other._key()

    def __hash__(self):
        return hash(self._key())

    def __str__(self):
        return self.isoformat()
