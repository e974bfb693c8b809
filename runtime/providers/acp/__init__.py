"""Agent Client Protocol, version 1: one adapter for every agent that speaks it, all of it sans-IO."""
