-- A large content is written in pieces, so that documents of other agents do not wait for it.
CREATE TABLE large_content (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  -- NULL while it is being written, and again when it is to be deleted.
  document INTEGER,
  -- Since when it is being written, in milliseconds since 1970; NULL when it no longer is.
  since INTEGER
);
CREATE TABLE content_piece (content INTEGER NOT NULL, number INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (content, number));
