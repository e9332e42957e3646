"""The tasks of the suite `conditional`: options that bring along parameters of their own."""
