"""Records of a page: the posts of a thread, the items of a list, the named values of a product."""
