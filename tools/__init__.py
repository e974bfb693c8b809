"""Scripts for those who work on Greenroom: linters, generators and release checks. They are never shipped."""
