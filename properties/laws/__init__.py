"""The laws, one module a subject. Each takes values and asserts; none draws its own."""
