"""An LLM as a judge: what it was asked, how it errs against gold, and what it does when asked again or deceived."""
