"""A scripted Codex app-server without I/O, for simulated runs and, as a child process, for tests of real daemons."""
