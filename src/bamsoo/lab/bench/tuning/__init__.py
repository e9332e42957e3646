"""Real tuning tasks, and how the default and other optimisers do on them."""
