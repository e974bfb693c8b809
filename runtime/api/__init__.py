"""The API edge: one port, its clients, and what they may say.

`listener` binds and accepts, `front` reads HTTP heads and routes, a transport (`wsproto_transport` or
`trio_websocket_transport`, behind `transport`) carries one client each, and the dispatcher serves what arrives.
Every byte to a client leaves through its `outbound_queue`.
"""
