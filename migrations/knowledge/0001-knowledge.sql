-- One file an agent: its documents, their passages, and the index over them.

CREATE TABLE document (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  -- As shown. `title_given` is 0 where it is to be taken from the content.
  title TEXT NOT NULL,
  title_given INTEGER NOT NULL,
  source TEXT NOT NULL,
  media_type TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  -- SHA-256 of the title given and the bytes: the same pair is the same document.
  hash BLOB NOT NULL,
  metadata TEXT NOT NULL,
  status TEXT NOT NULL,
  progress REAL NOT NULL,
  error_code TEXT,
  error_message TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  -- What is still to be done: 'read' its content, or index it anew under a changed title ('retitle').
  work TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  -- Goes up with every new version or title: what was read of an older one is not for this document any more.
  revision INTEGER NOT NULL DEFAULT 0,
  -- Its passages are those from `first` to `last`, indexed under this title. A replacement is a new generation.
  first INTEGER NOT NULL DEFAULT 0,
  last INTEGER NOT NULL DEFAULT -1,
  indexed_title TEXT NOT NULL DEFAULT '',
  generation INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX document_hash ON document (hash);
CREATE INDEX document_status ON document (status);
CREATE INDEX document_work ON document (number) WHERE work IS NOT NULL;

-- Content that waits to be read.
CREATE TABLE content (document INTEGER PRIMARY KEY, content BLOB NOT NULL);

-- Ids ascend and are never used again. `forward`: 16-bit hashes of the stems, title first, then 0, then the text.
CREATE TABLE passage (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL,
  position INTEGER NOT NULL,
  heading TEXT NOT NULL,
  page INTEGER,
  text TEXT NOT NULL,
  forward BLOB NOT NULL
);

-- An immutable part of the index over `n` passages, whose ids lie apart from those of every other segment.
-- `ids`: the passages by local number, 4 bytes each, ascending. The lengths are sums over them, by stream.
CREATE TABLE segment (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  first INTEGER NOT NULL,
  n INTEGER NOT NULL,
  ids BLOB NOT NULL,
  exact INTEGER NOT NULL,
  stems INTEGER NOT NULL,
  title INTEGER NOT NULL,
  unspaced INTEGER NOT NULL,
  grams INTEGER NOT NULL
);

-- One list: the passages of a segment that hold a term. `key` is a letter for the stream (e exact, s stems, t stems of
-- the title, u pieces of unspaced scripts) and the term. `data`: df impacts of one byte, then df gaps as varints.
CREATE TABLE post (
  segment INTEGER NOT NULL,
  key TEXT NOT NULL,
  df INTEGER NOT NULL,
  last INTEGER NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (segment, key)
) WITHOUT ROWID;

-- Passages out of sight: deleted, replaced, or not yet published (`staged`). Those below `erased` are gone but for their
-- numbers in the segments; the others are still to be erased, for which the title is needed under which they were indexed.
CREATE TABLE dead (
  first INTEGER PRIMARY KEY,
  last INTEGER NOT NULL,
  erased INTEGER NOT NULL,
  staged INTEGER NOT NULL DEFAULT 0,
  title TEXT NOT NULL
);

-- The vocabulary of exact words: in how many passages each stands, and the words that hold a 3-gram (varint gaps of numbers).
CREATE TABLE word (number INTEGER PRIMARY KEY AUTOINCREMENT, word TEXT NOT NULL UNIQUE, df INTEGER NOT NULL);
CREATE TABLE spelling (gram TEXT PRIMARY KEY, n INTEGER NOT NULL, last INTEGER NOT NULL, data BLOB NOT NULL) WITHOUT ROWID;
-- In how many passages a 4-gram stands, counted once for each word of the passage that holds it.
CREATE TABLE gram (gram TEXT PRIMARY KEY, n INTEGER NOT NULL) WITHOUT ROWID;
-- Passages by language.
CREATE TABLE language (code TEXT PRIMARY KEY, passages INTEGER NOT NULL) WITHOUT ROWID;

-- Goes up with every change that a question could notice.
CREATE TABLE manifest (version INTEGER NOT NULL);
INSERT INTO manifest VALUES (0);
