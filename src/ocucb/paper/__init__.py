"""The paper, executed: every theorem, lemma and claim of it, checked by machine."""
