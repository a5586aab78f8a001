"""Many runs on one pair of models at once: what they ask for at the same time is computed in one pass.

    shared = share(pair, slots=16)
    with shared.lend() as mine:  # a pair like any other
        trace = decode(mine, "Explain why the sky is blue.")

Importing this package costs no torch; sharing a pair does.
"""

from specdec.models.batched.sharing import SharedPair, share

__all__ = ["SharedPair", "share"]
