-- A page may have half a megabyte of links. In a table without row numbers, whoever counted the pages of a site read them all.
CREATE TABLE page_by_row (
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
);
INSERT INTO page_by_row (site, url, run, depth, place, state, links) SELECT site, url, run, depth, place, state, links FROM page;
DROP TABLE page;
ALTER TABLE page_by_row RENAME TO page;
CREATE INDEX page_waiting ON page (site, depth, place) WHERE state = 'waiting';
CREATE INDEX page_url ON page (url, site);
-- Counts the pages of a run, and finds its first.
CREATE INDEX page_run ON page (site, run, state, depth);
