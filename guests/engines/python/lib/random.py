"""Random numbers. A request that is repeated has the same ones."""
import math
import _alcove


class Random:
    def __init__(self, x=None):
        self.seed(x)

    def seed(self, a=None, version=2):
        self._state = None if a is None else hash(a) & 0xFFFFFFFF

    def _bits(self):
        if self._state is None:
            return _alcove.bits()
        self._state = s = (self._state + 0x9E3779B9) & 0xFFFFFFFF
        s = ((s ^ (s >> 16)) * 0x85EBCA6B) & 0xFFFFFFFF
        s = ((s ^ (s >> 13)) * 0xC2B2AE35) & 0xFFFFFFFF
        return s ^ (s >> 16)

    def getrandbits(self, k):
        n = 0
        for _ in range((k + 31) // 32):
            n = n << 32 | self._bits()
        return n >> (-k % 32)

    def random(self):
        return (self._bits() >> 5) * 67108864.0 / 9007199254740992.0 + (self._bits() >> 6) / 9007199254740992.0

    def _below(self, n):
        if n <= 0:
            raise ValueError("empty range")
        k, m = 0, n
        while m:
            k, m = k + 1, m >> 1
        while True:
            r = self.getrandbits(k)
            if r < n:
                return r

    def uniform(self, a, b):
        return a + (b - a) * self.random()

    def randrange(self, start, stop=None, step=1):
        all = range(start) if stop is None else range(start, stop, step)
        return all[self._below(len(all))]

    def randint(self, a, b):
        return a + self._below(b - a + 1)

    def choice(self, seq):
        if not len(seq):
            raise IndexError("there is nothing to choose from")
        return seq[self._below(len(seq))]

    def choices(self, population, weights=None, k=1):
        if weights is None:
            return [self.choice(population) for _ in range(k)]
        total, sums = 0, []
        for w in weights:
            total += w
            sums.append(total)
        chosen = []
        for _ in range(k):
            r, i = self.random() * total, 0
            while i < len(sums) - 1 and sums[i] <= r:
                i += 1
            chosen.append(population[i])
        return chosen

    def shuffle(self, x):
        for i in range(len(x) - 1, 0, -1):
            j = self._below(i + 1)
            x[i], x[j] = x[j], x[i]

    def sample(self, population, k):
        all = list(population)
        if k > len(all):
            raise ValueError("the sample is larger than the population")
        for i in range(k):
            j = i + self._below(len(all) - i)
            all[i], all[j] = all[j], all[i]
        return all[:k]

    def gauss(self, mu=0.0, sigma=1.0):
        return mu + sigma * math.sqrt(-2 * math.log(1 - self.random())) * math.cos(2 * math.pi * self.random())

    normalvariate = gauss


_one = Random()
seed, getrandbits, random, uniform, randrange, randint = _one.seed, _one.getrandbits, _one.random, _one.uniform, _one.randrange, _one.randint
choice, choices, shuffle, sample, gauss, normalvariate = _one.choice, _one.choices, _one.shuffle, _one.sample, _one.gauss, _one.gauss
