"""Turns results into text and files: the document of a case, stories, methods sections, reports, exports."""
