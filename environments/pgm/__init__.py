"""Hidden categorical causal worlds: sampled evidence, typed answers (ACED-Bench)."""
