"""Generated from contract/ by tools/client_models.py: what travels."""
