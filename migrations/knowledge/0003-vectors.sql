-- Vectors of passages, for search by meaning: one space for each embedding model, of which one is searched. A space for another model is
-- built beside it and takes its place when it is whole.
CREATE TABLE vector_space (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  model TEXT NOT NULL UNIQUE,
  -- 0 until the first vectors came.
  dimensions INTEGER NOT NULL DEFAULT 0,
  is_live INTEGER NOT NULL DEFAULT 0,
  -- Passages up to this id have their vectors, or need none.
  upto INTEGER NOT NULL DEFAULT 0,
  -- What the signs are told against, as 32-bit floats; null while there are too few vectors to tell.
  mean BLOB
);
-- `key`: number of the space x 2^40 + id of the passage. `code`: a 32-bit float and as many bytes as there are dimensions, padded to a
-- multiple of 128; the vector is their product.
CREATE TABLE vector (key INTEGER PRIMARY KEY, code BLOB NOT NULL);
-- Signs of up to 1,024 vectors, one bit a dimension, in order of their ids (4 bytes each). `version` goes up with every change of one.
CREATE TABLE vector_block (
  space INTEGER NOT NULL,
  number INTEGER NOT NULL,
  version INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  ids BLOB NOT NULL,
  bits BLOB NOT NULL,
  PRIMARY KEY (space, number)
);
