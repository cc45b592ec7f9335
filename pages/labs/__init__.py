"""One room a lab: what its page draws by hand. A lab without a room is drawn from its declaration."""
