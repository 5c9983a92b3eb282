"""The decision service below HTTP: experiments, decisions and rewards, durable and auditable."""
