"""LLM judges: prompts, providers, stored answers, budget and audit."""
