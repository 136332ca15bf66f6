"""The laws of discovery as plain functions that assert, and the strategies to try them with; hold your own host to them."""
