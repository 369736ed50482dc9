"""Ask a language model: prompts, dialects, the store of its answers, and what they say."""
