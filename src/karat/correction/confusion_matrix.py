"""The confusion matrix as numbers: how a judge labels documents of each true grade, and what turning it round gives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from karat.advice import advise
from karat.errors import Undefined
from karat.records.table import count
from karat.stats.arrays import Floats, Ints

#: With fewer gold labels of a grade, how the judge labels it cannot be told.
FEWEST_GOLD = 2
#: More gains than these are not grades: expected gains, say.
MOST_LEVELS = 20
#: Errors grow by up to this factor where the matrix is turned round; above it a note says so.
HIGH_CONDITION = 10.0


@dataclass(frozen=True, eq=False)
class ConfusionMatrix:
    """How a judge labels documents of each true grade: `shares[k, j]` = P(label j | true grade k).

    `gains` is what each grade is worth. `sizes` is for how many documents the gold labels of each grade stand,
    `counts` how many gold labels there are, and `effective` as how many independent ones they count; infinite where
    the shares are known.
    """

    gains: Floats
    shares: Floats
    sizes: Floats
    counts: Floats
    effective: Floats

    @classmethod
    def of(cls, gains: Floats, truth: Ints, label: Ints, weight: Floats) -> ConfusionMatrix:
        """The matrix of documents with both labels, by the places of these among `gains`, each with its weight.

        >>> truth, label = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 1])
        >>> ConfusionMatrix.of(np.array([0.0, 1.0]), truth, label, np.ones(4)).shares.tolist()
        [[0.5, 0.5], [0.0, 1.0]]
        """
        if len(gains) > MOST_LEVELS:
            raise Undefined(
                f"the labels promise {len(gains)} different gains: inversion needs grades, not expected ones"
            )
        size = len(gains)
        cells = np.bincount(truth * size + label, weight, size * size).reshape(size, size)
        counts = np.bincount(truth, minlength=size)
        missing = np.flatnonzero(counts < FEWEST_GOLD)
        if len(missing):
            raise Undefined(
                f"{count(int(counts[missing[0]]), 'gold label')} on documents worth {gains[missing[0]]:g}: how the "
                f"judge labels them cannot be told from fewer than {FEWEST_GOLD}"
            )
        sizes = cells.sum(axis=1)
        effective = sizes**2 / np.bincount(truth, weight**2, size)
        return cls(gains, cells / sizes[:, None], sizes, counts.astype(np.float64), effective)

    @property
    def condition(self) -> float:
        """By how much errors of the shares may grow when the matrix is turned round."""
        return float(np.linalg.cond(self.shares))

    def row_covariance(self, k: int) -> Floats:
        """The covariance of the shares of one true grade, were its gold labels independent.

        Where the judge gave all of them the same label, as if one of each had been added: 20 right of 20 does not mean
        never wrong.
        """
        share, n = self.shares[k], float(self.effective[k])
        if np.isinf(n):
            return np.zeros((len(share), len(share)))
        if share.max() > 1 - 1e-12:
            n += len(share)
            share = (share * (n - len(share)) + 1) / n
        return np.asarray((np.diag(share) - np.outer(share, share)) / n, dtype=np.float64)

    def check(self, whose: str = "the labels") -> None:
        """Refuse a matrix that cannot be told from one without an inverse, and labels the wrong way round."""
        unused = np.flatnonzero(self.shares.sum(axis=0) < 1e-12)
        if len(unused):
            raise Undefined(
                f"{whose}: documents worth {self.gains[unused[0]]:g} are among the gold labels, and no label with both "
                "says so: how often they occur cannot be told; map grades together"
                + advise(" (karat convert --map)", "")
            )
        left, values, right = np.linalg.svd(self.shares)
        least = float(values[-1])
        # The least singular value is u' P v, and the rows of P are shares of independent samples.
        v = right[-1]
        spread = (self.shares @ v**2 - (self.shares @ v) ** 2) / self.effective
        error = float(np.sqrt((left[:, -1] ** 2 * np.maximum(spread, 0.0)).sum()))
        if least < 1e-9 or least < 2 * error:
            raise Undefined(
                f"{whose} hardly depend on the gold grade, for all these gold labels show (least singular value "
                f"{least:.3f}, standard error {error:.3f}; condition number {self.condition:.3g}): nothing to turn "
                "round; take more gold labels, or the prediction-powered method, which needs no such matrix"
            )
        best, worst = int(np.argmax(self.gains)), int(np.argmin(self.gains))
        seen = self.shares @ self.gains
        if seen[best] < seen[worst]:
            raise Undefined(
                f"{whose} answer the wrong way round: documents worth {self.gains[best]:g} get labels worth "
                f"{seen[best]:.2f}, those worth {self.gains[worst]:g} {seen[worst]:.2f}; look whether they are swapped"
            )

    def worth(self) -> Floats:
        """What each label is worth on average: h with shares x h = gains."""
        return np.asarray(np.linalg.solve(self.shares, self.gains), dtype=np.float64)

    def true_shares(self, seen: Floats) -> Floats:
        """The true grades behind these shares of labels (S2's equation 17); they may come out below 0 or above 1."""
        return np.asarray(np.linalg.solve(self.shares.T, seen), dtype=np.float64)

    def constrained(self, seen: Floats) -> Floats:
        """The gold shares nearest to explaining the shares of labels seen that are all between 0 and 1.

        >>> known = np.full(2, np.inf)
        >>> matrix = ConfusionMatrix(np.array([0.0, 1.0]), np.array([[0.8, 0.2], [0.1, 0.9]]), known, known, known)
        >>> matrix.constrained(np.array([0.05, 0.95])).round(6).tolist()
        [0.0, 1.0]
        """
        from scipy.optimize import nnls

        # A heavy last row holds the sum at 1.
        heavy = 1e6
        table = np.vstack([self.shares.T, np.full(len(self.gains), heavy)])
        shares, _ = nnls(table, np.append(seen, heavy))
        return np.asarray(shares / shares.sum(), dtype=np.float64)


def matrix_notes(matrix: ConfusionMatrix, whose: str = "") -> list[str]:
    """What a reader of scores corrected with this matrix should know of it."""
    if matrix.condition <= HIGH_CONDITION:
        return []
    return [
        f"{whose}the condition number is {matrix.condition:.3g}: small errors of the confusion matrix are large errors "
        "of the scores"
    ]
