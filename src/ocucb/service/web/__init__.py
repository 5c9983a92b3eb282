"""The service over HTTP: the API, its documentation, and the page."""
