"""One module per rule: `CODE`, `NAME`, `SEVERITY` and one pure `find`. The docstring is what `runner-sync rule`
prints."""
