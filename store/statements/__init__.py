"""The SQL of the store, one module for each aggregate: plain functions on a connection, rows in and out.

They open no transaction: whoever calls them owns it. Nothing outside `store` imports them.
"""
