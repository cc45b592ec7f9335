"""What makes words and files out of results: the document of a case, stories, methods sections, reports, exports."""
