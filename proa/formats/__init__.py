"""Model files of every kind: read into a Graph, written from one. One folder for each origin."""
