"""The verb `fix`: the search for a patch that holds, its telling and its writing."""
