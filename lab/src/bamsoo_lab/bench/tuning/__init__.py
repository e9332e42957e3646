"""Real tuning tasks, on which the default is compared with other optimisers."""
