"""What the project needs before it can run: its environment, the fetched runtime, the server."""
