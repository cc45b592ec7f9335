"""What several tests use: servers, scripted models, small labs, and where data that ships lies."""
