"""Simulated studies whose truth is known."""

from karat.simulate.click_log import PlantedLog, position_log, team_draft_log
from karat.simulate.clicks import position_clicks
from karat.simulate.comments import with_comments
from karat.simulate.context_study import ContextStudy, context_study
from karat.simulate.disagreement_study import DisagreementStudy, disagreement_study
from karat.simulate.judges import draw, fatigue, label_chances
from karat.simulate.judging_study import JudgingStudy, judging_study
from karat.simulate.llm_judge import Faults, LLMStudy, llm_study
from karat.simulate.noisy_judges import bronze_scores
from karat.simulate.preference_study import PreferenceStudy, preference_study
from karat.simulate.preferences import side_by_side
from karat.simulate.two_systems import TwoSystems, two_systems

__all__ = [
    "ContextStudy",
    "DisagreementStudy",
    "Faults",
    "JudgingStudy",
    "LLMStudy",
    "PlantedLog",
    "PreferenceStudy",
    "TwoSystems",
    "bronze_scores",
    "context_study",
    "disagreement_study",
    "draw",
    "fatigue",
    "judging_study",
    "label_chances",
    "llm_study",
    "position_clicks",
    "position_log",
    "preference_study",
    "side_by_side",
    "team_draft_log",
    "two_systems",
    "with_comments",
]
