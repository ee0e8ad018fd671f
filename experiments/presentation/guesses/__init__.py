"""Ten guesses in three minutes: the questions, and a round of them."""
