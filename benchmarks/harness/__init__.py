"""What the commands share: environments of the peers, worker processes, measuring, judging, reporting."""
