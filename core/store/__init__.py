"""The store: tables made from the journals, which can be made again at any time, and the questions put to them."""
