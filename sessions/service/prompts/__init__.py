"""Prompts on their way to an agent: what a front end can do with them, and the evidence that one arrived."""
