"""The store: tables made from the journals, which can be rebuilt at any time, and the queries on them."""
