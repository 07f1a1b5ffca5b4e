"""The next token, of logits [vocabulary]."""

import numpy


def greedy(logits):
    return int(numpy.argmax(logits))


class Sampler:
    """Draws among the `top_k` likeliest tokens, of these among the likeliest that make up `top_p` together."""

    def __init__(self, temperature=1.0, top_k=0, top_p=1.0, seed=0):
        if temperature <= 0 or top_k < 0 or not 0 < top_p <= 1:
            raise ValueError("temperature must be above 0, top_k not negative and top_p above 0 and at most 1")
        self.temperature, self.top_k, self.top_p = temperature, top_k, top_p
        self.random = numpy.random.default_rng(seed)

    def __call__(self, logits):
        scores = logits.astype(numpy.float64) / self.temperature
        order = numpy.argsort(-scores, kind="stable")[:self.top_k or None]
        shares = numpy.exp(scores[order] - scores[order[0]])
        shares /= shares.sum()
        before = numpy.cumsum(shares) - shares  # share of all that are likelier
        order, shares = order[before < self.top_p], shares[before < self.top_p]
        return int(self.random.choice(order, p=shares / shares.sum()))
