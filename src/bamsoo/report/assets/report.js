// The page of `bamsoo report`: its data is in the file and does not change.

start(first);
