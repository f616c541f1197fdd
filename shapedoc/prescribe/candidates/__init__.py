"""Candidates for a fix, one kind a file: edits that another analysis has to prove before they are offered."""
