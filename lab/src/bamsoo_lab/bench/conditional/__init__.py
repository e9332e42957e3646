"""The tasks of the suite `conditional`, in which options have parameters of their own."""
