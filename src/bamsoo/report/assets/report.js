// The page of `bamsoo report`: its data is in the file, and stays as it is.

start(first);
