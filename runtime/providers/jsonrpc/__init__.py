"""JSON-RPC 2.0 over newline-delimited frames: framing, JSON text and the peer, all of it sans-IO."""
