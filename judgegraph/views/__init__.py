"""How results are drawn: as HTML in a notebook, as text on a terminal. Each file registers the forms that it draws."""
