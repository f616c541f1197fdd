"""Code that is not read: what is known of it all the same."""
