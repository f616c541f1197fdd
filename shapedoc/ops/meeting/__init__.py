"""Where operands meet each other, or what a module was built with."""
