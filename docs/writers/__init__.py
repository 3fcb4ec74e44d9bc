"""One module for each generated page: it reads the code and gives the page's whole text."""
