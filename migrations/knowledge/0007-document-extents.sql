-- Documents and their passages are counted by this index: the rows themselves hold up to 16 kB of metadata each.
CREATE INDEX document_extent ON document (first, last);
