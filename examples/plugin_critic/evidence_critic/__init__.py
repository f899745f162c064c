"""A critic for judgegraph: reviews an evaluator's scores."""

from evidence_critic.critic import EvidenceCritic

__all__ = ["EvidenceCritic"]
