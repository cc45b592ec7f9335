"""Answers of chat models → values, by the repaired rules of all labs: one function a kind of answer.

Paper rules stay with the lab whose paper has them. Every function takes any text, never raises, reads in linear time,
and gives None where nothing can be read. `statements.py` is what those that choose one of a few answers have in common;
`core/text/reply.py` takes off what a reply is wrapped in.
"""
