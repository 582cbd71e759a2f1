"""Gold sets, measures of a text against its gold text, and the evaluation of a method by them."""
