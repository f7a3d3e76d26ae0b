"""The web page and the HTTP API: what `dragoman serve` runs."""
