"""The page: experiments as a person sees them, rendered by the server, live with a little script."""
