"""The updated parsers of all labs, which turn chat models' answers into values: one function per kind of answer.

An original parser is in the lab whose paper it comes from. Every function accepts any text, never raises, runs in
linear time, and returns None if nothing can be parsed. `statements.py` is shared by the parsers that choose one of a
few answers; `core/text/reply.py` unwraps a reply.
"""
