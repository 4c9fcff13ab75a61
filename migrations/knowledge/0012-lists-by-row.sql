-- Lists may be long. In a table without row numbers, whoever looked for one read the whole lists that its key was compared with.
CREATE TABLE post_by_row (
  segment INTEGER NOT NULL,
  key TEXT NOT NULL,
  df INTEGER NOT NULL,
  last INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (segment, key)
);
INSERT INTO post_by_row (segment, key, df, last, data) SELECT segment, key, df, last, data FROM post;
DROP TABLE post;
ALTER TABLE post_by_row RENAME TO post;

CREATE TABLE spelling_by_row (gram TEXT PRIMARY KEY, n INTEGER NOT NULL, last INTEGER NOT NULL, data BLOB NOT NULL);
INSERT INTO spelling_by_row (gram, n, last, data) SELECT gram, n, last, data FROM spelling;
DROP TABLE spelling;
ALTER TABLE spelling_by_row RENAME TO spelling;
