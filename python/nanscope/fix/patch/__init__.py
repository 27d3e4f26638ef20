"""From a finding and its source to candidates: edits of the text."""
