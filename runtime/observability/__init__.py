"""What the daemon tells those who run it: logs now; metrics and traces belong here too."""
