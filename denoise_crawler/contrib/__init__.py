"""Optional components, each for another package or a special need; nothing else of the package imports them."""
