"""Small programs that look after the repository. proa itself never imports them."""
