"""What a use lets one suppose of a rank or a size."""
