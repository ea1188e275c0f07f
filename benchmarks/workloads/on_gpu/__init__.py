"""Work that is measured on a GPU only."""
