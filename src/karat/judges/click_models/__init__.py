"""What clicks say of documents once it is known where they stood: rates, COEC, and a position-based model."""

from karat.judges.click_models.debiased import ClickLabels as ClickLabels
from karat.judges.click_models.debiased import click_labels_by_rank as click_labels_by_rank
