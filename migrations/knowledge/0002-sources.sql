-- Documents that come from the web, one by one or as parts of a site that is kept in step.

-- The address that is the document's identity, where it has one, and the site it came with.
ALTER TABLE document ADD COLUMN url TEXT;
ALTER TABLE document ADD COLUMN site INTEGER;
-- SHA-256 of the bytes that were read last, and what their server said of them: what has not changed is not read again.
ALTER TABLE document ADD COLUMN content_hash BLOB;
ALTER TABLE document ADD COLUMN etag TEXT;
ALTER TABLE document ADD COLUMN last_modified TEXT;
UPDATE document SET url = json_extract(source, '$.url') WHERE json_extract(source, '$.type') = 'url';
CREATE UNIQUE INDEX document_url ON document (url) WHERE url IS NOT NULL;
CREATE INDEX document_site ON document (site, number) WHERE site IS NOT NULL;
-- `work` may be 'fetch', too: what waits for the network must not be looked through by what reads.
DROP INDEX document_work;
CREATE INDEX document_fetch ON document (number) WHERE work = 'fetch';
CREATE INDEX document_index ON document (number) WHERE work IS NOT NULL AND work <> 'fetch';

CREATE TABLE site (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  -- 'url', 'sitemap' or 'site'
  type TEXT NOT NULL,
  url TEXT NOT NULL,
  max_pages INTEGER NOT NULL,
  max_depth INTEGER NOT NULL,
  -- Null: only when asked to.
  refresh_hours REAL,
  status TEXT NOT NULL,
  error_code TEXT,
  error_message TEXT,
  -- Counts the times it was brought up to date; `run_open` while one is under way.
  run INTEGER NOT NULL DEFAULT 0,
  run_open INTEGER NOT NULL DEFAULT 0,
  synced_at INTEGER,
  -- When it is next due; null: not by itself.
  due_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE INDEX site_open ON site (number) WHERE run_open = 1;

-- The pages of a site: found in which run, how deep, and what became of each in it: 'waiting', 'taken', 'same', 'left' or 'failed'.
CREATE TABLE page (
  site INTEGER NOT NULL,
  url TEXT NOT NULL,
  run INTEGER NOT NULL,
  depth INTEGER NOT NULL,
  -- Order of finding, within the run.
  place INTEGER NOT NULL,
  state TEXT NOT NULL,
  -- Where it leads within the site, as JSON: a page that has not changed is not sent again, and leads where it led.
  links TEXT NOT NULL DEFAULT '[]',
  PRIMARY KEY (site, url)
) WITHOUT ROWID;
CREATE INDEX page_waiting ON page (site, depth, place) WHERE state = 'waiting';
