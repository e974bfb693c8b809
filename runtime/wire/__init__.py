"""The outer contract as code: what a client may send, what it gets back, and the documents that say so.

`rows`, `requests`, `replies`, `events` and `errors` are the models, `methods` the table of methods; `converter`
turns JSON values into models, `encoding` models into bytes, `jsonrpc_frame` text frames into requests; `documents`
generates `contract/`. Nothing here does I/O (but for writing those documents) or knows a Session's lifecycle.
Rows are those of `store.canonical`, shown in camelCase: there is no second definition of them.
"""
