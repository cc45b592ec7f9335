"""What the lab's page draws by hand."""
