"""`run --bad-batch DIR` keeps the failing step; `nanscope replay DIR` meets it again."""
