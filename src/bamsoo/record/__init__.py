"""What happened: the events, the objectives, and the ledger of trials that the events add up to."""
