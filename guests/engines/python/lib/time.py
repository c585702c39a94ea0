"""The time of the request: it stands still while the request is served."""
import alcove
from datetime import datetime as _datetime, timezone as _timezone

timezone = 0
tzname = ("UTC", "UTC")


def time():
    return alcove.now_ns() / 1e9


def time_ns():
    return alcove.now_ns()


monotonic = perf_counter = process_time = time
monotonic_ns = perf_counter_ns = time_ns


def sleep(seconds):
    """Returns at once: nothing happens meanwhile."""


def gmtime(seconds=None):
    d = _datetime.fromtimestamp(time() if seconds is None else int(seconds), _timezone.utc)
    return d.year, d.month, d.day, d.hour, d.minute, d.second, d.weekday(), d.toordinal() - _datetime(d.year, 1, 1).toordinal() + 1, 0


localtime = gmtime


def mktime(t):
    return _datetime(*t[:6], tzinfo=_timezone.utc).timestamp()


def strftime(form, t=None):
    t = t or gmtime()
    return _datetime(*t[:6]).strftime(form)
