"""The places of the window, and the pages in them."""
