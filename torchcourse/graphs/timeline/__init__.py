"""The timeline of a caching allocator: its history as segments, blocks and steps, and a picture of them."""
